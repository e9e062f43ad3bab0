import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CellMark, CellUnquoter, RecordScanner } from "../../../../plugins/shared/table/records/record-scanner.js";

/** All records of a text, blank lines left out, read in blocks of `step` bytes. */
function records(text: string, delimiter = ",", step = Number.POSITIVE_INFINITY): string[][] {
  const scanner = new RecordScanner(delimiter.charCodeAt(0));
  const unquoter = new CellUnquoter();
  const bytes = Buffer.from(text);
  const found: string[][] = [];
  let at = 0;
  let end = Math.min(step, bytes.length);
  while (at < bytes.length) {
    const state = scanner.scan(bytes, at, end, end === bytes.length);
    if (state === "incomplete") {
      end = Math.min(bytes.length, end + step);
      continue;
    }
    if (state === "unterminated") throw new Error("unterminated");
    if (!scanner.isBlank(bytes)) {
      found.push(
        [...new Array(scanner.cells).keys()].map((c) => {
          const [from, to, mark] = [scanner.starts[c]!, scanner.ends[c]!, scanner.marks[c]!];
          if (mark <= CellMark.quoted) return bytes.toString("utf8", from, to);
          unquoter.unquote(bytes, from, to, mark);
          return Buffer.from(unquoter.bytes.subarray(0, unquoter.length)).toString("utf8");
        }),
      );
    }
    at = scanner.next;
  }
  return found;
}

describe("the examples of RFC 4180, section 2", () => {
  test.each([
    [
      "aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n",
      [
        ["aaa", "bbb", "ccc"],
        ["zzz", "yyy", "xxx"],
      ],
    ],
    [
      "aaa,bbb,ccc\r\nzzz,yyy,xxx",
      [
        ["aaa", "bbb", "ccc"],
        ["zzz", "yyy", "xxx"],
      ],
    ],
    [
      '"aaa","bbb","ccc"\r\nzzz,yyy,xxx',
      [
        ["aaa", "bbb", "ccc"],
        ["zzz", "yyy", "xxx"],
      ],
    ],
    [
      '"aaa","b\r\nbb","ccc"\r\nzzz,yyy,xxx',
      [
        ["aaa", "b\r\nbb", "ccc"],
        ["zzz", "yyy", "xxx"],
      ],
    ],
    ['"aaa","b""bb","ccc"', [["aaa", 'b"bb', "ccc"]]],
  ])("an example of RFC 4180, section 2: %j", (text, expected) => expect(records(text)).toEqual(expected));
});

describe("deviations from RFC 4180", () => {
  test.each([
    ["a\rb\nc\r\nd", [["a"], ["b"], ["c"], ["d"]]],
    [
      "a,b\n\n\r\n   \nc,d\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ['1,5" pipe,x', [["1", '5" pipe', "x"]]],
    ['1, "b, c" ,d', [["1", "b, c", "d"]]],
    // As csv-parse with relax_quotes and DuckDB read them: no quote is lost.
    ['"abc"def,"x"', [['"abc"def', "x"]]],
    ['"abc "def" ghi",1', [['"abc "def" ghi"', "1"]]],
    ['""hello"",1', [['""hello""', "1"]]],
    ['"x" y ,1', [['"x" y ', "1"]]],
    [
      "a,,\n,,",
      [
        ["a", "", ""],
        ["", "", ""],
      ],
    ],
    ['""', [[""]]],
    [" a , b ", [[" a ", " b "]]],
  ])("a deviation from RFC 4180 is read: %j", (text, expected) => expect(records(text)).toEqual(expected));
});

test("finds the records that csv-parse finds, for any delimiter, line end and block border", () => {
  const cell = fc
    .array(fc.constantFrom("a", "é", "1", ".", ",", ";", "\t", "|", '"', "\n", "\r\n", "𝕏", "'"), { maxLength: 6 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(cell, fc.boolean()), { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(",", ";", "\t", "|"),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.integer({ min: 1, max: 30 }),
      (rows, delimiter, lineEnd, lastEnd, step) => {
        const written = rows.map((row) =>
          row
            .map(([text, quoted]) =>
              quoted || /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text,
            )
            .join(delimiter),
        );
        const text = written.join(lineEnd) + (lastEnd ? lineEnd : "");
        const expected: string[][] = parse(text, { delimiter, record_delimiter: lineEnd, relax_column_count: true });
        expect(records(text, delimiter)).toEqual(expected);
        expect(records(text, delimiter, step)).toEqual(expected);
      },
    ),
    { numRuns: 2000 },
  );
});

test("reports where an unclosed quote opened and where the next line begins", () => {
  const bytes = Buffer.from('a,"x\ny"\n1,"b\nc\nd');
  const scanner = new RecordScanner(44);
  expect(scanner.scan(bytes, 0, bytes.length, true)).toBe("record");
  expect(scanner.lines).toBe(2);
  expect(scanner.scan(bytes, scanner.next, bytes.length, true)).toBe("unterminated");
  expect(scanner.openLine).toBe(0);
  expect(bytes.toString("utf8", scanner.recovery)).toBe("c\nd");
  const later = Buffer.from('"x\ny","b\nc');
  expect(scanner.scan(later, 0, later.length, true)).toBe("unterminated");
  expect(scanner.openLine).toBe(1);
  expect(later.toString("utf8", scanner.recovery)).toBe("c");
});

test("a space can be the delimiter", () =>
  expect(records('1 "a b" 2\n3  4', " ")).toEqual([
    ["1", "a b", "2"],
    ["3", "", "4"],
  ]));

test("a record may have any number of cells", () => {
  const row = [...new Array(1000).keys()].map(String);
  expect(records(`${row.join(",")}\n${row.join(",")}`)).toEqual([row, row]);
});

test("counts the line ends of quoted cells of any length", () => {
  const piece = fc.oneof(
    fc.constantFrom("\n", "\r", "\r\n", '""'),
    fc.nat(120).map((size) => "x".repeat(size)),
  );
  const cell = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }), (rows) => {
      const text = rows.map((row) => `${row.map((of) => `"${of}"`).join(",")}\n`).join("");
      const bytes = Buffer.from(text);
      const scanner = new RecordScanner(44);
      let at = 0;
      for (const row of rows) {
        expect(scanner.scan(bytes, at, bytes.length, true)).toBe("record");
        expect(scanner.lines).toBe(1 + (row.join(" ").match(/\r\n|\r|\n/g)?.length ?? 0));
        expect(scanner.cells).toBe(row.length);
        at = scanner.next;
      }
      expect(at).toBe(bytes.length);
    }),
    { numRuns: 500 },
  );
});
