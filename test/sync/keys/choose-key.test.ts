import { afterAll, describe, expect, test } from "vitest";
import { byField, numbers, refusal, SourceFixture } from "../source-fixture.js";

const side = new SourceFixture();
afterAll(() => side[Symbol.asyncDispose]());

describe("choosing a key", () => {
  test("the choice of a key prefers identifier names, and lists other suitable fields", async () => {
    const path = side.csv("names.csv", "title,parcel_ref,code", ["Mill,P-100,1", "Weir,P-101,2", "Lock,P-102,3"]);
    const reading = await side.read(path);
    expect(await reading.choose()).toEqual({
      key: { by: "property", name: "code" },
      how: "chosen",
      runnersUp: ["parcel_ref", "title"],
    });
  });

  test("the choice of a key prefers similar names that the map has", async () => {
    const path = side.csv("held.csv", "id,ref,name", ["1,A,x", "2,B,y"]);
    const reading = await (await side.read(path)).onMap([{ properties: { ref: "A", name: "x" } }]);
    expect((await reading.choose()).key).toEqual({ by: "property", name: "ref" });
  });

  test("the choice of a key prefers identifier names over fields that the map has", async () => {
    const path = side.csv("titles.csv", "id,title", ["1,Mill", "2,Weir"]);
    const reading = await (await side.read(path)).onMap([{ properties: { title: "Drawn by hand" } }]);
    expect((await reading.choose()).key).toEqual({ by: "property", name: "id" });
  });

  test("the choice of a key prefers shorter values if the names are not typical", async () => {
    const path = side.csv("short.csv", "description,mark", ["A long text,a1", "Another one,a2"]);
    expect(await (await side.read(path)).choose()).toMatchObject({ key: { name: "mark" }, runnersUp: ["description"] });
  });

  test("the choice of a key prefers names to quantities, and text to numbers", async () => {
    const countries = side.csv("countries.csv", "pop_est,gdp_md,name", [
      "38041754,5000,Uzbekistan",
      "1281935,3000,Estonia",
    ]);
    expect(await (await side.read(countries)).choose()).toMatchObject({
      key: { name: "name" },
      runnersUp: ["gdp_md", "pop_est"],
    });
    const stops = side.csv("stops.csv", "line,stop", ["101,Mill Street", "102,Weir Lane"]);
    expect(await (await side.read(stops)).choose()).toMatchObject({ key: { name: "stop" }, runnersUp: ["line"] });
  });

  test("the choice of a key requires unique values, however far apart duplicates are", async () => {
    const rows = numbers(0, 5000).map((n) => `${n === 4999 ? 0 : n},r${n}`);
    const reading = await side.read(side.csv("far.csv", "id,ref", rows));
    expect(await reading.choose()).toEqual({ key: { by: "property", name: "ref" }, how: "chosen", runnersUp: [] });
  });

  test("the choice of a key excludes dates, fractions and booleans", async () => {
    const path = side.geojson("types.geojson", [
      { id: 1.5, code: true, key: "2024-01-01", name: "Mill" },
      { id: 2.5, code: false, key: "2024-01-02", name: "Weir" },
    ]);
    expect(await (await side.read(path)).choose()).toMatchObject({ key: { name: "name" }, runnersUp: [] });
  });

  test("the choice of a key excludes integers beyond 2^53", async () => {
    const path = side.csv("large.csv", "id,name", ["9007199254740993,Mill", "9007199254740995,Weir"]);
    expect((await (await side.read(path)).choose()).key).toEqual({ by: "property", name: "name" });
    const cast = await side.read(path, { source: { cast: { id: "text" } } });
    expect((await cast.choose()).key).toEqual({ by: "property", name: "id" });
  });

  test("the choice of a key names --cast if integers beyond 2^53 are all there is", async () => {
    const reading = await side.read(
      side.csv("large-only.csv", "id,n", ["9007199254740993,0.5", "9007199254740995,1.5"]),
    );
    const { message } = await refusal(() => reading.choose());
    expect(message).toContain('"id" (2 features have an integer beyond 2^53, which --cast id=text converts to text)');
  });

  test("the choice of a key keeps the key of earlier runs", async () => {
    const reading = await side.read(side.csv("remembered.csv", "id,ref", ["1,A", "2,B"]));
    expect(await reading.choose("ref")).toEqual({
      key: { by: "property", name: "ref" },
      how: "remembered",
      runnersUp: [],
    });
    const error = await refusal(() => reading.choose("reference"));
    expect([error.code, error.kind]).toEqual(["key-field-missing", "input"]);
    expect(error.message).toContain(
      'has no field "reference", which identified the features of this map in earlier runs',
    );
    expect(error.message).toContain("--remote-field");
  });

  test("the choice of a key reports a missing key with the available columns and the closest one", async () => {
    const reading = await side.read(side.csv("missing.csv", "id,reference", ["1,A"]), byField("refernce"));
    const error = await refusal(() => reading.choose());
    expect(error.kind).toBe("input");
    expect(error.message).toMatch(/has no field "refernce"; did you mean "reference"\? It has "id", "reference"/);
  });

  test("the choice of a key lists the best candidates and their defects if none is suitable", async () => {
    const rows = [
      { id: 1, name: "Mill", note: "" },
      { id: 1, name: "Mill", note: "x" },
      { id: null, name: "Mill", note: "y" },
    ];
    const reading = await side.read(side.geojson("none.geojson", rows));
    const error = await refusal(() => reading.choose());
    expect([error.code, error.kind]).toEqual(["key-undecided", "input"]);
    expect(error.message).toContain('"id" (1 feature repeats the value of another, 1 feature has no value)');
    expect(error.message).toContain('"note" (1 feature has an empty text)');
    expect(error.message).toContain('"name" (2 features repeat the value of another)');
    expect(error.message).toContain("--on-duplicate");
  });

  test("the choice of a key uses the map's fields for a source without features", async () => {
    const empty = side.file("empty.geojson", '{"type":"FeatureCollection","features":[]}');
    const reading = await (await side.read(empty)).onMap([{ properties: { title: "x", ref: "A" } }]);
    expect((await reading.choose()).key).toEqual({ by: "property", name: "ref" });
    expect((await (await side.read(empty, byField("anything"))).choose()).key).toEqual({
      by: "property",
      name: "anything",
    });
  });
});
