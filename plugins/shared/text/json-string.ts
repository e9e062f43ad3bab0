import type { TextBuffer } from "./text-buffer.js";

const quote = 34;
const backslash = 92;

/** Writes UTF-8 as a string of JSON. */
export function writeJsonString(out: TextBuffer, bytes: Buffer, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte < 32 || byte === quote || byte === backslash) {
      out.utf8(JSON.stringify(bytes.toString("utf8", from, to)));
      return;
    }
  }
  out.byte(quote);
  out.bytes(bytes, from, to);
  out.byte(quote);
}
