import { isUtf8 } from "node:buffer";
import { type Confidence, defineFormat } from "../../src/plugin/format.js";
import { guessDelimiter } from "../shared/table/header/dialect.js";
import { detectEncoding } from "../shared/table/records/text-blocks.js";
import { writerCapabilities } from "./capabilities.js";
import { impliedOptions, readOptions, writeOptions } from "./options.js";

/** Decodes a head, which may end inside a character; null if it is binary. */
function decodeHead(head: Buffer): Buffer | null {
  const { name, mark } = detectEncoding(head.subarray(0, 4096), undefined);
  if (name === "utf-8") return head.includes(0) ? null : head.subarray(mark);
  const even = Buffer.from(head.subarray(mark, head.length & ~1));
  return Buffer.from((name === "utf-16le" ? even : even.swap16()).toString("utf16le"), "utf8");
}

/** Removes a few NULs from a head: they are damage, which the reader reports with its place. Null if there are many. */
function removeFewNuls(head: Buffer): Buffer | null {
  const text = head.filter((byte) => byte !== 0);
  return head.length - text.length <= Math.max(1, head.length / 500) ? Buffer.from(text) : null;
}

/** White space, and the end of a file in DOS. */
const usualControls = new Set([9, 10, 11, 12, 13, 26]);

/** Whether a text has more control characters than those that stray into the cells of a table. */
function hasControlCharacters(text: Buffer, isNamed: boolean): boolean {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (text[i]! < 32 && !usualControls.has(text[i]!)) count++;
  return count > (isNamed ? Math.max(4, text.length / 50) : text.length / 500);
}

/**
 * Any text may be a table, so the result is at most "maybe". Without a matching file name, a delimiter must give the
 * records the same number of cells.
 */
function identify(head: Buffer, source: { readonly name: string; readonly size: number }): Confidence {
  const named = /\.(csv|tsv|tab|psv)$/i.test(source.name);
  const text = decodeHead(head) ?? (named ? removeFewNuls(head) : null);
  if (!text || text.length === 0) return "no";
  const start = text.toString("latin1", 0, 200).trimStart();
  // A cheap check first: most other formats begin so.
  if (/^[{[<]/.test(start) || start.startsWith("%PDF") || hasControlCharacters(text, named)) return "no";
  if (named) return "maybe";
  if (!isUtf8(text) && head.length === source.size) return "no";
  const { columns, share, records } = guessDelimiter(text, head.length === source.size);
  return columns > 1 && records > 1 && share >= 0.9 ? "maybe" : "no";
}

export default defineFormat({
  apiVersion: 1,
  id: "csv",
  label: "Comma-separated values",
  extensions: ["csv", "tsv", "tab", "psv"],
  companionExtensions: ["csvt"],
  sharedCompanionExtensions: ["prj"],
  identify,
  reader: {
    indistinct: ["field-types", "empty-text"],
    options: readOptions,
    siblingExtensions: ["csvt", "prj"],
    load: () => import("./reader.js"),
  },
  writer: {
    options: writeOptions,
    impliedOptions,
    capabilities: writerCapabilities,
    load: () => import("./writer.js"),
  },
});
