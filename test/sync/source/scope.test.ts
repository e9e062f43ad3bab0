import { afterAll, describe, expect, test } from "vitest";
import { byField, numbers, SourceFixture } from "../source-fixture.js";

const side = new SourceFixture();
afterAll(() => side[Symbol.asyncDispose]());

const scope = { property: "layer", value: "7" };

describe("a scope", () => {
  test("a scope omits and counts source features out of the scope", async () => {
    const path = side.geojson("scope.geojson", [
      { ref: "A", layer: 7 },
      { ref: "B", layer: "7" },
      { ref: "C", layer: 8 },
      { ref: null, layer: null },
      { ref: null },
      { ref: null, layer: [7] },
    ]);
    const reading = await side.read(path, { ...byField("ref"), scope });
    expect(reading.source).toMatchObject({ readCount: 6, features: 2, outOfScope: 4, complete: true });
    expect(reading.source.notices).toMatchObject([{ code: "out-of-scope", field: "layer", count: 4 }]);
    await reading.check();
    expect(reading.keys("source")).toEqual(["A", "B"]);
  });

  test("a scope ignores map features of other jobs, even with the same keys", async () => {
    const path = side.geojson("jobs.geojson", [{ ref: "A", layer: 7 }]);
    const reading = await (await side.read(path, { ...byField("ref"), scope })).onMap([
      { properties: { ref: "A", layer: 8 } },
      { properties: { ref: "A", layer: "7" } },
      { properties: { ref: "A" } },
    ]);
    expect(await reading.check()).toMatchObject({ mapFeatures: 1, matches: 1 });
    expect(reading.workspace.map.count).toBe(1);
  });

  test("a scope allows a job that is new on a map", async () => {
    const own = numbers(0, 20).map((n) => ({ ref: `A${n}`, layer: 7 }));
    const others = numbers(0, 20).map((n) => ({ properties: { ref: `B${n}`, layer: 8 } }));
    const reading = await side.read(side.geojson("new.geojson", own), { ...byField("ref"), scope, mode: "full" });
    expect(await (await reading.onMap(others)).check()).toMatchObject({ mapFeatures: 0, sourceFeatures: 20 });
  });
});
