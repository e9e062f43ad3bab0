/** `info --stats` against SQLite and values computed by hand. */
import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { inspect as inspectInLibrary } from "../../src/index.js";
import { type InspectRequest, inspect } from "../../src/pipeline/inspect.js";
import { TemporaryFolder } from "../../src/testing/index.js";
import { geoferry } from "../support/command.js";
import { createTestHost } from "../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

function file(extension: string, text: string): string {
  const path = scratch.path(`f${files++}.${extension}`);
  writeFileSync(path, text);
  return path;
}

const collect = async (path: string, request: Partial<InspectRequest> = {}) => {
  const { layers } = await inspect(
    { inputs: [path], workers: 1, statistics: true, ...request },
    createTestHost(),
    false,
  );
  return layers[0]!.statistics!;
};

const fieldsOf = async (path: string, request: Partial<InspectRequest> = {}) => {
  const { fields } = await collect(path, request);
  return Object.fromEntries(fields.map((field) => [field.name, field]));
};

const geojson = (features: readonly { readonly properties?: object | null; readonly geometry?: unknown }[]): string =>
  JSON.stringify({
    type: "FeatureCollection",
    features: features.map(({ properties = null, geometry = null }) => ({ type: "Feature", properties, geometry })),
  });

describe("numbers and texts", () => {
  const rows = Array.from({ length: 4000 }, (_, k) => ({
    number: k % 7 === 0 ? null : ((k * k) % 1013) - 300,
    share: ((k * 37) % 4001) / 8,
    word: ["Ä", "z", "beta", "alpha", "日本"][(k * k) % 5]!,
  }));
  const path = file("geojson", geojson(rows.map((properties) => ({ properties }))));
  const database = new Database(":memory:");
  database.exec("create table t (number integer, share real, word text)");
  const insert = database.prepare("insert into t values (?, ?, ?)");
  for (const { number, share, word } of rows) insert.run(number, share, word);
  const query = (sql: string) => database.prepare(sql).raw().all() as unknown[][];

  it.each(["number", "share", "word"])("counts, minimum and maximum of %s are those of SQLite", async (name) => {
    const field = (await fieldsOf(path))[name]!;
    const [row] = query(
      `select count("${name}"), count(*) - count("${name}"), count(distinct "${name}"), min("${name}"), max("${name}") from t`,
    );
    const { values, nulls, distinct, min, max } = field;
    expect([values, nulls, distinct.count, min, max]).toEqual(row);
    expect(distinct.exact).toBe(true);
  });

  it.each(["number", "share"])("mean and quantiles of %s are those of SQLite", async (name) => {
    const field = (await fieldsOf(path))[name]!;
    expect(field.mean).toBeCloseTo(query(`select avg("${name}") from t`)[0]![0] as number, 10);
    for (const percent of [5, 25, 50, 75, 95] as const) {
      const offset = Math.ceil((percent * field.values) / 100) - 1;
      const [[expected]] = query(
        `select "${name}" from t where "${name}" is not null order by 1 limit 1 offset ${offset}`,
      ) as [[number]];
      expect(field.quantiles?.values[`${percent}`]).toBe(expected);
    }
    expect(field.quantiles?.exact).toBe(true);
    expect(field.histogram?.reduce((sum, count) => sum + count)).toBe(field.values);
  });

  it("frequent values are those of SQLite", async () => {
    const { frequent } = (await fieldsOf(path)).word!;
    const expected = query("select word, count(*) from t group by 1 order by 2 desc, min(rowid)");
    expect(frequent.values.map(({ value, count }) => [value, count])).toEqual(expected);
    expect(frequent).toMatchObject({ exact: true, countError: 0 });
  });

  it("--where and --select restrict the statistics", async () => {
    const { fields } = await collect(path, { where: "number > 500", select: ["share"] });
    const [row] = query("select count(*), min(share), max(share) from t where number > 500");
    expect(fields.map(({ name }) => name)).toEqual(["share"]);
    expect([fields[0]!.values, fields[0]!.min, fields[0]!.max]).toEqual(row);
  });

  it("a field that does not exist is an error", async () => {
    await expect(collect(path, { where: "missing = 1" })).rejects.toMatchObject({ code: "field-missing" });
    await expect(collect(path, { select: ["missing"] })).rejects.toMatchObject({ code: "field-missing" });
  });
});

describe("special values", () => {
  it("integers beyond 2^53 keep their digits", async () => {
    const text = [1, 2, 2].map(
      (last) => `{"type":"Feature","geometry":null,"properties":{"n":900719925474099${last + 1}}}`,
    );
    const { n } = await fieldsOf(file("geojson", `{"type":"FeatureCollection","features":[${text.join(",")}]}`));
    expect(n).toMatchObject({ type: "int64", distinct: { count: 2, exact: true }, key: "no" });
    expect([n!.min, n!.max]).toEqual(["9007199254740992", "9007199254740993"]);
    expect(n!.frequent.values).toEqual([
      { value: "9007199254740993", count: 2 },
      { value: "9007199254740992", count: 1 },
    ]);
  });

  it("numbers of several types are the same values: 1, 1.0 and 2.5", async () => {
    const features = [1, 2.5, 1, -0, 0].map((n) => ({ properties: { n } }));
    const { n } = await fieldsOf(file("geojson", geojson(features)));
    expect(n).toMatchObject({ type: "double", distinct: { count: 3 }, min: 0, max: 2.5, mean: 0.9 });
  });

  it("numbers whose sum is beyond doubles have no mean", async () => {
    const { n } = await fieldsOf(file("geojson", geojson([1e308, 1e308].map((n) => ({ properties: { n } })))));
    expect(n).toMatchObject({ max: 1e308, notFinite: 0, mean: null });
  });

  it("values of mixed types are counted by type", async () => {
    const features = [1, "1", "1", true, { a: 1 }, null].map((v) => ({ properties: { v } }));
    const { v } = await fieldsOf(file("geojson", geojson(features)));
    expect(v).toMatchObject({ type: "json", values: 5, nulls: 1, distinct: { count: 4 }, min: null, mean: null });
    expect(v!.frequent.values[0]).toEqual({ value: "1", count: 2 });
    // Neither the boolean nor the number is a text.
    expect(v!.longest).toEqual({ text: '{"a":1}', characters: 7, bytes: 7 });
  });

  it("dates are ordered by time, and a field of nulls has no values", async () => {
    const { day, none } = await fieldsOf(file("csv", "day,none\n2024-03-01,\n1999-12-31,\n2024-02-29,\n"));
    expect(day).toMatchObject({ type: "date", min: "1999-12-31", max: "2024-03-01", mean: null, key: "yes" });
    expect(none).toMatchObject({ values: 0, nulls: 3, min: null, max: null, quantiles: null, key: "no" });
    expect(none!.distinct).toEqual({ count: 0, exact: true, standardError: 0 });
  });

  it("columns of a large CSV that stop being numbers or dates in the last row are counted as what they are", async () => {
    const lines = ["number,day,wide,quoted,line"];
    for (let k = 0; k < 40_000; k++) {
      const quoted = k % 4 === 0 ? "" : k % 4 === 1 ? '""' : `"x, ""${k % 7}"""`;
      lines.push(`${k % 5000},2020-01-0${1 + (k % 9)},${k % 9},${quoted},"a\nb"`);
    }
    lines.push("n/a,later,9007199254740993,plain,");
    for (const [end, workers] of [
      ["\n", 1],
      ["\r\n", 1],
      ["\n", 2],
    ] as const) {
      const { number, day, wide, quoted, line } = await fieldsOf(file("csv", lines.join(end) + end), { workers });
      expect(number).toMatchObject({ type: "text", values: 40_001, nulls: 0, distinct: { count: 5001, exact: true } });
      expect([number!.min, number!.max, number!.mean]).toEqual(["0", "n/a", null]);
      expect(day).toMatchObject({ type: "text", distinct: { count: 10 }, min: "2020-01-01", max: "later" });
      expect(wide).toMatchObject({ type: "int64", distinct: { count: 10 }, min: 0, max: "9007199254740993" });
      // An empty cell is a null, and an empty text between quotes is a text.
      expect(quoted).toMatchObject({ type: "text", nulls: 10_000, distinct: { count: 9 }, min: "", max: 'x, "6"' });
      expect(quoted!.frequent.values[0]).toEqual({ value: "", count: 10_000 });
      expect(line).toMatchObject({ values: 40_000, nulls: 1, distinct: { count: 1 }, max: "a\nb" });
    }
  });

  it("the longest text has its length in characters and bytes", async () => {
    const { t } = await fieldsOf(
      file("geojson", geojson([{ properties: { t: "日本語" } }, { properties: { t: "abcd" } }])),
    );
    expect(t!.longest).toEqual({ text: "日本語", characters: 3, bytes: 9 });
  });

  it("a layer without features has no statistics but its fields", async () => {
    const path = file("csv", "a,b\n");
    const { fields, geometry } = await collect(path);
    expect(fields.map(({ name, values, nulls, key }) => [name, values, nulls, key])).toEqual([
      ["a", 0, 0, "no"],
      ["b", 0, 0, "no"],
    ]);
    expect(geometry).toMatchObject({ types: {}, nulls: 0, vertices: 0, length: null, area: null });
  });
});

describe("geometries", () => {
  const square = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
    [0, 0],
  ];
  const hole = [
    [0.4, 0.4],
    [0.4, 0.6],
    [0.6, 0.6],
    [0.6, 0.4],
    [0.4, 0.4],
  ];
  const geometries = [
    { type: "Point", coordinates: [0, 0] },
    { type: "Point", coordinates: [-0, 0] },
    { type: "Point", coordinates: [0, 0, 5] },
    { type: "MultiPoint", coordinates: [] },
    {
      type: "LineString",
      coordinates: [
        [0, 0],
        [0, 1],
      ],
    },
    { type: "Polygon", coordinates: [square, hole] },
    {
      type: "GeometryCollection",
      geometries: [
        { type: "Point", coordinates: [3, 3] },
        {
          type: "LineString",
          coordinates: [
            [0, 0],
            [1, 0],
          ],
        },
      ],
    },
    null,
  ];
  const path = file("geojson", geojson(geometries.map((geometry) => ({ geometry }))));

  it("are counted by type, with vertices, parts, holes, empty and equal ones", async () => {
    const { geometry } = await collect(path);
    expect(geometry).toMatchObject({
      types: { Point: 3, LineString: 1, Polygon: 1, MultiPoint: 1, GeometryCollection: 1 },
      nulls: 1,
      empty: 1,
      vertices: 3 + 2 + 10 + 3,
      parts: 3 + 1 + 1 + 2,
      holes: 1,
      duplicates: { count: 1, exact: true },
      unmeasured: 0,
    });
  });

  it("length and area are those of PROJ", async () => {
    const { geometry } = await collect(path);
    // `geod +ellps=WGS84 -I` from 0 0 to 1 0 (110574.38856 m) and to 0 1 (111319.49079 m).
    expect(geometry.length).toBeCloseTo(110_574.38856 + 111_319.49079, 3);
    // pyproj, Geod(ellps="WGS84").polygon_area_perimeter: the square, then the hole.
    expect(geometry.area! / (12_308_778_361.469452 - 492_344_897.3956555)).toBeCloseTo(1, 9);
  });

  it("are measured on the Earth also in projected coordinates, and not without a reference system", async () => {
    const line = 'id,wkt\n1,"LINESTRING (500000 5000000, 500000 5001000)"\n';
    const utm = await collect(file("csv", line), { sourceCrs: "EPSG:32632" });
    // The scale of UTM on its central meridian is 0.9996.
    expect(utm.geometry.length! / (1000 / 0.9996)).toBeCloseTo(1, 6);
    const unknown = await collect(file("csv", line));
    expect(unknown.geometry).toMatchObject({ length: null, unmeasured: 1 });
  });
});

describe("the library", () => {
  it("inspect has statistics on request, and refuses unknown options", async () => {
    const path = file("csv", "a\n1\n2\n");
    const [layer] = (await inspectInLibrary({ inputs: [path], statistics: true })).layers;
    expect(layer!.statistics!.fields[0]).toMatchObject({ name: "a", values: 2, mean: 1.5 });
    expect((await inspectInLibrary({ inputs: [path] })).layers[0]!.statistics).toBeUndefined();
    const misspelled = { inputs: [path], statistic: true } as unknown as InspectRequest;
    await expect(inspectInLibrary(misspelled)).rejects.toMatchObject({ code: "option-unknown" });
  });
});

describe("the command", () => {
  const lines = ["id,lon,lat,word,number"];
  for (let k = 0; k < 60_000; k++)
    lines.push(`${k},${(k % 360) - 179.5},${(k % 170) - 84.75},word ${(k * 7919) % 31_000},${(k * k) % 99_991}`);
  const large = file("csv", `${lines.join("\n")}\n`);

  it("has the same result for 1, 2 and 3 threads", () => {
    const [one, two, three] = [1, 2, 3].map((workers) => {
      const { status, stdout } = geoferry(["info", large, "--stats", "--json", "--workers", String(workers)]);
      expect(status).toBe(0);
      return stdout;
    });
    expect(two).toBe(one);
    expect(three).toBe(one);
    const { fields } = JSON.parse(one!.split("\n")[0]!).statistics;
    expect(fields[0]).toMatchObject({ name: "id", distinct: { count: 60_000, exact: true }, key: "yes" });
    expect(Math.abs(fields[1].distinct.count / 31_000 - 1)).toBeLessThan(0.03);
  });

  it("escapes names and values that would control the terminal, and fits its width", () => {
    const hostile = "\u001b[31mred\u0007\n";
    const path = file("geojson", geojson([{ properties: { [hostile]: hostile, __proto: 1, ["__proto__"]: 2 } }]));
    for (const flags of [["--stats"], ["--head", "1"]]) {
      const { status, stdout } = geoferry(["info", path, ...flags], { env: { COLUMNS: "60" } });
      expect(status).toBe(0);
      expect(stdout).toContain("\\u001b");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not be there
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
      const [, ...rest] = stdout.trimEnd().split("\n");
      expect(rest.filter((line) => [...line].length > 60 && !/^ {2}\w+ {2,}/.test(line))).toEqual([]);
    }
  });

  it("--head shows the first features and reads no more of the input than it needs", () => {
    const { status, stdout } = geoferry(["info", large, "--head", "2", "--select", "id,word", "--where", "id >= 3"]);
    expect(status).toBe(0);
    expect(stdout.split("\n").slice(1)).toEqual([
      "  #  geometry               id  word",
      "  1  POINT (-176.5 -81.75)   3  word 23757",
      "  2  POINT (-175.5 -80.75)   4  word 676",
      "",
    ]);
    const damaged = file(
      "geojsonl",
      `${'{"type":"Feature","geometry":null,"properties":{"a":1}}\n'.repeat(3000)}damage`,
    );
    expect(geoferry(["info", damaged, "--head", "1"]).stdout).toContain("\n  1            1\n");
  });

  it("--head --json prints a record for each feature", () => {
    const { stdout } = geoferry(["info", large, "--head", "1", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "feature",
      input: large,
      feature: { geometry: { type: "Point", coordinates: [-179.5, -84.75] }, properties: { id: 0, word: "word 0" } },
    });
  });

  it("--head prints the notes of the reader", () => {
    const path = scratch.path("latin.csv");
    writeFileSync(path, Buffer.from("name\nK\u00f6ln\n", "latin1"));
    const { stdout, stderr } = geoferry(["info", path, "--head", "1"]);
    expect(stdout).toContain("Köln");
    expect(stderr).toContain("note encoding-assumed");
  });

  it("has statistics of the first thousand fields of a layer, and says how many more there are", () => {
    const names = Array.from({ length: 1200 }, (_, k) => `f${k}`);
    const path = file("csv", `${names.join(",")}\n${names.map((_, k) => k).join(",")}\n`);
    const { status, stdout } = geoferry(["info", path, "--stats"]);
    expect(status).toBe(0);
    expect(stdout).toContain("\n    … 200 more fields; --select chooses fields\n");
    expect(geoferry(["info", path, "--stats", "--select", "f1199"]).stdout).toMatch(/ {4}f1199 +int32 +1 +0 +1 +1,199/);
  });

  it("refuses --head 0", () => {
    expect(geoferry(["info", large, "--head", "0"])).toMatchObject({ status: 2 });
  });
});
