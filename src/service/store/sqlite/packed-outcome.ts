import type { WriteOutcome, WriteResultJson } from "../contract.js";
import type { KeyIndexPending } from "../key-index-builder.js";
import { parseWrittenFeatures, serializeWrittenFeatures } from "../write-result-json.js";

type DoneOutcome = Extract<WriteOutcome, { kind: "done" }>;

/** An outcome as it comes back from the thread that writes: what succeeded is one text, as it will be answered. */
export type PackedOutcome =
  | Exclude<WriteOutcome, DoneOutcome>
  | (Omit<DoneOutcome, "success" | "text"> & PackedSuccess);

interface PackedSuccess {
  readonly indexes: Uint32Array<ArrayBuffer>;
  readonly text: WriteResultJson;
}

export function packOutcome(outcome: WriteOutcome | KeyIndexPending): PackedOutcome | KeyIndexPending {
  if (outcome.kind !== "done") return outcome;
  const { success, ...rest } = outcome;
  const indexes = new Uint32Array(success.length);
  for (const [place, { index }] of success.entries()) indexes[place] = index;
  return { ...rest, indexes, text: serializeWrittenFeatures(success) };
}

export function unpackOutcome(packed: PackedOutcome): WriteOutcome {
  if (packed.kind !== "done") return packed;
  const { indexes, ...rest } = packed;
  return {
    ...rest,
    // An answer is made without it.
    get success() {
      return parseWrittenFeatures(rest.text, indexes);
    },
  };
}
