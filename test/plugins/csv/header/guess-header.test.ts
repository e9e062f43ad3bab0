/** Whether the first row names the columns, and what stands behind the last of them. */
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { properties, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const codesOf = async (content: string, options: Readonly<Record<string, string>> = {}) => {
  const { recording } = await readText(scratch, content, options);
  return recording.notices.map(({ code }) => code);
};

describe("the first row", () => {
  test("a first row of digits is data, even with leading zeros", async () => {
    const read = await readText(scratch, "1,09857,619\n2,12345,620\n");
    expect(properties(read)).toEqual([
      { field_1: 1, field_2: "09857", field_3: 619 },
      { field_1: 2, field_2: "12345", field_3: 620 },
    ]);
    expect(read.recording.notices).toMatchObject([
      { code: "header-missing", example: expect.stringMatching(/taken for data.*--in header=yes/) },
    ]);
  });

  test.each(["Anna,Berlin\n", "Anna,Berlin\n\n\n", "Anna,Berlin"])(
    "an only row is a header, with a notice: %j",
    async (content) => {
      const read = await readText(scratch, content);
      expect(properties(read)).toEqual([]);
      expect(read.recording.notices).toMatchObject([
        {
          code: "header-assumed",
          example: expect.stringMatching(/"Anna", "Berlin", was taken for the names.*--in header=no/),
        },
      ]);
      expect(properties(await readText(scratch, content, { header: "no" }))).toEqual([
        { field_1: "Anna", field_2: "Berlin" },
      ]);
      expect(await codesOf(content, { header: "yes" })).toEqual([]);
    },
  );

  test("a first row of a word and years is a header, with a notice", async () => {
    const { recording } = await readText(scratch, "name,2019,2020\nx,1,2\n");
    expect(recording.notices).toMatchObject([
      { code: "header-assumed", example: expect.stringMatching(/taken for the names.*--in header=no/) },
    ]);
  });

  test("a first row of a word and days is a header", async () => {
    const read = await readText(scratch, "country,01/22/2020,01/23/2020\nx,1,2\n");
    expect(properties(read)).toEqual([{ country: "x", "01/22/2020": 1, "01/23/2020": 2 }]);
  });

  test.each([
    ["words", "a,b\nc,1\n", {}],
    ["decimals", "1.5,2.5\n3.5,4.5\n", {}],
    ["what an option says", "1,2\n3,4\n", { header: "yes" }],
  ])("the header is certain by %s", async (_, content, options) => expect(await codesOf(content, options)).toEqual([]));
});

describe("surplus cells", () => {
  test("surplus cells with only blanks are not rejected", async () => {
    const read = await readText(scratch, 'a,b\n1,2,,\n3,4,\t,"  "\n5,6,\u00a0\n7,8,x\n');
    expect(properties(read)).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
      { a: 5, b: 6 },
    ]);
    expect(read.recording.rejects).toMatchObject([{ code: "record-too-long", place: { record: 4 } }]);
  });
});

describe("a header longer than the inspected head", () => {
  test("a header longer than the inspected head names all columns", async () => {
    const names = Array.from({ length: 60_000 }, (_, c) => `column_${c}`);
    const read = await readText(scratch, `${names.join(",")}\n${names.map((_, c) => c).join(",")}\n`);
    expect(read.fields.length).toBe(60_000);
    expect(read.features.length).toBe(1);
    expect(read.features[0]!.properties.column_59999).toBe(59_999);
  });

  test("renamed columns get one notice for each reason", async () => {
    const { recording } = await readText(scratch, `${"a,".repeat(3000)},,,\n1\n`);
    expect(recording.notices.map(({ code, count }) => [code, count])).toEqual([
      ["name-duplicate", 2999],
      ["name-missing", 4],
      ["record-short", 1],
    ]);
  });
});
