import type { TextBuffer } from "../text/text-buffer.js";
import { forbiddenControls } from "./bytes.js";

const plainClass = 0;
const referenceClass = 1;
/** Not allowed in XML 1.0, not even as a reference (section 2.2). */
const forbiddenClass = 2;
/** The first byte of U+FFFE and U+FFFF, which are not allowed either. */
const noncharacterClass = 3;

const referencesByByte = new Map<number, string>([
  [38, "&amp;"],
  [60, "&lt;"],
  [62, "&gt;"],
  // A bare one would be read as a line feed (section 2.11).
  [13, "&#13;"],
]);
const byteClasses = Uint8Array.from({ length: 256 }, (_, byte) =>
  referencesByByte.has(byte)
    ? referenceClass
    : byte < 32 && byte !== 9 && byte !== 10
      ? forbiddenClass
      : byte === 0xef
        ? noncharacterClass
        : plainClass,
);

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 9;

/**
 * Writes `bytes[from … to]`, UTF-8, as the content of an element. White space at its edges becomes references, because
 * many readers take literal white space there for indentation.
 * @returns the number of characters that were left out because XML does not allow them
 */
export function writeXmlText(out: TextBuffer, bytes: Uint8Array, from: number, to: number): number {
  let start = from;
  let end = to;
  while (start < end && isSpace(bytes[start]!)) out.ascii(`&#${bytes[start++]};`);
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  let removed = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    const meaning = byteClasses[byte]!;
    if (meaning === plainClass || (meaning === noncharacterClass && !isNoncharacter(bytes, i))) continue;
    out.bytes(bytes, start, i);
    if (meaning === referenceClass) out.ascii(referencesByByte.get(byte)!);
    else {
      removed++;
      if (meaning === noncharacterClass) i += 2;
    }
    start = i + 1;
  }
  if (end > start) out.bytes(bytes, start, end);
  for (let i = end; i < to; i++) out.ascii(`&#${bytes[i]};`);
  return removed;
}

const isNoncharacter = (bytes: Uint8Array, at: number): boolean =>
  bytes[at + 1] === 0xbf && (bytes[at + 2] === 0xbe || bytes[at + 2] === 0xbf);

const forbiddenCharacters = new RegExp(`[${forbiddenControls}\\ufffe\\uffff]`, "g");
const attributeReferences: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Removes the characters that XML does not allow. */
export const removeForbidden = (text: string): string => text.replace(forbiddenCharacters, "");

/** Escapes an attribute value for double quotes. */
export const escapeAttribute = (text: string): string =>
  removeForbidden(text).replace(/[&<>"\t\n\r]/g, (character) => attributeReferences[character]!);

/** Escapes the content of an element. */
export function escapeElement(text: string): string {
  const escaped = removeForbidden(text).replace(/[&<>\r]/g, (character) => attributeReferences[character]!);
  return escaped.replace(/^[ \t\n]+|[ \t\n]+$/g, (edge) => [...edge].map((c) => `&#${c.charCodeAt(0)};`).join(""));
}
