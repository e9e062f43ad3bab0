import { isUtf8 } from "node:buffer";

/** For longer text, `isUtf8` is faster than the loop. */
const maxLoopBytes = 128;

/**
 * Whether `bytes[from … to]` is UTF-8 (RFC 3629, section 4). Most texts are short, and creating a view for `isUtf8` takes
 * several times as long as checking the bytes.
 */
export function isValidUtf8(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > maxLoopBytes) return isUtf8(bytes.subarray(from, to));
  for (let at = from; at < to; ) {
    const lead = bytes[at++]!;
    if (lead < 0x80) continue;
    const more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead < 0xc2 || lead > 0xf4 || at + more > to) return false;
    const next = bytes[at]!;
    // Excludes overlong forms, surrogates and code points beyond U+10FFFF.
    const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (next < least || next > most) return false;
    for (let n = 1; n < more; n++) if ((bytes[at + n]! & 0xc0) !== 0x80) return false;
    at += more;
  }
  return true;
}
