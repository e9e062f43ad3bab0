import { describe, expect, test } from "vitest";
import { lastRecordEnd } from "../../../../plugins/shared/table/records/last-record-end.js";
import { forEachRecord } from "../../../../plugins/shared/table/records/record-blocks.js";
import { RecordScanner } from "../../../../plugins/shared/table/records/record-scanner.js";

const comma = 0x2c;
const endOf = (text: string, isLast = false) => lastRecordEnd(Buffer.from(text), comma, isLast);

describe("the end of the last record of a block", () => {
  test("is after a line feed that no quotes enclose", () => {
    expect(endOf("a,b\nc,d\ne")).toBe(8);
    expect(endOf('a,"b\nc",d\ne')).toBe('a,"b\nc",d\n'.length);
    expect(endOf('a\n"b ""x"",\nc"\n"d\ne')).toBe('a\n"b ""x"",\nc"\n'.length);
  });

  test("is the end of the last block", () => {
    expect(endOf("a,b\nc", true)).toBe(5);
    expect(endOf('a,"b"', true)).toBe(5);
  });

  test("is not sure with quotes elsewhere, with open quotes, and without line feeds", () => {
    for (const text of ['a 5" b\nc\n', '"a"b\nc\n', ' "a\nb"\nc\n', "a,b\rc\r", '"a\nb', '"a\nb","c'])
      expect(endOf(text)).toBe(0);
    expect(endOf('a\n"b', true)).toBe(0);
  });

  test("is the one that the scanner of records finds, in every block of a text", () => {
    const text = 'id,"na""me",x\r\n1,"a\nb",2\n"2","",3\n3,plain,"c, d"\n"4\n",é,""\n';
    const bytes = Buffer.from(text);
    for (let size = 1; size < bytes.length; size++) {
      const block = bytes.subarray(0, size);
      const end = lastRecordEnd(block, comma, false);
      if (end === 0) continue;
      const scanned = forEachRecord(
        block,
        "more",
        new RecordScanner(comma),
        () => {},
        () => {},
      );
      expect([size, end]).toEqual([size, scanned.end]);
    }
  });
});
