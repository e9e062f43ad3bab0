import type { WriteOutcome, Written } from "../contract.js";
import type { ReadingKeys } from "../reading-keys.js";

type Done = Extract<WriteOutcome, { kind: "done" }>;

/** An outcome as it comes back from the thread that writes: what succeeded by columns, as requests go there. */
export type PackedOutcome = Exclude<WriteOutcome, Done> | (Omit<Done, "success"> & PackedSuccess);

interface PackedSuccess {
  readonly indexes: readonly number[];
  readonly ids: readonly string[];
  readonly whats: readonly Written["what"][];
}

export function packOutcome(outcome: WriteOutcome | ReadingKeys): PackedOutcome | ReadingKeys {
  if (outcome.kind !== "done") return outcome;
  const { success, ...rest } = outcome;
  return {
    ...rest,
    indexes: success.map(({ index }) => index),
    ids: success.map(({ id }) => id),
    whats: success.map(({ what }) => what),
  };
}

export function unpackOutcome(packed: PackedOutcome): WriteOutcome {
  if (packed.kind !== "done") return packed;
  const { indexes, ids, whats, ...rest } = packed;
  return { ...rest, success: indexes.map((index, i) => ({ index, id: ids[i]!, what: whats[i]! })) };
}
