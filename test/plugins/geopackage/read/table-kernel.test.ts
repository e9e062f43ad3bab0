/** The kernel beside Node and the functions in TypeScript, value by value. */
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTableKernel } from "../../../../plugins/geopackage/read/table-kernel.js";
import { KernelColumn } from "../../../../plugins/shared/kernels/kernel-column.js";
import { temporalTypeAt } from "../../../../src/model/temporal-type.js";

const textSerial = (size: number): number => 2 * size + 13;

/** Whether the kernel takes a text as a value of the measure. */
function accepts(measure: number, text: Uint8Array): boolean {
  const kernel = createTableKernel();
  kernel.open(1, false);
  kernel.setMeasure(0, measure);
  const serial = textSerial(text.length);
  // The header: its own size and the serial type, a varint of one or two bytes (file format, 2.1).
  const header = serial < 0x80 ? [2, serial] : [3, 0x80 | (serial >> 7), serial & 0x7f];
  const at = kernel.reserve(64 + text.length);
  new Uint8Array(kernel.memory.buffer).set([...header, ...text], at);
  // A row counts only if all its values could be measured.
  kernel.addRecord(at, header.length + text.length, 1);
  return kernel.rowCount() === 1;
}

/** Bytes that are nearly UTF-8: texts with a byte replaced or cut off. */
const nearlyText = fc
  .tuple(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(255), fc.nat(200), fc.boolean())
  .map(([text, byte, at, isCut]) => {
    const bytes = Buffer.from(text);
    if (isCut) return bytes.subarray(0, Math.min(at, bytes.length));
    if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });

test("text is UTF-8 for the kernel where it is for Node", () => {
  fc.assert(
    fc.property(fc.oneof(nearlyText, fc.uint8Array({ maxLength: 40 })), (bytes) => {
      expect(accepts(KernelColumn.text, bytes)).toBe(isUtf8(bytes));
    }),
    { numRuns: 1000 },
  );
});

const digits = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((n) => String(n).padStart(2, "0"));
const day = fc
  .tuple(digits(0, 21), digits(0, 99), digits(0, 13), digits(0, 32))
  .map(([c, y, m, d]) => `${c}${y}-${m}-${d}`);
const time = fc
  .tuple(digits(0, 24), digits(0, 60), digits(0, 60), fc.constantFrom("", ".", ".5", ".123456"))
  .map(([h, m, s, rest]) => `${h}:${m}:${s}${rest}`);
const zone = fc.constantFrom("", "Z", "z", "+01:00", "-12:34", "+24:00", "+1:00", " ");
const temporalText = fc.oneof(
  day,
  time,
  fc.tuple(day, fc.constantFrom("T", " ", "t"), time, zone).map((parts) => parts.join("")),
  fc.string({ maxLength: 24 }),
);

test("dates and times are those of the TypeScript function", () => {
  fc.assert(
    fc.property(temporalText, fc.nat(30), fc.constantFrom("", "0", "-", "x"), (text, at, inserted) => {
      const bytes = Buffer.from(text.slice(0, at) + inserted + text.slice(at + inserted.length));
      const found = temporalTypeAt(bytes, 0, bytes.length);
      for (const type of ["date", "time", "datetime"] as const)
        expect([type, accepts(KernelColumn[type], bytes)]).toEqual([type, found === type]);
    }),
    { numRuns: 1000 },
  );
});
