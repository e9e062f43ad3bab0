/** Files of a MapInfo dataset that are missing or cut off, which GDAL reads without a word. */
import { extname } from "node:path";
import type { Source } from "../../../src/plugin/index.js";

const chunkBytes = 1 << 20;
const lineFeed = 10;
const doubleQuote = 34;

/** What the dataset lacks since one of its files is missing; null if nothing. */
export function missingMapInfoFile(source: Source, hasFields: boolean): string | null {
  const extension = extname(source.path).toLowerCase();
  if (extension === ".mif" && hasFields && !source.findSibling("mid"))
    return `${source.name} has no .mid beside it, so all values are null`;
  // A table without geometry has neither of these.
  if (extension === ".tab" && source.findSibling("id") && !source.findSibling("map"))
    return `${source.name} has no .map beside it, so no feature has a geometry`;
  return null;
}

/** Rows of the .mid beside a .mif, one for each of its features; null if there is none. */
export async function countMidRows(source: Source): Promise<number | null> {
  const mid = extname(source.path).toLowerCase() === ".mif" ? source.findSibling("mid") : null;
  if (!mid) return null;
  await using file = await mid.open();
  let rows = 0;
  let isQuoted = false;
  let last = lineFeed;
  for (let position = 0; position < file.size; position += chunkBytes) {
    for (const byte of await file.read(position, chunkBytes)) {
      if (byte === doubleQuote) isQuoted = !isQuoted;
      else if (byte === lineFeed && !isQuoted) rows++;
      last = byte;
    }
  }
  return last === lineFeed ? rows : rows + 1;
}
