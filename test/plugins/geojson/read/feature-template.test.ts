import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { FeatureTemplates } from "../../../../plugins/geojson/read/feature-template.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { collectionOf, features, outputStyles, validFeatures } from "../generated-features.js";
import { read } from "../read-geojson.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
afterEach(() => vi.restoreAllMocks());

const settings = [
  { skipErrors: false, bySplits: false },
  { skipErrors: true, bySplits: false },
  { skipErrors: true, bySplits: true, splitSize: 1500 },
] as const;

/** All that a reading says: what it gave, what it complained of, or how it failed. */
async function said(text: string | Uint8Array, how: (typeof settings)[number], file?: string) {
  try {
    const { features, context } = await read(scratch, text, { ...how, ...(file ? { file } : {}) });
    const { losses, notices, rejects, skippedRanges, records } = context;
    return { features: JSON.stringify(features), losses, notices, rejects, gaps: skippedRanges, records };
  } catch (error) {
    return { error: String(error), ...(error as { details?: unknown }) };
  }
}

/** Reads with stencils and without, says how many features fitted one, and finds no difference. */
async function compared(text: string | Uint8Array, file?: string): Promise<number> {
  let fitted = 0;
  for (const how of settings) {
    const own = vi.spyOn(FeatureTemplates.prototype, "read");
    const fast = await said(text, how, file);
    fitted += own.mock.results.filter(({ value }) => value === true).length;
    own.mockRestore();
    const none = vi.spyOn(FeatureTemplates.prototype, "read").mockReturnValue(false);
    const slow = await said(text, how, file);
    none.mockRestore();
    expect(fast).toEqual(slow);
  }
  return fitted;
}

describe("features that match a template", () => {
  test("features that match a template are read as by the parser", async () => {
    let fitted = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(features, validFeatures), async (list) => {
        fitted += await compared(collectionOf(list));
        fitted += await compared(list.map((one) => one.replaceAll("\n", " ")).join("\n"), "places.geojsonl");
      }),
      { numRuns: 100 },
    );
    expect(fitted).toBeGreaterThan(1000);
  });

  test("features that match a template are read the same wherever the file ends", async () => {
    const alike = Array.from({ length: 3 }, (_, i) =>
      outputStyles[1]!(`{"name":"n${i}","count":${i}}`, "Point", `[${i},5]`, "7"),
    );
    const whole = collectionOf(alike);
    for (let end = whole.indexOf("features"); end < whole.length; end += 3) await compared(whole.slice(0, end));
  });

  test("features without a type do not match a template, and each is counted", async () => {
    const feature = '{"properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}';
    const { context } = await read(scratch, collectionOf(new Array(50).fill(feature)), {});
    expect(context.notices).toMatchObject([{ code: "type-missing", count: 50 }]);
  });

  test("features that match a template may contain bytes that are not UTF-8", async () => {
    const alike = Array.from({ length: 5 }, (_, i) => outputStyles[0]!(`{"name":"n${i}ÿ"}`, "Point", `[${i},5]`, ""));
    expect(await compared(Buffer.from(collectionOf(alike), "latin1"))).toBeGreaterThan(0);
  });

  test.each(outputStyles.slice(0, 3).map((style, i) => [i, style] as const))(
    "nearly all features of a file of style %i match a template",
    async (_, style) => {
      const alike = Array.from({ length: 500 }, (_, i) =>
        style(`{"name":"n${i}","count":${i}}`, "Point", `[${i % 9},5]`, `${i}`),
      );
      expect(await compared(collectionOf(alike))).toBeGreaterThan(1000);
    },
  );
});
