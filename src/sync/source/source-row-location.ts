/** Where a feature of the source stood, in words: worked out only for those that a message names. */
import { closeSync, openSync, readSync } from "node:fs";
import type { TextLocation } from "../../remote/snapshot/feature-side.js";
import type { SyncRequest } from "../request.js";
import type { ReadSource } from "./read-source.js";
import { listFilterOptions } from "./source-filters.js";

const newlineByte = 10;

/** Lines of a file that end before a byte. */
function countLinesBefore(path: string, byte: number): number {
  const buffer = Buffer.allocUnsafe(1 << 20);
  const handle = openSync(path, "r");
  try {
    let count = 0;
    for (let at = 0; at < byte; ) {
      const read = readSync(handle, buffer, 0, Math.min(buffer.length, byte - at), at);
      if (read === 0) break;
      for (let k = buffer.indexOf(newlineByte); k >= 0 && k < read; k = buffer.indexOf(newlineByte, k + 1)) count++;
      at += read;
    }
    return count;
  } finally {
    closeSync(handle);
  }
}

/** Records that were rejected, by the layer that they are of. */
async function readRejectedRecords({ rejects }: ReadSource): Promise<ReadonlyMap<string, number[]>> {
  const records = new Map<string, number[]>();
  for await (const { reject } of rejects.readFeatures()) {
    const { layer, record, kept } = reject;
    if (layer === undefined || record === undefined || kept) continue;
    const known = records.get(layer);
    if (known) known.push(record);
    else records.set(layer, [record]);
  }
  for (const list of records.values()) list.sort((a, b) => a - b);
  return records;
}

/**
 * Names features as "record 12", which counts from 1 as the source does; as "layer roads, record 12" where there are
 * several layers; and as "feature 12 of those taken" where filters or several inputs leave no way to know the record.
 */
export async function describeSourceRows(
  request: SyncRequest,
  source: ReadSource,
): Promise<(row: TextLocation) => string> {
  const exact = source.inputs.length === 1 && listFilterOptions(request.source).length === 0;
  const rejected = exact ? await readRejectedRecords(source) : new Map<string, number[]>();
  return ({ file, start }) => {
    const { path, layer } = source.spooledFiles[file]!;
    const ordinal = countLinesBefore(path, start) + 1;
    if (!exact) return `feature ${ordinal} of those taken`;
    let record = ordinal;
    for (const other of rejected.get(layer) ?? []) if (other <= record) record++;
    return source.spooledFiles.length > 1 ? `layer ${layer}, record ${record}` : `record ${record}`;
  };
}
