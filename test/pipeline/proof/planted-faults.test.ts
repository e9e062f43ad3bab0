/** Writers with one planted mistake each: the conversion succeeds without `verify`, and fails with it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtins } from "../../../plugins/index.js";
import { exitStatus } from "../../../src/cli/exit.js";
import type { Feature } from "../../../src/model/index.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { Registry } from "../../../src/plugin/registry.js";
import { type Fault, withFault } from "../../support/formats/faulty-format.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const square = (x: number, y: number, size: number, clockwise = false) => {
  const ring = [
    [x, y],
    [x + size, y],
    [x + size, y + size],
    [x, y + size],
    [x, y],
  ];
  return clockwise ? ring.reverse() : ring;
};

/** A polygon with a hole, a polygon of two parts, one of one part, a line with heights, and a point. */
const shapes = (n: number): Feature["geometry"][] => {
  const x = 7 + (n % 50) / 10;
  const y = 46 + Math.floor(n / 50) / 100;
  return [
    { type: "Polygon", coordinates: [square(x, y, 0.05), square(x + 0.01, y + 0.01, 0.01, true)] },
    { type: "MultiPolygon", coordinates: [[square(x, y, 0.01)], [square(x + 0.03, y, 0.01)]] },
    { type: "MultiPolygon", coordinates: [[square(x, y, 0.02)]] },
    {
      type: "LineString",
      coordinates: [
        [x, y, 400.25],
        [x + 0.0123456, y, 401.5],
        [x + 0.02, y + 0.01, 399.125],
      ],
    },
    { type: "Point", coordinates: [x + 0.1234567, y + 0.7654321] },
  ];
};

function feature(n: number): Feature {
  return {
    type: "Feature",
    geometry: shapes(n)[n % 5]!,
    properties: {
      name: `Zürich – Gemeinde №${n}`,
      code: `00${n}`,
      padded: `row ${n}  `,
      count: n * 7,
      // `firstBig` and up, in the text of the file.
      big: 0,
      height: 400 + n / 8 + 1 / 3,
      flag: n % 2 === 0,
      day: `2024-02-${String(1 + (n % 28)).padStart(2, "0")}`,
      at: `2024-02-03T04:05:${String(n % 60).padStart(2, "0")}+02:00`,
      note: n % 3 === 0 ? null : `note ${n}`,
      remark: n % 4 === 0 ? "" : `remark ${n}`,
    },
  };
}

/** Features in one batch, and in several. */
const [few, many] = [150, 1100];
/** Beyond 2^53, where a double has only even numbers. */
const firstBig = 9007199254740993n;
const inputOf = (count: number) => scratch.path(`input-${count}.geojson`);
beforeAll(() => {
  for (const count of [few, many]) {
    const features = Array.from({ length: count }, (_, n) =>
      JSON.stringify(feature(n)).replace(/"big":0/, `"big":${firstBig + 2n * BigInt(n)}`),
    );
    writeFileSync(inputOf(count), `{"type":"FeatureCollection","features":[${features.join(",")}]}`);
  }
});

/** Changes one feature in the middle of the first batch. */
const victim = 123;
const one =
  (change: (feature: Feature) => Feature): NonNullable<Fault["features"]> =>
  (features) =>
    features.map((each) => (each.properties.count === victim * 7 ? change(each) : each));
type Ring = number[][];

/** Changes the coordinates of the feature with the shape of this index. */
const shape =
  <C>(index: number, change: (coordinates: C) => unknown): NonNullable<Fault["features"]> =>
  (features) =>
    features.map((each) => {
      if (each.properties.count !== (120 + index) * 7) return each;
      const geometry = each.geometry as unknown as { readonly coordinates: C };
      return { ...each, geometry: { ...geometry, coordinates: change(geometry.coordinates) } as Feature["geometry"] };
    });
const polygon = (change: (rings: Ring[]) => unknown) => shape<Ring[]>(0, change);
const multi = (change: (parts: Ring[][]) => unknown) => shape<Ring[][]>(1, change);
const line = (change: (positions: Ring) => unknown) => shape<Ring>(3, change);
const point = (change: (position: readonly [number, number]) => unknown) => shape<[number, number]>(4, change);
const set = (name: string, change: (value: unknown) => unknown) =>
  one((each) => ({ ...each, properties: { ...each.properties, [name]: change(each.properties[name]) } }));
const setAt =
  (n: number, name: string, value: unknown): NonNullable<Fault["features"]> =>
  (features) =>
    features.map((each) =>
      each.properties.count === n * 7 ? { ...each, properties: { ...each.properties, [name]: value } } : each,
    );
const swap =
  (exchange: (a: Feature, b: Feature) => [Feature, Feature]): NonNullable<Fault["features"]> =>
  (features) => {
    const changed = [...features];
    if (changed.length > 60) [changed[10], changed[57]] = exchange(changed[10]!, changed[57]!);
    return changed;
  };
const text = (value: unknown) => String(value);
const mojibake = (value: unknown) => Buffer.from(text(value), "utf8").toString("latin1");

/** Field types that a format without them cannot lose. */
const typed = ["geopackage", "geoparquet", "flatgeobuf"];

const faults: Readonly<Record<string, Fault & { readonly formats?: readonly string[] }>> = {
  "drops a feature": { features: (all) => all.filter(({ properties }) => properties.count !== victim * 7) },
  "writes a feature twice": { features: (all) => all.flatMap((each, n) => (n === 5 ? [each, each] : [each])) },
  "replaces a feature by its neighbor": { features: (all) => all.map((each, n) => (n === 6 ? all[5]! : each)) },
  "swaps two features": { features: swap((a, b) => [b, a]) },
  "swaps the attributes of two features": {
    features: swap((a, b) => [
      { ...a, properties: b.properties },
      { ...b, properties: a.properties },
    ]),
  },
  "swaps the geometries of two features": {
    features: swap((a, b) => [
      { ...a, geometry: b.geometry },
      { ...b, geometry: a.geometry },
    ]),
  },
  "loses the last batch": { chunks: (chunks) => chunks.slice(0, -1) },
  "writes a batch twice": { chunks: (chunks) => [chunks[0]!, ...chunks] },
  "swaps two batches": { chunks: (chunks) => chunks.toReversed() },
  "swaps the axes of a point": { features: point(([x, y]) => [y, x]) },
  "rounds a point": { features: point(([x, y]) => [Number(x.toFixed(5)), y]) },
  "moves a point by the last decimal": { features: point(([x, y]) => [x + 1e-7, y]) },
  "loses heights": { features: line((positions) => positions.map(([x, y]) => [x, y])) },
  "changes a height": { features: line((positions) => positions.map(([x, y, z]) => [x, y, z! + 0.001])) },
  "sets heights to 0": { features: line((positions) => positions.map(([x, y]) => [x, y, 0])) },
  "loses the last position of a line": { features: line((positions) => positions.slice(0, -1)) },
  "repeats a position of a line": { features: line((positions) => [positions[0], ...positions]) },
  "reverses a line": { features: line((positions) => positions.toReversed()) },
  "loses a hole": { features: polygon((rings) => rings.slice(0, 1)) },
  "loses a part": { features: multi((parts) => parts.slice(0, 1)) },
  "reverses the parts": { features: multi((parts) => parts.toReversed()) },
  "turns a part into a hole": { features: multi((parts) => [[parts[0]![0], parts[1]![0]!.toReversed()]]) },
  "makes a MultiPolygon of one part a Polygon": {
    features: (all) =>
      all.map((each) =>
        each.properties.count === 122 * 7
          ? {
              ...each,
              geometry: {
                type: "Polygon",
                coordinates: (each.geometry as unknown as { coordinates: number[][][][] }).coordinates[0]!,
              },
            }
          : each,
      ),
  },
  "loses a geometry": { features: one((each) => ({ ...each, geometry: null })) },
  "truncates a text": { features: set("name", (value) => text(value).slice(0, -1)) },
  "damages the encoding": { features: set("name", mojibake) },
  "normalizes Unicode": { features: set("name", (value) => text(value).normalize("NFD")) },
  "trims a text": { features: set("padded", (value) => text(value).trimEnd()) },
  "loses leading zeros": { features: set("code", (value) => String(Number(value))) },
  "changes the case": { features: set("name", (value) => text(value).toUpperCase()) },
  "writes null as empty text": { features: setAt(120, "note", "") },
  "writes null as a text": { features: setAt(120, "note", "null") },
  "writes empty text as null": { features: setAt(120, "remark", null) },
  "writes null for a value": { features: set("count", () => null) },
  "writes 0 for a value": { features: set("height", () => 0) },
  "rounds a number": { features: set("height", (value) => Math.fround(Number(value))) },
  "adds one": { features: set("count", (value) => Number(value) + 1) },
  "takes a long integer for a double": { features: set("big", (value) => BigInt(Number(text(value)))) },
  "inverts a boolean": { features: set("flag", (value) => !value) },
  "shifts a day": { features: set("day", () => "2024-02-29") },
  "loses the time zone": { features: set("at", (value) => text(value).slice(0, 19)) },
  "shifts the time zone": { features: set("at", (value) => text(value).replace(/.{6}$/, "+01:00")) },
  "shifts a column": {
    features: one((each) => ({
      ...each,
      properties: { ...each.properties, name: each.properties.code, code: each.properties.padded },
    })),
  },
  "loses a field": {
    features: (all) => all.map(({ properties: { remark: _, ...properties }, ...each }) => ({ ...each, properties })),
  },
  "writes numbers as text": {
    features: (all) =>
      all.map((each) => ({ ...each, properties: { ...each.properties, count: text(each.properties.count) } })),
    fields: (fields) => fields.map((field) => (field.name === "count" ? { ...field, type: "text" } : field)),
    // A CSV has only texts.
    formats: ["geojson", ...typed],
  },
  "declares integers as doubles": {
    fields: (fields) => fields.map((field) => (field.name === "count" ? { ...field, type: "double" } : field)),
    formats: typed,
  },
  "renames a field": {
    features: (all) =>
      all.map(({ properties: { remark, ...properties }, ...each }) => ({
        ...each,
        properties: { ...properties, remarks: remark },
      })),
    fields: (fields) => fields.map((field) => (field.name === "remark" ? { ...field, name: "remarks" } : field)),
  },
};

const extensions = {
  geojson: "geojson",
  geopackage: "gpkg",
  geoparquet: "parquet",
  flatgeobuf: "fgb",
  csv: "csv",
} as const;
type FormatId = keyof typeof extensions;
const options: Partial<Record<FormatId, Record<string, string>>> = { flatgeobuf: { index: "no" } };

function registryWith(fault: Fault, id: string): Registry {
  const registry = new Registry();
  for (const { module, formats } of builtins)
    for (const format of formats) registry.add(format.id === id ? withFault(format, fault) : format, module);
  return registry;
}

function run(id: FormatId, fault: Fault, folder: string, more: Partial<ConvertRequest>) {
  const host = { registry: registryWith(fault, id), signal: new AbortController().signal, now: new Date("2001-02-03") };
  const output = `${folder}/out.${extensions[id]}`;
  const request = {
    inputs: [inputOf(fault.chunks ? many : few)],
    output,
    workers: 1,
    writerOptions: options[id] ?? {},
    ...more,
  };
  return convert(request, host);
}

function newFolder(name: string): string {
  const folder = scratch.path(name);
  mkdirSync(folder);
  return folder;
}

const ids = Object.keys(extensions) as FormatId[];
let folders = 0;

describe.each(ids)("%s", (id) => {
  test("a writer without mistakes passes", async () => {
    const folder = newFolder(`ok-${id}`);
    const { proof, written } = await run(id, {}, folder, { verify: true, inputs: [inputOf(many)] });
    expect(written).toBe(many);
    expect(proof!.layers).toMatchObject([{ features: many, isOrdered: true }]);
  });

  for (const [name, { formats = ids, ...fault }] of Object.entries(faults)) {
    if (!formats.includes(id)) continue;
    test(`catches a writer that ${name}`, async () => {
      const folder = newFolder(`${id}-${folders++}`);
      // Without --verify the conversion succeeds in spite of the fault.
      await run(id, fault, folder, { overwrite: true });
      expect(existsSync(`${folder}/out.${extensions[id]}`)).toBe(true);
      const other = newFolder(`${id}-${folders++}`);
      const error = await run(id, fault, other, { verify: true }).then(
        () => null,
        (thrown: unknown) => thrown as { code: string; kind: "output"; message: string },
      );
      expect(error).toMatchObject({ code: "verify-failed", kind: "output" });
      expect(exitStatus[error!.kind]).toBe(6);
      expect(readdirSync(other)).toEqual([]);
    });
  }
});
