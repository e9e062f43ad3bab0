import type { WriteOutcome, WriteResultJson } from "../contract.js";
import type { KeyIndexPending } from "../key-index-builder.js";
import { parseWrittenFeatures, serializeWrittenFeatures } from "../write-result-json.js";

type DoneOutcome = Extract<WriteOutcome, { kind: "done" }>;

/** A write outcome as the writer thread returns it: successes are serialized as in the response. */
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
    // Parsed only on demand; responses do not need it.
    get success() {
      return parseWrittenFeatures(rest.text, indexes);
    },
  };
}
