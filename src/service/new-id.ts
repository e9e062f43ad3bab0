import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** Random bytes are fetched for so many ids at once: one by one they take longer than a feature's insertion. */
const fetched = 256;
const random = new Uint8Array(16 * fetched);
let used = fetched;

let last = 0;
let counter = 0;

/** A UUID of version 7 that is greater than those before it (RFC 9562, 6.2, method 1). */
export function newId(): string {
  if (used === fetched) {
    randomFillSync(random);
    used = 0;
  }
  const bytes = random.subarray(16 * used, 16 * ++used);
  const now = Date.now();
  if (now > last) {
    last = now;
    // Half of the counter's range is left to count in.
    counter = (bytes[6]! & 0x7f) * 2 ** 24 + bytes[7]! * 2 ** 16 + bytes[8]! * 2 ** 8 + bytes[9]!;
  } else {
    counter++;
  }
  return v7({ random: bytes, msecs: last, seq: counter });
}
