/** `geoferry diff` with files of several formats. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { geoferry, samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

type Position = readonly number[];
interface GivenFeature {
  readonly at: Position | null;
  readonly id?: number;
  readonly properties: Record<string, unknown>;
}

function write(name: string, features: readonly GivenFeature[]): string {
  const collection = {
    type: "FeatureCollection",
    features: features.map(({ at, id, properties }) => ({
      type: "Feature",
      ...(id === undefined ? {} : { id }),
      geometry: at && { type: "Point", coordinates: at },
      properties,
    })),
  };
  writeFileSync(scratch.path(name), JSON.stringify(collection));
  return name;
}

const run = (...args: readonly string[]) => geoferry(args, { cwd: scratch.folder });

interface DiffResult {
  readonly status: number | null;
  readonly stderr: string;
  readonly layers: readonly Record<string, unknown>[];
  readonly changes: readonly Record<string, unknown>[];
  readonly notices: readonly Record<string, unknown>[];
  readonly summary: Record<string, unknown>;
}

/** With its records, and status 20 if there are differences. */
function diff(...args: readonly string[]): DiffResult {
  const { status, stdout, stderr } = run("diff", ...args, "--json", "--exit-code");
  const records = stdout
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ofType = (type: string) => records.filter((record) => record.type === type);
  return {
    status,
    stderr,
    layers: ofType("layer"),
    changes: ofType("change"),
    notices: ofType("notice"),
    summary: ofType("summary")[0] ?? {},
  };
}

/** "changed 2", "added 9" in order. */
const changesOf = ({ changes }: DiffResult) => changes.map(({ change, key }) => `${change} ${key}`).sort();

const places: readonly GivenFeature[] = [
  { at: [8, 50], properties: { ref: 1, name: "A", height: 10.5 } },
  { at: [9, 50], properties: { ref: 2, name: "B", height: 11 } },
  { at: [10, 50], properties: { ref: 3, name: "C", height: null } },
  { at: null, properties: { ref: 4, name: "D", height: 1 } },
];

beforeAll(() => {
  write("old.geojson", places);
  write("new.geojson", [
    { at: [9, 50], properties: { ref: 2, name: "Bb", height: 11 } },
    // 0.001 degrees north at 50 degrees: `echo "50 10 50.001 10" | geod +ellps=WGS84 -I -F %.4f` of PROJ 9.1.1.
    { at: [10, 50.001], properties: { ref: 3, name: "C" } },
    { at: null, properties: { ref: 4, name: "D", height: 1 } },
    { at: [7, 51], properties: { ref: 5, name: "E", height: 2 } },
  ]);
  run("convert", "old.geojson", "utm.gpkg", "--target-crs", "EPSG:25832");
});

describe("features with a key", () => {
  test("added, removed, changed and moved ones are found, with old and new values and metres", () => {
    const found = diff("old.geojson", "new.geojson");
    expect(found.status).toBe(20);
    expect(changesOf(found)).toEqual(["added 5", "changed 2", "moved 3", "removed 1"]);
    expect(found.changes.find(({ key }) => key === "2")).toMatchObject({
      oldRecord: 2,
      newRecord: 1,
      values: [{ field: "name", old: "B", new: "Bb" }],
    });
    const { movement } = found.changes.find(({ key }) => key === "3") as { movement: { distance: number } };
    expect(movement).toMatchObject({ positions: [1, 1], heightChange: null, new: { coordinates: [10, 50.001] } });
    expect(movement.distance).toBeCloseTo(111.2295, 3);
    expect(found.layers).toMatchObject([{ key: "ref", matchedBy: "field" }]);
    expect(found.summary).toMatchObject({
      differs: true,
      counts: { old: 4, new: 4, equal: 1, added: 1, removed: 1, changed: 1, moved: 1 },
    });
  });

  test("the summary for people goes to stderr, and stdout stays empty", () => {
    const { status, stdout, stderr } = run("diff", "old.geojson", "new.geojson");
    expect([status, stdout]).toEqual([0, ""]);
    expect(stderr).toBe(`old.geojson → new.geojson: differences
  matched by ref, which identifies every feature; --key names another field
  added    1
      + 5
  removed  1
      - 1
  changed  1
      ~ 2: name "B" → "Bb"
  moved    1
      > 3: moved 111.2 m
  equal    1
`);
  });

  test("a feature that the other side has with the same key twice is reported, and equal ones are pairs", () => {
    write("twice.geojson", [
      places[0]!,
      { ...places[0]!, properties: { ref: 1, name: "other", height: 1 } },
      places[1]!,
    ]);
    const found = diff("old.geojson", "twice.geojson", "--key", "ref");
    expect(changesOf(found)).toEqual(["added 1", "removed 3", "removed 4"]);
    expect(found.notices).toMatchObject([{ code: "duplicate-key-paired", field: "ref", count: 1 }]);
    const both = diff("twice.geojson", "twice.geojson", "--key", "ref");
    expect(both.status).toBe(0);
  });

  test("several features with the same key on both sides are pairs in their order", () => {
    const three = (values: readonly number[]) =>
      values.map((height) => ({ at: [1, 2], properties: { ref: 1, height } }));
    write("three-a.geojson", three([1, 2, 3]));
    write("three-b.geojson", three([2, 10, 30]));
    const found = diff("three-a.geojson", "three-b.geojson", "--key", "ref");
    expect(found.changes.map(({ change, values }) => [change, values])).toEqual([
      ["changed", [{ field: "height", old: 1, new: 10 }]],
      ["changed", [{ field: "height", old: 3, new: 30 }]],
    ]);
  });

  test("features without a key are matched by content, which is reported", () => {
    write("null-a.geojson", [places[0]!, { at: [1, 1], properties: { ref: null, name: "x" } }]);
    write("null-b.geojson", [places[0]!, { at: [1, 1], properties: { ref: null, name: "y" } }]);
    const found = diff("null-a.geojson", "null-b.geojson", "--key", "ref");
    expect(changesOf(found)).toEqual(["changed null"]);
    expect(found.notices.map(({ code, count }) => [code, count])).toEqual([
      ["key-missing", 1],
      ["key-missing", 1],
    ]);
  });

  test("a number matches the same number as text, but not with zeros in front", () => {
    write("number.geojson", [{ at: [1, 1], properties: { ref: 7, name: "a" } }]);
    write("text.geojson", [{ at: [1, 1], properties: { ref: "7", name: "b" } }]);
    write("zeros.geojson", [{ at: [1, 1], properties: { ref: "007", name: "a" } }]);
    const found = diff("number.geojson", "text.geojson", "--key", "ref");
    expect(changesOf(found)).toEqual(["changed 7"]);
    expect(found.changes[0]!.values).toEqual([{ field: "name", old: "a", new: "b" }]);
    expect(found.layers[0]!.fields).toEqual([{ field: "ref", change: "type", old: "int32", new: "text" }]);
    expect(changesOf(diff("number.geojson", "zeros.geojson", "--key", "ref"))).toEqual(["added 007", "removed 7"]);
  });

  test("the ids of features are a key on request, and if equal features keep them", () => {
    const shape = (id: number, name: string): GivenFeature => ({ id, at: [id, 1], properties: { name } });
    write("ids-a.geojson", [shape(1, "a"), shape(2, "a"), shape(3, "a")]);
    write("ids-b.geojson", [shape(1, "a"), { ...shape(2, "b"), at: [50, 1] }, shape(3, "a")]);
    const found = diff("ids-a.geojson", "ids-b.geojson");
    expect(found.layers).toMatchObject([{ key: "id", matchedBy: "id" }]);
    expect(changesOf(found)).toEqual(["changed 2"]);
    const renumbered = [1, 2, 3].map((id) => ({ ...shape(id, "a"), id: id + 100 }));
    write("ids-c.geojson", renumbered);
    expect(diff("ids-a.geojson", "ids-c.geojson").status).toBe(0);
    expect(changesOf(diff("ids-a.geojson", "ids-c.geojson", "--match", "id"))).toHaveLength(6);
    expect(changesOf(diff("ids-a.geojson", "ids-c.geojson", "--key", "id"))).toHaveLength(6);
  });
});

test("one thread and several give the same records", () => {
  const records = (workers: string) => run("diff", "old.geojson", "new.geojson", "--json", "--workers", workers).stdout;
  expect(records("1")).toContain('"differs":true');
  expect(records("2")).toBe(records("1"));
});

describe("features without a key", () => {
  const tree = (x: number, kind: string, note = ""): GivenFeature => ({ at: [x, 1], properties: { kind, note } });

  test("the same geometry is a change of attributes, and the same attributes are a movement, if only one feature has them", () => {
    write("trees-a.geojson", [tree(1, "oak"), tree(2, "oak"), tree(3, "ash", "x"), tree(4, "fir")]);
    write("trees-b.geojson", [tree(4, "fir"), tree(1, "oak"), tree(2, "elm"), tree(3.5, "ash", "x")]);
    const found = diff("trees-a.geojson", "trees-b.geojson", "--match", "content");
    expect(found.layers).toMatchObject([{ key: null, matchedBy: "content" }]);
    expect(found.changes.map(({ change, oldRecord, newRecord }) => [change, oldRecord, newRecord])).toEqual([
      ["changed", 2, 3],
      ["moved", 3, 4],
    ]);
  });

  test("several candidates are no pair", () => {
    write("oaks-a.geojson", [tree(1, "oak"), tree(2, "oak")]);
    write("oaks-b.geojson", [tree(8, "oak"), tree(9, "oak")]);
    const found = diff("oaks-a.geojson", "oaks-b.geojson");
    expect(found.summary.counts).toMatchObject({ added: 2, removed: 2, moved: 0, equal: 0 });
  });

  test("duplicates are counted", () => {
    write("dup-a.geojson", [tree(1, "oak"), tree(1, "oak"), tree(1, "oak")]);
    write("dup-b.geojson", [tree(1, "oak")]);
    expect(diff("dup-a.geojson", "dup-b.geojson").summary.counts).toMatchObject({ removed: 2, equal: 1 });
  });
});

describe("fields and systems", () => {
  test("added and removed fields are differences, and the features are compared by the others", () => {
    write("fields-a.geojson", places);
    write(
      "fields-b.geojson",
      places.map(({ at, properties: { name: _, ...others } }) => ({ at, properties: { ...others, extra: true } })),
    );
    const found = diff("fields-a.geojson", "fields-b.geojson");
    expect(found.layers[0]!.fields).toEqual([
      { field: "name", change: "removed", old: "text", new: null },
      { field: "extra", change: "added", old: null, new: "boolean" },
    ]);
    expect([found.status, found.changes.length]).toEqual([20, 0]);
    expect(diff("fields-a.geojson", "fields-b.geojson", "--ignore", "name,extra").status).toBe(0);
  });

  test("--ignore leaves out a field, and --precision decimals", () => {
    write("shifted.geojson", [
      { at: [8.00004, 50], properties: { ref: 1, name: "A", height: 12 } },
      ...places.slice(1),
    ]);
    expect(changesOf(diff("old.geojson", "shifted.geojson"))).toEqual(["changed 1"]);
    expect(changesOf(diff("old.geojson", "shifted.geojson", "--ignore", "height"))).toEqual(["moved 1"]);
    expect(diff("old.geojson", "shifted.geojson", "--ignore", "height", "--precision", "4").status).toBe(0);
  });

  test("a coordinate on the border between two rounded numbers does not move", () => {
    write("border-a.geojson", [{ at: [8.000000049999, 50], properties: { ref: 1 } }]);
    write("border-b.geojson", [{ at: [8.000000050001, 50], properties: { ref: 1 } }]);
    expect(diff("border-a.geojson", "border-b.geojson").status).toBe(0);
    expect(diff("border-a.geojson", "border-b.geojson", "--match", "content").status).toBe(0);
  });

  test("another height is a movement, with its change", () => {
    write("high-a.geojson", [{ at: [8, 50, 100], properties: { ref: 1 } }]);
    write("high-b.geojson", [{ at: [8, 50, 97.5], properties: { ref: 1 } }]);
    const found = diff("high-a.geojson", "high-b.geojson");
    expect(found.changes).toMatchObject([{ change: "moved", movement: { distance: 0, heightChange: -2.5 } }]);
    expect(run("diff", "high-a.geojson", "high-b.geojson").stderr).toContain("> 1: height −2.5 m\n");
  });

  test("another reference system is a difference, and the features are the same", () => {
    const found = diff("old.geojson", "utm.gpkg");
    expect(found.layers).toMatchObject([{ crs: { old: "EPSG:4326", new: "EPSG:25832", relation: "different" } }]);
    expect([found.status, found.changes.length, found.summary.counts]).toEqual([
      20,
      0,
      { old: 4, new: 4, equal: 4, added: 0, removed: 0, changed: 0, moved: 0 },
    ]);
  });

  test("a side without a reference system is in degrees by the range of its coordinates, or in that of the other side", () => {
    run("convert", "utm.gpkg", "utm.csv", "--target-crs", "EPSG:25832", "--overwrite");
    run("convert", "utm.gpkg", "degrees.csv", "--overwrite");
    for (const table of ["utm.csv", "degrees.csv"]) {
      const found = diff("utm.gpkg", table, ...(table === "utm.csv" ? ["--new-source-crs", "EPSG:25832"] : []));
      expect([table, found.status, changesOf(found)]).toEqual([table, 0, []]);
    }
    expect(diff("utm.gpkg", "degrees.csv").notices).toContainEqual(expect.objectContaining({ code: "crs-assumed" }));
  });
});

describe("formats", () => {
  const mixed: readonly GivenFeature[] = [1, 2, 3, 4].map((i) => ({
    at: [i, i],
    properties: {
      ref: i,
      code: `00${i}`,
      digits: String(i),
      ratio: i / 3,
      day: `2026-01-0${i}`,
      moment: `2026-01-0${i}T10:00:00Z`,
      yes: i % 2 === 0,
      empty: i % 2 === 0 ? "" : null,
      padded: "x ",
    },
  }));

  test("a conversion to any format has no differences", () => {
    write("mixed.geojson", mixed);
    expect(
      run("convert", "mixed.geojson", "mixed.gpkg", "--overwrite", "--cast", "day=date,moment=datetime").status,
    ).toBe(0);
    for (const name of ["copy.csv", "copy.geojsonl", "copy.geojson", "copy.kml", "copy.parquet", "copy.gpkg"]) {
      expect(run("convert", "mixed.gpkg", name, "--overwrite").status).toBe(0);
      const found = diff("mixed.gpkg", name);
      expect([name, found.status, found.layers[0]!.fields, changesOf(found)]).toEqual([name, 0, [], []]);
      expect([name, diff(name, "mixed.gpkg").status]).toEqual([name, 0]);
    }
  });

  test("a Shapefile does not differ in what a .dbf cannot hold", () => {
    expect(run("convert", "mixed.gpkg", "mixed.shp", "--overwrite").status).toBe(0);
    const found = diff("mixed.gpkg", "mixed.shp");
    expect([found.status, found.layers[0]!.fields, changesOf(found)]).toEqual([0, [], []]);
    // The ids of the GeoPackage became a field.
    expect(found.notices).toContainEqual(expect.objectContaining({ code: "id-as-field", field: "id" }));
  });

  test("every sample equals itself", () => {
    for (const name of ["shapefile/parks.shp", "geojson/places.geojson"].map((path) => `${samples}/${path}`)) {
      if (!existsSync(name)) continue;
      expect([name, diff(name, name).status]).toEqual([name, 0]);
    }
  });

  test("a file without features has no fields to miss", () => {
    write("empty.geojson", []);
    expect(diff("empty.geojson", "empty.geojson").status).toBe(0);
    const found = diff("empty.geojson", "old.geojson");
    expect(found.layers[0]!.fields).toEqual([]);
    expect(found.summary.counts).toMatchObject({ old: 0, added: 4 });
  });

  test("stdin is one side", () => {
    const input = readFileSync(scratch.path("old.geojson"));
    const { status, stderr } = geoferry(["diff", "-", "new.geojson", "--exit-code"], { cwd: scratch.folder, input });
    expect([status, stderr.split("\n")[0]]).toEqual([20, "- → new.geojson: differences"]);
    expect(run("diff", "-", "-").status).toBe(2);
  });
});

describe("layers", () => {
  test("are paired by name, and others are differences with all their features", () => {
    const layered = (name: string, layers: Readonly<Record<string, readonly GivenFeature[]>>) => {
      for (const [layer, features] of Object.entries(layers)) {
        write("layer.geojson", features);
        const how = existsSync(scratch.path(name)) ? "--append" : "--overwrite";
        expect(run("convert", "layer.geojson", name, how, "--layer-name", layer).status).toBe(0);
      }
    };
    layered("layers-a.gpkg", { roads: places, parks: places });
    layered("layers-b.gpkg", { parks: places.slice(1), lakes: places.slice(0, 2) });
    const found = diff("layers-a.gpkg", "layers-b.gpkg");
    expect(found.layers.map(({ layer, old, new: recent }) => [layer, old, recent])).toEqual([
      ["parks", "parks", "parks"],
      ["roads", "roads", null],
      ["lakes", null, "lakes"],
    ]);
    expect(found.changes.map(({ layer, change }) => `${layer} ${change}`).sort()).toEqual([
      ...Array(2).fill("lakes added"),
      "parks removed",
      ...Array(4).fill("roads removed"),
    ]);
    const chosen = diff("layers-a.gpkg", "layers-b.gpkg", "--old-layer", "roads", "--new-layer", "parks");
    expect(changesOf(chosen)).toEqual(["removed 1"]);
    const text = run("diff", "layers-a.gpkg", "layers-b.gpkg").stderr;
    expect(text).toContain("layer roads: only in layers-a.gpkg\n");
  });

  test("--where limits both sides, --old-where and --new-where one", () => {
    expect(changesOf(diff("old.geojson", "new.geojson", "--where", "ref = 2"))).toEqual(["changed 2"]);
    expect(
      changesOf(diff("old.geojson", "new.geojson", "--old-where", "ref = 2", "--new-where", "ref > 3", "--key", "ref")),
    ).toEqual(["added 4", "added 5", "removed 2"]);
  });
});

describe("-o", () => {
  test("writes each change with old and new values in their types", () => {
    const { status, stderr } = run("diff", "old.geojson", "new.geojson", "-o", "changes.gpkg");
    expect([status, stderr.includes("changes.gpkg: 4 features in EPSG:4326")]).toEqual([0, true]);
    run("convert", "changes.gpkg", "changes.geojson", "--overwrite");
    const { features } = JSON.parse(readFileSync(scratch.path("changes.geojson"), "utf8")) as {
      features: { geometry: unknown; properties: Record<string, unknown> }[];
    };
    const byKey = new Map(features.map((feature) => [feature.properties.key, feature]));
    expect(byKey.get("2")!.properties).toMatchObject({
      change: "changed",
      changed: "name",
      name_old: "B",
      name_new: "Bb",
      ref_old: 2,
    });
    expect(byKey.get("3")).toMatchObject({
      geometry: { coordinates: [10, 50.001] },
      properties: { change: "moved", changed: "geometry", old_geometry: "POINT (10 50)" },
    });
    expect(byKey.get("3")!.properties.distance).toBeCloseTo(111.2295, 3);
    expect(byKey.get("1")).toMatchObject({
      geometry: { coordinates: [8, 50] },
      properties: { change: "removed", height_old: 10.5, old_record: 1 },
    });
    expect(byKey.get("1")!.properties.name_new ?? null).toBeNull();
    expect(byKey.get("5")!.properties).toMatchObject({ change: "added", name_new: "E" });
  });

  test("replaces no file unless asked, and reports what the format cannot hold", () => {
    const again = run("diff", "old.geojson", "new.geojson", "-o", "changes.gpkg");
    expect([again.status, again.stderr]).toEqual([
      2,
      "geoferry: changes.gpkg: exists already; use --overwrite to replace it\n",
    ]);
    expect(run("diff", "old.geojson", "new.geojson", "-o", "changes.gpkg", "--overwrite").status).toBe(0);
    const { stderr } = run("diff", "old.geojson", "new.geojson", "-o", "changes.shp");
    expect(stderr).toContain("lost field-renamed of height_change");
    expect(run("diff", "old.geojson", "new.geojson", "-o", "changes.unknown").status).toBe(2);
    expect(existsSync(scratch.path("changes.unknown"))).toBe(false);
  });

  test("keeps the reference system of the inputs, and writes to stdout", () => {
    run("convert", "new.geojson", "new-utm.gpkg", "--target-crs", "EPSG:25832", "--overwrite");
    const { stderr } = run("diff", "utm.gpkg", "new-utm.gpkg", "-o", "utm-changes.gpkg");
    expect(stderr).toContain("utm-changes.gpkg: 4 features in EPSG:25832");
    const { stdout } = run("diff", "old.geojson", "new.geojson", "-o", "-", "--to", "csv", "-q");
    expect(stdout.split("\n")[0]).toBe(
      "wkt,change,key,changed,distance,height_change,old_record,new_record,old_geometry,ref_old,ref_new,name_old,name_new,height_old,height_new",
    );
    expect(run("diff", "old.geojson", "new.geojson", "-o", "-", "--to", "csv", "--json").status).toBe(2);
  });
});

describe("faults", () => {
  test("a feature that cannot be read is not compared, and the run ends with 5", () => {
    writeFileSync(
      scratch.path("bad.geojson"),
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":["x"]},"properties":{"ref":1,"name":"A","height":10.5}}]}',
    );
    const { status, summary } = diff("old.geojson", "bad.geojson");
    expect([status, summary.rejected]).toEqual([5, 1]);
    expect(run("diff", "old.geojson", "bad.geojson").stderr).toMatch(
      / {2}1 feature not compared, the first because .+; geoferry check lists them\n/,
    );
  });

  test.each([
    [["old.geojson"], "diff compares two inputs"],
    [["old.geojson", "new.geojson", "x.geojson"], "diff compares two inputs"],
    [["old.geojson", "new.geojson", "--key", "nope"], 'no field "nope"'],
    [["old.geojson", "new.geojson", "--key", "ref", "--match", "id"], "exclude each other"],
    [["old.geojson", "new.geojson", "--match", "id"], "have no ids"],
    [["old.geojson", "new.geojson", "--match", "key"], "id or content"],
    [["old.geojson", "new.geojson", "--precision", "16"], "from 0 to 15"],
    [["old.geojson", "missing.geojson"], "there is no such file"],
  ])("%j says why", (args, why) => {
    const { status, stderr } = run("diff", ...args);
    expect(stderr).toContain(why);
    expect([2, 3]).toContain(status);
  });
});

test("a pattern may name one input of each side, but not several", () => {
  for (const name of ["old-1.geojson", "new-1.geojson", "new-2.geojson"])
    write(name, [{ at: [1, 2], properties: { name } }]);
  expect(diff("old-*.geojson", "new-1*").summary).toMatchObject({
    old: "old-1.geojson",
    new: "new-1.geojson",
    counts: { changed: 1 },
  });
  const several = run("diff", "old-1.geojson", "new-*.geojson");
  expect([several.status, several.stderr]).toEqual([
    2,
    "geoferry: new-*.geojson names 2 inputs (new-1.geojson, new-2.geojson), but diff compares one input with another: name one of them\n",
  ]);
});
