/** What the kernel compresses, decompressed by hysnappy and hyparquet. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { snappyUncompress as uncompressInJavaScript } from "hyparquet/src/snappy.js";
import { snappyUncompressor } from "hysnappy";
import { expect, test } from "vitest";
import { SnappyCompressor } from "../../../plugins/geoparquet/parquet/snappy-compressor.js";

const compressor = new SnappyCompressor();
const uncompress = snappyUncompressor();

function expectSameBytes(packed: Uint8Array, bytes: Uint8Array): void {
  if (bytes.length > 0) expect(Buffer.compare(uncompress(packed, bytes.length), bytes)).toBe(0);
  const into = new Uint8Array(bytes.length);
  uncompressInJavaScript(packed, into);
  expect(Buffer.compare(into, bytes)).toBe(0);
}

/** Bytes with repetitions: literals, and copies of bytes up to 70,000 before. */
const repetitiveBytes = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 70 }), fc.nat(70_000), fc.nat(300)), { maxLength: 60 })
  .map((parts) => {
    const bytes: number[] = [];
    for (const [literal, distance, size] of parts) {
      bytes.push(...literal);
      const back = 1 + (distance % bytes.length);
      for (let n = 0; n < size; n++) bytes.push(bytes[bytes.length - back]!);
    }
    return Uint8Array.from(bytes);
  });

test("random and repetitive bytes come back", () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), repetitiveBytes), (bytes) => {
      expectSameBytes(compressor.compress(bytes), bytes);
    }),
    { numRuns: 500 },
  );
});

test.each([0, 1, 15, 16, 17, 60, 61, 256, 257, 65_535, 65_536, 65_537, 300_000])(
  "%i equal, counted and random bytes come back",
  (size) => {
    const random = Uint8Array.from({ length: size }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 24);
    const counted = Buffer.from(Uint32Array.from({ length: Math.ceil(size / 4) }, (_, i) => i).buffer, 0, size);
    for (const bytes of [new Uint8Array(size).fill(7), counted, random])
      expectSameBytes(compressor.compress(bytes), bytes);
  },
);

test("text is compressed to less than half its size, also after other bytes", () => {
  const text = readFileSync("package-lock.json");
  const first = compressor.compress(text);
  expectSameBytes(first, text);
  expect(first.length).toBeLessThan(text.length / 2);
  compressor.compress(text.subarray(1000));
  expect(Buffer.compare(compressor.compress(text), first)).toBe(0);
});
