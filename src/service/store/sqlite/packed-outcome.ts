import type { WriteOutcome, WrittenText } from "../contract.js";
import type { ReadingKeys } from "../reading-keys.js";
import { writtenIn, writtenText } from "../written-text.js";

type Done = Extract<WriteOutcome, { kind: "done" }>;

/** An outcome as it comes back from the thread that writes: what succeeded is one text, as it will be answered. */
export type PackedOutcome = Exclude<WriteOutcome, Done> | (Omit<Done, "success" | "text"> & PackedSuccess);

interface PackedSuccess {
  readonly indexes: Uint32Array<ArrayBuffer>;
  readonly text: WrittenText;
}

export function packOutcome(outcome: WriteOutcome | ReadingKeys): PackedOutcome | ReadingKeys {
  if (outcome.kind !== "done") return outcome;
  const { success, ...rest } = outcome;
  const indexes = new Uint32Array(success.length);
  for (const [place, { index }] of success.entries()) indexes[place] = index;
  return { ...rest, indexes, text: writtenText(success) };
}

export function unpackOutcome(packed: PackedOutcome): WriteOutcome {
  if (packed.kind !== "done") return packed;
  const { indexes, ...rest } = packed;
  return {
    ...rest,
    // An answer is made without it.
    get success() {
      return writtenIn(rest.text, indexes);
    },
  };
}
