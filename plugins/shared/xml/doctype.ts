import {
  apostrophe,
  closingBracket,
  commentEnd,
  commentOpening,
  greaterThan,
  lessThan,
  quotation,
  startsWithBytes,
} from "./bytes.js";

const openingBracketByte = 91;

/** Returns the end of the document type, after its `>`, or −1. Brackets in quotes and comments do not count. */
export function findDoctypeEnd(bytes: Buffer, from: number, end: number): number {
  let inside = false;
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === quotation || byte === apostrophe) i = bytes.indexOf(byte, i + 1);
    else if (byte === lessThan && startsWithBytes(commentOpening, bytes, i)) {
      i = bytes.indexOf(commentEnd, i + commentOpening.length);
      if (i >= 0) i += 2;
    } else if (byte === openingBracketByte) inside = true;
    else if (byte === closingBracket) inside = false;
    else if (byte === greaterThan && !inside) return i + 1;
    if (i < 0 || i >= end) return -1;
  }
  return -1;
}
