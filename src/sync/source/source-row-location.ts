/** Describes the location of source features; computed only for those that a message lists. */
import { closeSync, openSync, readSync } from "node:fs";
import type { TextLocation } from "../../compare/feature-side.js";
import type { SyncRequest } from "../request.js";
import type { ReadSource } from "./read-source.js";
import { listFilterOptions } from "./source-filters.js";

const newlineByte = 10;

/** Counts the lines of a file that end before a byte. */
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

/** Rejected records by layer. */
async function readRejectedRecords({ rejects }: ReadSource): Promise<ReadonlyMap<string, number[]>> {
  const records = new Map<string, number[]>();
  for await (const { reject } of rejects.readFeatures()) {
    const { layer, record, kept } = reject;
    if (layer === undefined || record === undefined || kept) continue;
    const existing = records.get(layer);
    if (existing) existing.push(record);
    else records.set(layer, [record]);
  }
  for (const list of records.values()) list.sort((a, b) => a - b);
  return records;
}

/**
 * Describes features as "record 12", counted from 1 as in the source; as "layer roads, record 12" if there are several
 * layers; and as "feature 12 of the selected features" if filters or several inputs make the record unknown.
 */
export async function describeSourceRows(
  request: SyncRequest,
  source: ReadSource,
): Promise<(row: TextLocation) => string> {
  const isExact = source.inputs.length === 1 && listFilterOptions(request.source).length === 0;
  const rejected = isExact ? await readRejectedRecords(source) : new Map<string, number[]>();
  return ({ file, start }) => {
    const { path, layer } = source.spooledFiles[file]!;
    const ordinal = countLinesBefore(path, start) + 1;
    if (!isExact) return `feature ${ordinal} of the selected features`;
    let record = ordinal;
    for (const other of rejected.get(layer) ?? []) if (other <= record) record++;
    return source.spooledFiles.length > 1 ? `layer ${layer}, record ${record}` : `record ${record}`;
  };
}
