/** Options that no compiler has checked: of programs in JavaScript, or from a file. */
import { afterAll, describe, expect, test } from "vitest";
import { convert, convertMany, open, write } from "../../src/index.js";
import { samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const parks = `${samples}/parks.geojson`;
const untyped = (options: object) => options as never;

describe("an option of the library", () => {
  test.each([
    [{ targetCRS: "EPSG:3857" }, 'convert has no option "targetCRS"; did you mean "targetCrs"'],
    [{ makevalid: true }, '"makeValid"'],
    [{ out: { delimiter: "semicolon" } }, 'convert has no option "out"; it has'],
    [{ input: parks }, '"inputs"'],
  ])("an unknown option of the library is refused, with the nearest one: %j", async (options, message) => {
    const request = untyped({ inputs: parks, output: scratch.path("a.geojson"), ...options });
    await expect(convert(request)).rejects.toMatchObject({
      code: "option-unknown",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ select: "name" }, 'option select: "name" is not an array of texts'],
    [{ limit: -3 }, 'option limit: "-3" is not a whole number from 0 on'],
    [{ bbox: [1, 2, 3] }, "an array of four numbers"],
    [{ strict: "yes" }, 'option strict: "yes" is not true or false'],
    [{ onNameClash: "rename" }, 'option onNameClash: "rename" is not one of "error", "number"'],
    [{ maxLosses: 5 }, 'option maxLosses: "5" is not a text like "100" or "5%"'],
    [{ writerOptions: { precision: 2 } }, "an object whose members are texts"],
  ])("an option of the library with a wrong type is refused with its name: %j", async (options, message) => {
    const request = untyped({ inputs: parks, output: scratch.path("b.geojson"), ...options });
    await expect(convert(request)).rejects.toMatchObject({
      code: "option-invalid",
      message: expect.stringContaining(message),
    });
  });

  test("the options of the library must be an object, not null or a text", async () => {
    const calls = [
      () => open(parks, untyped(null as never)),
      () => open(parks, "gpkg" as never),
      () => write([], undefined, null as never),
      () => write([], undefined, { to: "csv" }, null as never),
      () => convert({ inputs: parks, to: "csv" }, null as never),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        name: "GeoferryError",
        code: "usage",
        message: expect.stringContaining("takes an object of options, not"),
      });
  });

  test("every function checks its options, and requires inputs", async () => {
    const unknown = { code: "option-unknown" };
    await expect(open(parks, untyped({ wher: "a = 1" }))).rejects.toMatchObject(unknown);
    await expect(write([], scratch.path("c.geojson"), untyped({ selct: [] }))).rejects.toMatchObject(unknown);
    const many = untyped({ inputs: [parks], output: `${scratch.path("d")}/`, colour: "red" });
    await expect(convertMany(many)).rejects.toMatchObject(unknown);
    await expect(convert(untyped({ output: scratch.path("e.geojson") }))).rejects.toMatchObject({
      code: "option-invalid",
      message: expect.stringContaining("option inputs"),
    });
  });
});
