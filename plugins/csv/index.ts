import { isUtf8 } from "node:buffer";
import { type Confidence, defineFormat } from "../../src/plugin/format.js";
import { writerCapabilities } from "./capabilities.js";
import { guessDelimiter } from "./header/dialect.js";
import { impliedOptions, readerOptions, writerOptions } from "./options.js";
import { detectEncoding } from "./records/text-blocks.js";

/** UTF-8 of a head that may cut the last character; null where it is binary. */
function decodeHead(head: Buffer): Buffer | null {
  const { name, mark } = detectEncoding(head.subarray(0, 4096), undefined);
  if (name === "utf-8") return head.includes(0) ? null : head.subarray(mark);
  const even = Buffer.from(head.subarray(mark, head.length & ~1));
  return Buffer.from((name === "utf-16le" ? even : even.swap16()).toString("utf16le"), "utf8");
}

/** A head with a few NULs, without them: damage in a table, whose place the reader tells. Null where they are many. */
function removeFewNuls(head: Buffer): Buffer | null {
  const text = head.filter((byte) => byte !== 0);
  return head.length - text.length <= Math.max(1, head.length / 500) ? Buffer.from(text) : null;
}

/** Control characters that no table has. */
function hasControlCharacters(text: Buffer): boolean {
  let count = 0;
  for (const byte of text) if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 12) count++;
  return count > text.length / 500;
}

/**
 * Any text may be a table: never more than "maybe", and without the file's name saying so only where a delimiter makes
 * the records equally long.
 */
function identify(head: Buffer, source: { readonly name: string; readonly size: number }): Confidence {
  const named = /\.(csv|tsv|tab|psv)$/i.test(source.name);
  const text = decodeHead(head) ?? (named ? removeFewNuls(head) : null);
  if (!text || text.length === 0) return "no";
  const start = text.toString("latin1", 0, 200).trimStart();
  // Asked before every byte is looked at: most of what is no table begins so.
  if (/^[{[<]/.test(start) || start.startsWith("%PDF") || hasControlCharacters(text)) return "no";
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
  identify,
  reader: {
    options: readerOptions,
    siblingExtensions: ["csvt", "prj"],
    load: async () => (await import("./reader.js")).default,
  },
  writer: {
    options: writerOptions,
    impliedOptions,
    capabilities: writerCapabilities,
    load: async () => (await import("./write/writer.js")).default,
  },
});
