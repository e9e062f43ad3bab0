import type { Written } from "./contract.js";
import type { DoneOutcome } from "./transaction.js";

/** All succeeded in the same way: their ids, 16 bytes each in base64. A fifth of what they take as they are. */
interface Uniform extends Omit<DoneOutcome, "success"> {
  readonly what: Written["what"];
  readonly ids: string;
}

/** Bytes of a UUID (RFC 9562, 4), and the lengths of its parts in the text. */
const bytesOfUuid = 16;
const parts = [8, 4, 4, 4, 12] as const;
const uuids = new RegExp(`^(?:${parts.map((length) => `[0-9a-f]{${length}}`).join("-")})+$`);

/** The text that a store keeps of an outcome (Idempotency-Key). */
export function keptText(outcome: DoneOutcome): string {
  const { success, ...rest } = outcome;
  const what = success[0]?.what;
  const ids = success.map(({ id }) => id).join("");
  const isUniform = success.every((one, i) => one.what === what && one.index === i);
  if (what === undefined || !isUniform || !uuids.test(ids)) return JSON.stringify(outcome);
  const bytes = Buffer.from(ids.replaceAll("-", ""), "hex");
  const uniform: Uniform = { ...rest, what, ids: bytes.toString("base64") };
  return JSON.stringify(uniform);
}

export function outcomeIn(text: string): DoneOutcome {
  const kept = JSON.parse(text) as DoneOutcome | Uniform;
  if ("success" in kept) return kept;
  const { what, ids, ...rest } = kept;
  const bytes = Buffer.from(ids, "base64");
  const success = Array.from({ length: bytes.length / bytesOfUuid }, (_, index): Written => {
    const hex = bytes.toString("hex", index * bytesOfUuid, (index + 1) * bytesOfUuid);
    return { index, id: hyphenated(hex), what };
  });
  return { ...rest, success };
}

function hyphenated(hex: string): string {
  let from = 0;
  return parts
    .map((length) => {
      from += length;
      return hex.slice(from - length, from);
    })
    .join("-");
}
