/** Records of large blocks, found by the kernel of marks, beside those of small blocks, which are scanned byte by byte. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { minMarkedBytes, RecordScanner } from "../../../../plugins/shared/table/records/record-scanner.js";

/** Bytes for one record when it is scanned alone. */
const aloneBytes = 1 << 17;

const plainCell = fc.constantFrom("", "1", "Zürich", "-12.5", "2024-02-29", "two words", " padded ", "x".repeat(40));
const quotedCell = fc.constantFrom(
  ...['"quoted"', '""', '"a;b"', '"two\nlines"', '"\r\n\n\r"', '"a ""quote"""', '""""', '"""""";""""', '";"', '"東京"'],
  `"${'long; ""text""\n'.repeat(30)}"`,
  `"${"x".repeat(200)}"`,
);
const oddCell = fc.constantFrom(
  ...['"stray" text', ' "padded" ', '"tail" ', 'in"side', 'at end"', '"a"b"c"', '"a""b', "\r", '"a "" quote" "b'],
  `"open${";".repeat(50)}`,
);
/** By the share of quoted cells and of those with other quotes. */
const cellsOf = (quoted: number, odd: number) =>
  fc.array(
    fc.oneof(
      { weight: 1000, arbitrary: plainCell },
      { weight: quoted, arbitrary: quotedCell },
      { weight: odd, arbitrary: oddCell },
    ),
    { minLength: 1, maxLength: 40 },
  );
const end = fc.constantFrom("\n", "\n", "\r\n", "\r", "\n\n");
const recordsOf = ([quoted, odd]: readonly [number, number]) =>
  fc.array(fc.tuple(cellsOf(quoted, odd), end), { minLength: 30, maxLength: 200 });
const mixes = [
  [15, 15],
  [1000, 0],
  [1000, 1],
  [300, 100],
] as const;

function readRecord({ cells, next, lines, hasStray, starts, ends, marks }: RecordScanner, from: number) {
  const list = Array.from({ length: cells }, (_, c) => [starts[c]! - from, ends[c]! - from, marks[c]]);
  return { next: next - from, lines, hasStray, list };
}

test.each(mixes)("a record of a large block has the cells that it has alone, with %i and %i ‰ quotes", (...mix) => {
  fc.assert(
    fc.property(recordsOf(mix), fc.boolean(), (records, isCut) => {
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
    { numRuns: 10 },
  );
});

test("a record that ends behind the bytes to scan is incomplete", () => {
  const bytes = Buffer.from("abc;def\n".repeat(minMarkedBytes / 8));
  const scanner = new RecordScanner(59);
  expect(scanner.scan(bytes, 0, 8, false)).toBe("record");
  expect(scanner.scan(bytes, 8, 15, false)).toBe("incomplete");
  expect(scanner.scan(bytes, 8, 16, false)).toBe("record");
});
