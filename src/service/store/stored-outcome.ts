import type { WrittenFeature } from "./contract.js";
import type { DoneOutcome } from "./write-transaction.js";

/**
 * An outcome whose features all succeeded in the same way: ids of 16 bytes each in base64, a fifth of the full JSON.
 */
interface UniformOutcome extends Omit<DoneOutcome, "success"> {
  readonly what: WrittenFeature["what"];
  readonly ids: string;
}

/** Bytes of a UUID (RFC 9562, 4), and the lengths of its parts as text. */
const uuidBytes = 16;
const uuidPartLengths = [8, 4, 4, 4, 12] as const;
const uuidListPattern = new RegExp(`^(?:${uuidPartLengths.map((length) => `[0-9a-f]{${length}}`).join("-")})+$`);

/** Serializes an outcome for storage (Idempotency-Key). */
export function serializeOutcome(outcome: DoneOutcome): string {
  const { success, ...rest } = outcome;
  const what = success[0]?.what;
  const ids = success.map(({ id }) => id).join("");
  const isUniform = success.every((one, i) => one.what === what && one.index === i);
  if (what === undefined || !isUniform || !uuidListPattern.test(ids)) return JSON.stringify(outcome);
  const bytes = Buffer.from(ids.replaceAll("-", ""), "hex");
  const uniform: UniformOutcome = { ...rest, what, ids: bytes.toString("base64") };
  return JSON.stringify(uniform);
}

export function parseOutcome(text: string): DoneOutcome {
  const kept = JSON.parse(text) as DoneOutcome | UniformOutcome;
  if ("success" in kept) return kept;
  const { what, ids, ...rest } = kept;
  const bytes = Buffer.from(ids, "base64");
  const success = Array.from({ length: bytes.length / uuidBytes }, (_, index): WrittenFeature => {
    const hex = bytes.toString("hex", index * uuidBytes, (index + 1) * uuidBytes);
    return { index, id: formatUuid(hex), what };
  });
  return { ...rest, success };
}

function formatUuid(hex: string): string {
  let from = 0;
  return uuidPartLengths
    .map((length) => {
      from += length;
      return hex.slice(from - length, from);
    })
    .join("-");
}
