/** Records of large blocks, found by the kernel of marks, beside those of small blocks, which are scanned byte by byte. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { minMarkedBytes, RecordScanner } from "../../../../plugins/shared/table/records/record-scanner.js";

/** Bytes for one record when it is scanned alone. */
const aloneBytes = 1 << 13;

const plainCell = fc.constantFrom("", "1", "Zürich", "-12.5", "2024-02-29", "two words", " padded ", "x".repeat(40));
const unclearCell = fc.constantFrom(
  '"quoted"',
  '"a;b"',
  '"two\nlines"',
  '"a "" quote"',
  '"stray" text',
  'in"side',
  "\r",
);
const cell = fc.oneof({ weight: 60, arbitrary: plainCell }, { weight: 1, arbitrary: unclearCell });
const end = fc.constantFrom("\n", "\n", "\r\n", "\r", "\n\n");
const record = fc.tuple(fc.array(cell, { minLength: 1, maxLength: 80 }), end);

function readRecord({ cells, next, lines, hasStray, starts, ends, marks }: RecordScanner, from: number) {
  const list = Array.from({ length: cells }, (_, c) => [starts[c]! - from, ends[c]! - from, marks[c]]);
  return { next: next - from, lines, hasStray, list };
}

test("a record of a large block has the cells that it has alone", () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 30, maxLength: 200 }), fc.boolean(), (records, isCut) => {
      const text = records.map(([cells, ending]) => cells.join(";") + ending).join("");
      const whole = Buffer.from(text.repeat(Math.ceil((1.2 * minMarkedBytes) / text.length)));
      const bytes = isCut ? whole.subarray(0, whole.length - 5) : whole;
      const [marked, alone] = [new RecordScanner(59), new RecordScanner(59)];
      for (let at = 0; at < bytes.length; at = marked.next) {
        const rest = Math.min(aloneBytes, bytes.length - at);
        const found = alone.scan(bytes.subarray(at, at + rest), 0, rest, at + rest === bytes.length);
        expect(marked.scan(bytes, at, bytes.length, true)).toBe(found);
        if (found !== "record") break;
        expect(readRecord(marked, at)).toEqual(readRecord(alone, 0));
      }
    }),
    { numRuns: 15 },
  );
});

test("a record that ends behind the bytes to scan is incomplete", () => {
  const bytes = Buffer.from("abc;def\n".repeat(minMarkedBytes / 8));
  const scanner = new RecordScanner(59);
  expect(scanner.scan(bytes, 0, 8, false)).toBe("record");
  expect(scanner.scan(bytes, 8, 15, false)).toBe("incomplete");
  expect(scanner.scan(bytes, 8, 16, false)).toBe("record");
});
