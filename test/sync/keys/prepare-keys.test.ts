import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { prepareKeys } from "../../../src/sync/keys/prepare-keys.js";
import { byField, type MapFeatureInput, mapId, numbers, refusal, SourceFixture } from "../source-fixture.js";

const side = new SourceFixture();
afterAll(() => side[Symbol.asyncDispose]());

const keyed = (name: string, values: readonly unknown[]): MapFeatureInput[] =>
  values.map((value) => ({ properties: { [name]: value } }));

describe("source keys", () => {
  test("missing keys are rejected with their records", async () => {
    const reading = await side.read(side.csv("nulls.csv", "ref,name", ["A,x", ",y", "C,z", ",w"]), byField("ref"));
    const error = await refusal(() => reading.check());
    expect([error.code, error.kind]).toEqual(["key-invalid", "input"]);
    expect(error.message).toContain(
      '"ref" cannot identify 2 features: record 2: the value is missing; record 4: the value is missing;',
    );
    expect(error.message).toContain("--on-missing-key reject");
  });

  test("record numbers include earlier rejects", async () => {
    const path = side.file(
      "places.geojsonl",
      ['{"ref":"A"}', '{"ref":"B"}', '{"ref":null}']
        .map(
          (p, n) =>
            `{"type":"Feature","properties":${p},"geometry":{"type":"Point","coordinates":[${n === 0 ? 181 : n},5]}}`,
        )
        .join("\n"),
    );
    const error = await refusal(async () => (await side.read(path, byField("ref"))).check());
    expect(error.message).toContain("record 3: the value is missing");
    const filtered = await side.read(path, { ...byField("ref"), source: { where: "ref is null" } });
    expect((await refusal(() => filtered.check())).message).toContain(
      "feature 1 of the selected features: the value is missing",
    );
  });

  test("empty and blank texts are rejected", async () => {
    const path = side.geojson("empties.geojson", [{ ref: "A" }, { ref: "" }, { ref: "  " }]);
    const error = await refusal(async () => (await side.read(path, byField("ref"))).check());
    expect(error.message).toContain(
      '"ref" cannot identify 2 features: record 2: the value is empty; record 3: the value is empty;',
    );
  });

  test("fractions, booleans, nested values and integers beyond 2^53 are rejected", async () => {
    const path = side.geojson("odd.geojson", [{ ref: 1.5 }, { ref: true }, { ref: { a: 1 } }, { ref: 1 }]);
    const error = await refusal(async () => (await side.read(path, byField("ref"))).check());
    expect(error.message).toContain("cannot identify 3 features: record 1: the value is neither text nor an integer");
    const large = side.csv("unsafe.csv", "ref,n", ["9007199254740991,1", "9007199254740993,2"]);
    const unsafe = await refusal(async () => (await side.read(large, byField("ref"))).check());
    expect(unsafe.message).toContain("cannot identify 1 feature: record 2: the value is an integer beyond 2^53");
    expect(unsafe.message).toContain("--cast ref=text");
    const cast = await side.read(large, { ...byField("ref"), source: { cast: { ref: "text" } } });
    await cast.check();
    expect(cast.keys("source")).toEqual(["9007199254740991", "9007199254740993"]);
  });

  test("duplicate keys are rejected with their records", async () => {
    const path = side.csv("twice.csv", "ref,n", ["A,1", "B,2", "A,3", "C,4", "B,5", "A,6"]);
    const error = await refusal(async () => (await side.read(path, byField("ref"))).check());
    expect([error.code, error.kind]).toEqual(["duplicate-key", "input"]);
    expect(error.message).toContain(
      'several features have the same "ref" (5 features in total): "A" in record 1 and record 3 and record 6; "B" in record 2 and record 5;',
    );
  });

  test("a text and a number are the same key", async () => {
    const path = side.geojson("both.geojson", [{ ref: "1" }, { ref: 1 }]);
    expect((await refusal(async () => (await side.read(path, byField("ref"))).check())).code).toBe("duplicate-key");
  });

  test.each([
    ["first", [1, 2]],
    ["last", [3, 2]],
  ] as const)("--on-duplicate keeps the %s feature and reports it", async (onDuplicate, left) => {
    const path = side.csv(`${onDuplicate}.csv`, "ref,n", ["A,1", "B,2", "A,3"]);
    const reading = await side.read(path, { ...byField("ref"), onDuplicate });
    const { removedDuplicates, notices } = await reading.check();
    expect(removedDuplicates).toBe(1);
    expect(notices).toMatchObject([{ code: "duplicate-key-dropped", field: "ref", count: 1 }]);
    expect(reading.features.map(({ properties }) => properties.n).sort()).toEqual([...left].sort());
  });

  test("--on-missing-key rejects features, whose matches on the map are unknown", async () => {
    const rejects = side.path("keyless.rejects.geojsonl");
    const path = side.csv("keyless.csv", "ref,n", ["A,1", ",2", "C,3"]);
    const reading = await side.read(path, { ...byField("ref"), onMissingKey: "reject", source: { rejects } });
    expect(await reading.check()).toMatchObject({ missingKeyRejects: 1, unknownRejects: 1 });
    expect(reading.keys("source")).toEqual(["A", "C"]);
    expect(await reading.source.rejects.publish()).toBe(rejects);
    const [line, ...more] = readFileSync(rejects, "utf8").trim().split("\n");
    expect(more).toEqual([]);
    expect(JSON.parse(line!)).toMatchObject({ properties: { n: 2 }, reject: { code: "key-invalid" } });
  });

  test("keys of rejected features protect their matches on the map", async () => {
    const path = side.geojson("protected.geojson", [{ ref: "A" }, { ref: "B" }, { ref: "C" }]);
    const text = readFileSync(path, "utf8").replace("[10.001,50]", "[10.001,95]").replace("[10,50]", "[400,50]");
    const reading = await side.read(side.file("protected.geojson", text), byField("ref"));
    expect(reading.source).toMatchObject({ features: 3, complete: false });
    expect(await reading.check()).toMatchObject({ unknownRejects: 0 });
    const kept = reading.workspace.database.prepare("SELECT key FROM rejected ORDER BY key").pluck().all();
    expect(kept).toEqual(["A", "B"]);
  });
});

test("the key of a row with unreadable coordinates is known", async () => {
  const path = side.file("nowhere.csv", "ref,lon,lat\n1,1,1\n2,nowhere,2\n3,3,3\n");
  const reading = await side.read(path, byField("ref"));
  expect(await reading.check()).toMatchObject({ unknownRejects: 0 });
  expect(reading.workspace.database.prepare("SELECT key FROM rejected").pluck().all()).toEqual(["2"]);
});

test("an abort stops the key check", async () => {
  const rows = numbers(0, 2500).map((n) => `K${n}`);
  const { request, source, workspace } = await side.read(side.csv("many.csv", "ref", rows), byField("ref"));
  const key = { by: "property", name: "ref" } as const;
  const error = await refusal(() => prepareKeys(request, source, workspace, key, "full", AbortSignal.abort()));
  expect(error.code).toBe("interrupted");
});

describe("keys of both sides", () => {
  test("keys match as text and are sent in the map's type", async () => {
    const reading = await side.read(
      side.geojson("text.geojson", [{ ref: "1" }, { ref: "2" }, { ref: "007" }]),
      byField("ref"),
    );
    await reading.onMap(keyed("ref", [1, 5]));
    expect(await reading.check()).toMatchObject({ mapFeatures: 2, sourceFeatures: 3, matches: 1 });
    expect(reading.keys("source")).toEqual([1, 2, "007"]);
    const other = await side.read(side.csv("number.csv", "ref", ["1", "2"]), byField("ref"));
    await other.onMap(keyed("ref", ["1", "x"]));
    await other.check();
    expect(other.keys("source")).toEqual(["1", "2"]);
  });

  test("keys converted to the map's type make features equal", async () => {
    const reading = await side.read(side.geojson("digest.geojson", [{ ref: "1" }]), byField("ref"));
    await reading.onMap([{ geometry: { type: "Point", coordinates: [10, 50] }, properties: { ref: 1 } }]);
    await reading.check();
    const [source, map] = [reading.workspace.source, reading.workspace.map].map((one) => [...one.rows()][0]!.digest);
    expect(source).toEqual(map);
  });

  test("duplicate keys on the map are reported with ids", async () => {
    const ids = ["8c8d6d2e-0b60-4c55-a5d5-9a10e4e7a001", "8c8d6d2e-0b60-4c55-a5d5-9a10e4e7a002"];
    const reading = await side.read(side.csv("fine.csv", "ref", ["A"]), byField("ref"));
    await reading.onMap(ids.map((id) => ({ id, properties: { ref: "A" } })));
    const error = await refusal(() => reading.check());
    expect([error.code, error.kind]).toEqual(["duplicate-key-on-map", "conflict"]);
    expect(error.message).toContain(`map ${mapId}: several features have the same "ref": "A" on ${ids.join(", ")}`);
    await reading.onMap([
      { id: ids[0]!, properties: { ref: "1" } },
      { id: ids[1]!, properties: { ref: 1 } },
    ]);
    const types = await refusal(() => reading.check());
    expect(types.kind).toBe("conflict");
    expect(types.message).toContain(`"1" (as text and as number) on ${ids.join(", ")}`);
  });

  test.each([
    ["case", "ab-1", "AB-1"],
    ["blanks", "AB-1", "AB-1 "],
    ["accents", "Orléans", "Orle\u0301ans"],
  ])("keys that differ only in %s are rejected in every mode", async (_, ours, theirs) => {
    const reading = await side.read(side.csv("letters.csv", "ref", [ours, "same"]), byField("ref"));
    await reading.onMap(keyed("ref", [theirs, "same"]));
    for (const mode of ["incremental", "full", "delete"] as const) {
      const error = await refusal(() => reading.check(mode));
      expect([error.code, error.kind]).toEqual(["key-case-mismatch", "guard"]);
      expect(error.message).toContain(`${JSON.stringify(ours)} in the source, ${JSON.stringify(theirs)} on the map`);
    }
  });

  test("keys that both sides have in two spellings are valid", async () => {
    const reading = await side.read(side.csv("spelled.csv", "ref", ["a", "A"]), byField("ref"));
    await reading.onMap(keyed("ref", ["A", "a"]));
    expect(await reading.check()).toMatchObject({ matches: 2 });
  });

  const source = (from: number, to: number) =>
    side.read(
      side.csv(
        `from-${from}-to-${to}.csv`,
        "ref",
        numbers(from, to).map((n) => `K${n}`),
      ),
      byField("ref"),
    );
  const map = (from: number, to: number) =>
    keyed(
      "ref",
      numbers(from, to).map((n) => `K${n}`),
    );

  test.each(["incremental", "full"] as const)("too few matches are rejected in %s mode", async (mode) => {
    const reading = await (await source(0, 100)).onMap(map(91, 191));
    const error = await refusal(() => reading.check(mode));
    expect([error.code, error.kind]).toEqual(["key-matches-nothing", "guard"]);
    expect(error.message).toContain(`ref identifies 100 features of map ${mapId} and 100 features of`);
    expect(error.message).toContain(
      'only 9 of them match ("K0", "K1", "K2" in the source; "K91", "K92", "K93" on the map)',
    );
    expect(await (await (await source(0, 100)).onMap(map(90, 190))).check(mode)).toMatchObject({ matches: 10 });
  });

  test("few matches are allowed for small sides, incremental parts and deletes", async () => {
    expect(await (await (await source(0, 9)).onMap(map(100, 200))).check("full")).toMatchObject({ matches: 0 });
    expect(await (await (await source(0, 100)).onMap(map(100, 109))).check("full")).toMatchObject({ matches: 0 });
    expect(await (await (await source(0, 49)).onMap(map(100, 200))).check("incremental")).toMatchObject({ matches: 0 });
    expect((await refusal(async () => (await (await source(0, 49)).onMap(map(100, 200))).check("full"))).kind).toBe(
      "guard",
    );
    expect(await (await (await source(0, 100)).onMap(map(100, 200))).check("delete")).toMatchObject({ matches: 0 });
    expect(await (await (await source(0, 100)).onMap(keyed("title", numbers(0, 100)))).check("full")).toMatchObject({
      mapFeatures: 0,
    });
  });
});

describe("service ids", () => {
  const ids = numbers(0, 3).map((n) => `8c8d6d2e-0b60-4c55-a5d5-9a10e4e7a00${n}`);
  const match = { matching: { by: "id" } } as const;

  test("ids match case-insensitively, and a feature without one is new", async () => {
    const features = [ids[0]!.toUpperCase(), undefined].map((id) => ({
      type: "Feature",
      id,
      properties: {},
      geometry: null,
    }));
    const path = side.file("ids.geojson", JSON.stringify({ type: "FeatureCollection", features }));
    const reading = await (await side.read(path, match)).onMap(ids.map((id) => ({ id, properties: {} })));
    expect(await reading.check()).toMatchObject({ matches: 1, mapFeatures: 3 });
    expect(reading.keys("source")).toEqual([ids[0], null]);
  });

  test("ids are read from the field that replaces them in other formats", async () => {
    const reading = await side.read(side.csv("id-column.csv", "id,name", [`${ids[0]},x`, `${ids[2]},y`, ",z"]), match);
    await reading.onMap(ids.map((id) => ({ id, properties: {} })));
    expect(await reading.check()).toMatchObject({ matches: 2 });
    expect(reading.keys("source")).toEqual([ids[0], ids[2], null]);
    expect(reading.features.map(({ properties }) => properties)).toEqual([{ name: "x" }, { name: "y" }, { name: "z" }]);
  });

  test("ids of rejected features in a field protect their matches on the map", async () => {
    const rows = [`${ids[0]},8,47`, `${ids[1]!.toUpperCase()},nowhere,47`];
    const path = side.file("rejected-ids.csv", `id,lon,lat\n${rows.join("\n")}\n`);
    const reading = await (await side.read(path, match)).onMap(ids.map((id) => ({ id, properties: {} })));
    expect(await reading.check()).toMatchObject({ matches: 2, unknownRejects: 0 });
    expect(reading.workspace.database.prepare("SELECT key FROM rejected").pluck().all()).toEqual([ids[1]]);
  });

  test("a rejected feature whose id the service cannot have assigned is unknown", async () => {
    const features = [ids[0], 5].map((id) => ({ type: "Feature", id, properties: {}, geometry: null }));
    const path = side.file("rejected-number.geojson", JSON.stringify({ type: "FeatureCollection", features }));
    const reading = await side.read(path, { ...match, onMissingKey: "reject" });
    await reading.onMap(ids.map((id) => ({ id, properties: {} })));
    expect(await reading.check()).toMatchObject({ matches: 1, unknownRejects: 1 });
  });

  test("other ids are rejected", async () => {
    const features = [{ type: "Feature", id: 7, properties: {}, geometry: null }];
    const path = side.file("numbers.geojson", JSON.stringify({ type: "FeatureCollection", features }));
    const error = await refusal(async () => (await side.read(path, match)).check());
    expect(error.kind).toBe("input");
    expect(error.message).toContain("record 1: the value is not a UUID");
  });
});
