import {
  apostrophe,
  closingBracket,
  commentEnd,
  commentOpening,
  greaterThan,
  lessThan,
  quotation,
  sameBytes,
} from "./xml-bytes.js";

const openingBracket = 91;

/** Where the document type ends, behind its `>`; -1 where it is not there. Brackets in quotes and comments are none. */
export function doctypeEnd(bytes: Buffer, from: number, end: number): number {
  let inside = false;
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === quotation || byte === apostrophe) i = bytes.indexOf(byte, i + 1);
    else if (byte === lessThan && sameBytes(commentOpening, bytes, i)) {
      i = bytes.indexOf(commentEnd, i + commentOpening.length);
      if (i >= 0) i += 2;
    } else if (byte === openingBracket) inside = true;
    else if (byte === closingBracket) inside = false;
    else if (byte === greaterThan && !inside) return i + 1;
    if (i < 0 || i >= end) return -1;
  }
  return -1;
}
