import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { packFeatures } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { collection, read } from "./read-geojson.js";
import { write, writeBatches } from "./write-geojson.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

// −0 is a number of JSON, but not one that every reader keeps apart.
const coordinate = fc.oneof(
  fc.integer({ min: -180, max: 180 }),
  fc.double({ min: -180, max: 180, noNaN: true }).map((x) => Math.round(x * 1e12) / 1e12 || 0),
);
const position = fc.oneof(
  fc.tuple(coordinate, coordinate),
  fc.tuple(coordinate, coordinate, fc.integer({ min: -100, max: 9000 })),
);
const line = fc.array(position, { minLength: 2, maxLength: 5 });
const ring = fc.array(position, { minLength: 3, maxLength: 5 }).map((r) => [...r, r[0]!]);
const polygon = fc.array(ring, { minLength: 1, maxLength: 3 });
const simple = fc.oneof(
  position.map((coordinates) => ({ type: "Point", coordinates })),
  line.map((coordinates) => ({ type: "LineString", coordinates })),
  polygon.map((coordinates) => ({ type: "Polygon", coordinates })),
  fc.array(position, { maxLength: 3 }).map((coordinates) => ({ type: "MultiPoint", coordinates })),
  fc.array(line, { maxLength: 3 }).map((coordinates) => ({ type: "MultiLineString", coordinates })),
  fc.array(polygon, { maxLength: 3 }).map((coordinates) => ({ type: "MultiPolygon", coordinates })),
);
const { geometry } = fc.letrec((tie) => ({
  geometry: fc.oneof(
    { depthSize: "small" },
    simple,
    fc.array(tie("geometry"), { maxLength: 3 }).map((geometries) => ({ type: "GeometryCollection", geometries })),
  ),
}));
const text = fc.string({ unit: "grapheme", maxLength: 8 });
/** Beyond 2^53 and written without an exponent; in a field of mixed types it becomes a text. */
const isLongInteger = (x: number) => Number.isInteger(x) && !Number.isSafeInteger(x) && Math.abs(x) < 1e21;
const value = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (Object.is(x, -0) || isLongInteger(x) ? 0 : x)),
  text,
  fc.boolean(),
  fc.constant(null),
  fc
    .jsonValue({ maxDepth: 2 })
    // Integers beyond 2^53 become texts, which tests of the reader show.
    .filter((v) => !/\d{16}/.test(JSON.stringify(v)))
    .map((v) => JSON.parse(JSON.stringify(v).replace(/-0(?![.\d])/g, "0"))),
);
const name = fc.oneof(fc.constantFrom("a", "b", "id", "type", 'q"', "é", ""), text);
const feature = fc.record({
  type: fc.constant("Feature"),
  geometry: fc.option(geometry),
  properties: fc.array(fc.tuple(name, value), { maxLength: 5 }).map((pairs) => {
    const properties: Record<string, unknown> = {};
    for (const [key, v] of pairs) {
      Object.defineProperty(properties, key, { value: v, enumerable: true, configurable: true, writable: true });
    }
    return properties;
  }),
});
const withId = fc.tuple(feature, fc.option(fc.oneof(fc.integer(), text), { nil: undefined })).map(([f, id]) => {
  return id === undefined ? f : { ...f, id };
});

/** JSON with white space, an order of members and escapes that depend on the seed. */
function scribble(value: unknown, random: () => number): string {
  const gap = () => (random() < 0.7 ? "" : [" ", "\n", "\t", "\r\n", "  "][Math.floor(random() * 5)]!);
  const quoted = (s: string) => {
    const plain = JSON.stringify(s);
    return random() < 0.7
      ? plain
      : `"${plain
          .slice(1, -1)
          .replace(/\\.|./g, (c) =>
            c.startsWith("\\") ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
          )}"`;
  };
  if (Array.isArray(value))
    return `[${gap()}${value.map((v) => scribble(v, random)).join(`${gap()},${gap()}`)}${gap()}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([k, v]) => `${quoted(k)}${gap()}:${gap()}${scribble(v, random)}`);
    if (random() < 0.3) members.reverse();
    return `{${gap()}${members.join(`${gap()},${gap()}`)}${gap()}}`;
  }
  return typeof value === "string" ? quoted(value) : JSON.stringify(value);
}

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.entries(value)
          .map(([k, v]) => [k, sorted(v)])
          .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
      : value;

describe("generated collections", () => {
  it("generated collections are read as by JSON.parse, for any splits and layout", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(withId, { maxLength: 12 }),
        fc.integer(),
        fc.constantFrom(1, 30, 200, 1000, 1 << 22),
        async (features, seed, splitSize) => {
          const random = randomOf(seed);
          const texts = [scribble(collection(...features), random)];
          if (features.length > 0) texts.push(features.map((f) => scribble(f, random)).join(["", " ", "\n"][seed & 1]));
          if (features.length > 0) texts.push(`${features.map((f) => JSON.stringify(f)).join("\n")}\n`);
          for (const written of texts) {
            for (const bySplits of [true, false]) {
              const { features: got, context } = await read(scratch, written, { splitSize, bySplits });
              expect(context.rejects).toEqual([]);
              expect(sorted(got)).toEqual(sorted(features));
              expect(context.records).toBe(features.length);
            }
          }
        },
      ),
      { numRuns: 50, seed: 20 },
    );
  });

  it("generated collections are written as JSON that reads back the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(withId, { maxLength: 8 }), async (features) => {
        const plain = features.map((f) => ({ ...f, geometry: f.geometry as never }));
        const options = { precision: "20", "z-precision": "20", rfc7946: "no" };
        const { text: whole } = await writeBatches(scratch, [packFeatures(plain, 1)], options);
        expect(sorted(JSON.parse(whole).features)).toEqual(sorted(features));
        const { text: lines } = await write(scratch, plain, options, true);
        expect(
          sorted(
            lines
              .split("\n")
              .filter((line) => line !== "")
              .map((l) => JSON.parse(l)),
          ),
        ).toEqual(sorted(features));
      }),
      { numRuns: 35, seed: 21 },
    );
  });

  it("generated collections are read as by ogr2ogr", async () => {
    const number = fc.integer({ min: -1000, max: 1000 });
    const plain = fc.record({
      type: fc.constant("Feature"),
      geometry: fc.option(simple.filter((g) => g.coordinates.length > 0)),
      properties: fc.record({ n: number, t: fc.string({ unit: fc.constantFrom("a", "ü", '"', "\\", "\n", "7") }) }),
    });
    const features = fc.sample(plain, { numRuns: 300, seed: 22 });
    const path = scratch.path("oracle.geojson");
    writeFileSync(path, JSON.stringify(collection(...features)));
    const done = spawnSync("ogr2ogr", ["-f", "GeoJSON", "-lco", "COORDINATE_PRECISION=15", "/vsistdout/", path], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    expect(done.status).toBe(0);
    const expected = JSON.parse(done.stdout).features;
    const { features: got } = await read(scratch, JSON.stringify(collection(...features)));
    const rounded = (v: unknown) =>
      JSON.parse(JSON.stringify(v), (_, x) => (typeof x === "number" ? Number(x.toFixed(9)) + 0 : x));
    expect(got).toHaveLength(expected.length);
    for (let i = 0; i < got.length; i++) {
      expect(got[i]!.properties).toEqual(expected[i].properties);
      expect(shape(rounded(got[i]!.geometry))).toEqual(shape(rounded(expected[i].geometry)));
    }
  });
});

/** ogr2ogr gives every position of a geometry a height when one has it: those of 0 say nothing here. */
function shape(geometry: unknown): unknown {
  return JSON.parse(JSON.stringify(geometry), (_, v) =>
    Array.isArray(v) && typeof v[0] === "number" ? (v[2] === 0 ? v.slice(0, 2) : v) : v,
  );
}

describe("mutated files", () => {
  const sound = JSON.stringify({
    type: "FeatureCollection",
    name: "x",
    crs: { type: "name", properties: { name: "urn:ogc:def:crs:OGC:1.3:CRS84" } },
    features: fc.sample(withId, { numRuns: 12, seed: 23 }),
  });
  const lines = fc
    .sample(withId, { numRuns: 12, seed: 24 })
    .map((f) => JSON.stringify(f))
    .join("\n");

  it("mutated files end in features, rejects or a GeoferryError, never in a crash or a hang", async () => {
    mkdirSync(scratch.path("m"));
    const random = randomOf(25);
    const pick = (n: number) => Math.floor(random() * n);
    const letters = Buffer.from('{}[]",:\\\n0-.eNtfn\0\xff \x1e', "latin1");
    for (let run = 0; run < 200; run++) {
      let bytes = Buffer.from(run % 2 ? sound : lines);
      for (let n = pick(4); n >= 0; n--) {
        const at = pick(bytes.length);
        const kind = pick(5);
        if (kind === 0) bytes[at] = letters[pick(letters.length)]!;
        else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + pick(20))]);
        else if (kind === 2) bytes = bytes.subarray(0, at + 1);
        else if (kind === 3)
          bytes = Buffer.concat([bytes.subarray(0, at), letters.subarray(pick(9)), bytes.subarray(at)]);
        else bytes[at] = pick(256);
        if (bytes.length === 0) bytes = Buffer.from(" ");
      }
      for (const skipErrors of [false, true]) {
        for (const splitSize of [64, 1 << 22]) {
          const failure = await read(scratch, bytes, { skipErrors, splitSize }).then(
            () => null,
            (error: unknown) => error,
          );
          if (failure !== null && !(failure instanceof GeoferryError && failure.kind !== "internal")) {
            throw new Error(`run ${run}: ${JSON.stringify(bytes.toString("latin1"))}`, { cause: failure });
          }
        }
      }
    }
  });
});
