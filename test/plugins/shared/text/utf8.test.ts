import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { expect, it } from "vitest";
import { isValidUtf8 } from "../../../../plugins/shared/text/utf8.js";

it("is what Node takes for it: every sequence of up to two bytes, and every third and fourth behind the leads that count", () => {
  const wrong: number[][] = [];
  const look = (...bytes: number[]) => {
    const text = Buffer.from(bytes);
    if (isValidUtf8(text, 0, text.length) !== isUtf8(text)) wrong.push(bytes);
  };
  const edges = [0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
  for (let lead = 0; lead < 256; lead++) {
    look(lead);
    for (let next = 0; next < 256; next++) {
      look(lead, next);
      for (const third of edges) {
        look(lead, next, third);
        for (const fourth of edges) look(lead, next, third, fourth);
      }
    }
  }
  expect(wrong).toEqual([]);
});

it("is what Node takes for it within other bytes, short and long", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
      fc.constant(Buffer.from("Zürich Ø 東京 😀".repeat(8))),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(pieces, fc.nat(4), fc.nat(4), (parts, before, behind) => {
      const whole = Buffer.concat([...parts, Buffer.from("ü!")]);
      const from = Math.min(before, whole.length);
      const to = Math.max(from, whole.length - behind);
      expect(isValidUtf8(whole, from, to)).toBe(isUtf8(whole.subarray(from, to)));
    }),
    { numRuns: 1000 },
  );
});
