import { arraysOf, transferableBuffers } from "../../model/batch.js";
import type { PieceResult } from "./task.js";

/**
 * The buffers of a result that nothing needs once its chunks are written and its digests, or batches, are compared. Batches
 * that a verification keeps until the output is complete are not among them.
 */
export function releasableBuffers({ chunks, proofs }: Pick<PieceResult, "chunks" | "proofs">): ArrayBuffer[] {
  const kept = new Set<ArrayBufferLike>();
  for (const { proof } of chunks) if (proof?.batch) for (const { buffer } of arraysOf(proof.batch)) kept.add(buffer);
  const buffers = transferableBuffers([chunks.map(({ chunk }) => chunk), proofs]);
  return kept.size === 0 ? buffers : buffers.filter((buffer) => !kept.has(buffer));
}
