import type { JsonCursor } from "../../shared/json/cursor.js";
import { highBits, lowBits } from "../../shared/text/byte-words.js";

const comma = 44;
const opening = 91;
const closing = 93;
/** Commas, quotes, and the bits that both brackets share without `bracketBits`, four times each. */
const commaWord = 0x2c2c2c2c;
const quoteWord = 0x22222222;
const bracketWord = 0x59595959;
const bracketBits = 0xf9f9f9f9 | 0;
/** Added to a word, sets the high bit of each byte below 128 that is not zero, without carrying into the next. */
const nonzeroMask = 0x7f7f7f7f;
/** Added to a word, sets the high bit of each byte from 33 to 127. */
const visibleMask = 0x5f5f5f5f;
/** Number of words counted before the four one-byte counts are added up. */
const maxWordsPerSum = 63;

/**
 * Moves past the array of positions at the cursor, which must be nested deeper than a single position, without parsing
 * its numbers; returns how many numbers each position has: 2 or 3. Returns 0 and leaves the cursor if the number
 * varies, or if there is anything but brackets, commas and characters of numbers.
 *
 * An array of n members has n − 1 commas, so all arrays together have one comma less than there are numbers. Brackets
 * show where positions begin: `[` within two bytes after another `[` opens an array inside that one (one byte between
 * them is white space), and the last of such a row opens a position. There is no position between two brackets that
 * are as close as that if the second one closes.
 */
export function skipCoordinates(cursor: JsonCursor): number {
  const { view, bytes, at: start, end } = cursor;
  const last = end - 4;
  let at = start;
  let numbers = 1;
  let positions = 0;
  let empty = 0;
  /** Which bytes of the previous word are opening brackets. */
  let before = 0;
  /** Which bytes of the previous word are white space; and whether more than one such byte followed a bracket. */
  let spaceBefore = 0;
  let wide = 0;
  for (let stops = false; !stops && at <= last; ) {
    let commaCounts = 0;
    let positionCounts = 0;
    const until = Math.min(last, at + 4 * (maxWordsPerSum - 1));
    for (; at <= until; at += 4) {
      const word = view.getInt32(at, true);
      const quote = word ^ quoteWord;
      // Braces and letters from p on share three bits.
      const letters = word & (word >>> 1) & (word >>> 2) & 0x10101010;
      if ((letters | (word & highBits) | ((quote - lowBits) & ~quote & highBits)) !== 0) {
        stops = true;
        break;
      }
      const either = ~(((word & bracketBits) ^ bracketWord) + nonzeroMask) & highBits;
      const opens = either & (word << 6);
      const behind = (opens << 8) | (opens << 16) | (before >>> 24) | (before >>> 16);
      positionCounts += (opens & ~behind) >>> 7;
      empty |= either & ~opens & behind;
      commaCounts += (~((word ^ commaWord) + nonzeroMask) & highBits) >>> 7;
      const spaces = ~(word + visibleMask) & highBits;
      wide |= spaces & ((spaces << 8) | (spaceBefore >>> 24)) & ((opens << 16) | (before >>> 16));
      before = opens;
      spaceBefore = spaces;
    }
    positions += Math.imul(positionCounts, lowBits) >>> 24;
    numbers += Math.imul(commaCounts, lowBits) >>> 24;
  }
  // The rest is shorter than a word, or ends within one.
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === 34 || byte >= 112) break;
    const follows = at > start && (bytes[at - 1] === opening || (at > start + 1 && bytes[at - 2] === opening));
    if (byte === comma) numbers++;
    else if (byte === opening && !follows) positions++;
    else if (byte === closing && follows) return 0;
    else if (byte <= 32 && at > start + 1 && bytes[at - 1]! <= 32 && bytes[at - 2] === opening) return 0;
  }
  if (at === end || (empty | wide) !== 0) return 0;
  for (; at > start && bytes[at - 1] !== closing; at--) {
    const byte = bytes[at - 1]!;
    if (byte === comma) numbers--;
    else if (byte > 32) return 0;
  }
  const each = numbers / positions;
  if (at === start || (each !== 2 && each !== 3)) return 0;
  cursor.at = at;
  return each;
}
