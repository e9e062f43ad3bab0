import type { WriteOutcome, Written } from "../contract.js";
import type { ReadingKeys } from "../reading-keys.js";

type Done = Extract<WriteOutcome, { kind: "done" }>;

/** An outcome as it comes back from the thread that writes: what succeeded by columns, as requests go there. */
export type PackedOutcome = Exclude<WriteOutcome, Done> | (Omit<Done, "success"> & PackedSuccess);

interface PackedSuccess {
  readonly indexes: Uint32Array<ArrayBuffer>;
  /** With a line break between two; those of features that were created, updated and deleted begin with a letter for it. */
  readonly ids: string;
}

const letters: Readonly<Record<Written["what"], string>> = { created: "c", updated: "u", deleted: "d" };
const words = new Map(Object.entries(letters).map(([what, letter]) => [letter, what as Written["what"]]));

export function packOutcome(outcome: WriteOutcome | ReadingKeys): PackedOutcome | ReadingKeys {
  if (outcome.kind !== "done") return outcome;
  const { success, ...rest } = outcome;
  return {
    ...rest,
    indexes: Uint32Array.from(success, ({ index }) => index),
    ids: success.map(({ id, what }) => letters[what] + id).join("\n"),
  };
}

export function unpackOutcome(packed: PackedOutcome): WriteOutcome {
  if (packed.kind !== "done") return packed;
  const { indexes, ids, ...rest } = packed;
  const told = ids.split("\n");
  const success = Array.from(indexes, (index, i): Written => {
    const one = told[i]!;
    return { index, id: one.slice(1), what: words.get(one[0]!)! };
  });
  return { ...rest, success };
}
