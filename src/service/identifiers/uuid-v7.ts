import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** Random bytes are fetched for this many ids at once; fetching them per id takes longer than inserting a feature. */
const idsPerRefill = 256;
const randomPool = new Uint8Array(16 * idsPerRefill);
let usedIds = idsPerRefill;

let lastMs = 0;
let counter = 0;

/** A UUID of version 7, greater than all previous ones of this process (RFC 9562, 6.2, method 1). */
export function newUuidV7(): string {
  if (usedIds === idsPerRefill) {
    randomFillSync(randomPool);
    usedIds = 0;
  }
  const bytes = randomPool.subarray(16 * usedIds, 16 * ++usedIds);
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // Starts in the lower half of the counter's range, to leave room for increments.
    counter = (bytes[6]! & 0x7f) * 2 ** 24 + bytes[7]! * 2 ** 16 + bytes[8]! * 2 ** 8 + bytes[9]!;
  } else {
    counter++;
  }
  return v7({ random: bytes, msecs: lastMs, seq: counter });
}
