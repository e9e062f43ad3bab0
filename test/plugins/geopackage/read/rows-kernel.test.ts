/** The kernel beside the decoders in TypeScript: the same batches, losses, notices and rejects of random tables. */
import { afterAll, afterEach, expect, test, vi } from "vitest";
import geopackage from "../../../../plugins/geopackage/index.js";
import { RowsKernel } from "../../../../plugins/geopackage/read/rows-kernel.js";
import { WkbWriter } from "../../../../plugins/shared/wkb/index.js";
import { type Batch, type Geometry, GeometryBuilder, type Position } from "../../../../src/model/index.js";
import { openDataset, RecordingContext, TemporaryFolder } from "../../../../src/testing/index.js";
import { blobOf, newPackage, pointWkb, register } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
afterEach(() => void vi.restoreAllMocks());

type Random = () => number;

/** A small seeded generator (mulberry32): numbers from 0 to 1. */
function generator(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
const whole = (random: Random, most: number): number => Math.floor(random() * most);

function positions(random: Random, count: number, z: boolean): Position[] {
  const coordinate = () => whole(random, 36_000) / 100 - 180;
  return Array.from({ length: count }, () => [coordinate(), coordinate(), ...(z ? [coordinate()] : [])]);
}

function ring(random: Random, count: number, z: boolean): Position[] {
  const open = positions(random, count, z);
  return [...open, open[0]!];
}

function randomGeometry(random: Random, size: number, z: boolean): Geometry {
  const some = (of: () => Position[]) => Array.from({ length: 1 + whole(random, 3) }, of);
  const polygon = () => some(() => ring(random, 3 + whole(random, size), z));
  switch (whole(random, 6)) {
    case 0:
      return { type: "Point", coordinates: positions(random, 1, z)[0]! };
    case 1:
      return { type: "LineString", coordinates: positions(random, 2 + whole(random, size), z) };
    case 2:
      return { type: "MultiPoint", coordinates: positions(random, 1 + whole(random, size), z) };
    case 3:
      return { type: "MultiLineString", coordinates: some(() => positions(random, 2 + whole(random, size), z)) };
    case 4:
      return { type: "Polygon", coordinates: polygon() };
    default:
      return { type: "MultiPolygon", coordinates: Array.from({ length: 1 + whole(random, 3) }, polygon) };
  }
}

function wkbOf(geometry: Geometry): Buffer {
  const builder = new GeometryBuilder();
  builder.addGeoJson(geometry);
  return Buffer.from(new WkbWriter().write(builder.finish(), 0));
}

/** A geometry as most programs write it, with overflow pages at times. */
function plainBlob(random: Random): Buffer {
  const wkb = wkbOf(randomGeometry(random, random() < 0.05 ? 400 : 8, false));
  return random() < 0.5 ? blobOf(wkb) : blobOf(wkb, { kind: 1, envelope: [1, 2, 3, 4] });
}

/** A geometry that has to be converted, repaired or refused. */
function oddBlob(random: Random): Buffer | string {
  const wkb = wkbOf(randomGeometry(random, 8, random() < 0.3));
  const damaged = Buffer.from(wkb);
  damaged[whole(random, damaged.length)] = whole(random, 256);
  return pick(random, [
    "text",
    blobOf(damaged),
    blobOf(wkb.subarray(0, whole(random, wkb.length))),
    blobOf(Buffer.concat([wkb, Buffer.from([0])])),
    blobOf(wkb, { srsId: 3857 }),
    blobOf(wkb, { big: true }),
    blobOf(pointWkb(1, 2, true)),
    blobOf(pointWkb(Number.NaN, Number.NaN)),
    blobOf(pointWkb(Infinity, 2)),
    blobOf(wkbOf({ type: "Polygon", coordinates: [] })),
    blobOf(wkbOf({ type: "Polygon", coordinates: [positions(random, 5, false)] })),
    blobOf(wkbOf({ type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [1, 2] }] })),
    blobOf(wkbOf({ type: "LineString", coordinates: positions(random, 20_000, false) })),
    wkb,
    Buffer.alloc(whole(random, 12)),
  ]);
}

type Stored = null | number | bigint | string | Buffer;
type Values = readonly [plain: (random: Random) => Stored, odd: readonly Stored[]];

/** The columns of the table by their declared types, with values of those types and others. */
const columns: Readonly<Record<string, Values>> = {
  BOOLEAN: [(random) => whole(random, 2), [2, "true", "no", 0.5]],
  MEDIUMINT: [(random) => whole(random, 2 ** (1 + whole(random, 31))) - 5, [2 ** 40, "12", 1.5, "twelve"]],
  INTEGER: [(random) => BigInt(whole(random, 2 ** 53)) << BigInt(whole(random, 10)), ["99", 0.25, Buffer.from("x")]],
  DOUBLE: [(random) => (random() < 0.2 ? whole(random, 99) : random() * 1e9), [2n ** 60n + 1n, "1.5", "x"]],
  TEXT: [(random) => pick(random, ["", "Zürich", "東京", "a".repeat(whole(random, 300))]), [5, Buffer.from([0xff])]],
  DATE: [(random) => `20${10 + whole(random, 80)}-0${1 + whole(random, 9)}-11`, ["2020/01/02", "2020-02-30", 7]],
  DATETIME: [(random) => `2020-01-02T03:04:${10 + whole(random, 50)}Z`, ["2020-01-02 03:04:05", "now"]],
  BLOB: [(random) => Buffer.alloc(whole(random, 50), 1), ["text", 1]],
};

/** Writes a table of random rows, in which a value is odd with the probability `oddity`. */
function writeTable(path: string, random: Random, rows: number, oddity: number): void {
  const database = newPackage(path, "PRAGMA synchronous = OFF");
  const types = Object.keys(columns);
  const declared = types.map((type, c) => `c${c} ${type}`).join(", ");
  database.exec(`CREATE TABLE t (fid INTEGER PRIMARY KEY, geom GEOMETRY, ${declared})`);
  register(database, "t", "geom");
  const insert = database.prepare(`INSERT INTO t VALUES (?, ?, ${types.map(() => "?").join(", ")})`);
  const first = random() < 0.2 ? 2n ** 40n : -3n;
  database.transaction(() => {
    for (let row = 0; row < rows; row++) {
      const isOdd = () => random() < oddity;
      const geometry = random() < 0.05 ? null : isOdd() ? oddBlob(random) : plainBlob(random);
      const values = types.map((type) => {
        const [plain, odd] = columns[type]!;
        return random() < 0.1 ? null : isOdd() ? pick(random, odd) : plain(random);
      });
      insert.run(first + BigInt(row), geometry, ...values);
    }
  })();
  if (random() < oddity) database.exec("UPDATE t SET c4 = CAST(x'61ff' AS TEXT) WHERE rowid % 7 = 0");
  if (random() < oddity) database.exec("ALTER TABLE t ADD COLUMN late TEXT DEFAULT 'later'");
  database.close();
}

/** What is read of the table, with or without the kernel, and in how many batches the kernel was used. */
async function read(path: string, withKernel: boolean) {
  if (!withKernel) vi.spyOn(RowsKernel, "acquire").mockReturnValue(null);
  const decode = vi.spyOn(RowsKernel.prototype, "decode");
  const context = new RecordingContext(false);
  await using dataset = await openDataset(geopackage, path, context);
  const batches = [];
  for await (const batch of dataset.layers[0]!.batches()) batches.push((batch as Batch).toData());
  const decoded = decode.mock.results.filter(({ value }) => value !== null).length;
  vi.restoreAllMocks();
  const { losses, notices, rejects } = context;
  return { batches, losses, notices, rejects, decoded };
}

test.each([
  { rows: 3000, oddity: 0, tables: 2 },
  { rows: 2500, oddity: 0.0001, tables: 2 },
  { rows: 30, oddity: 0.002, tables: 10 },
  { rows: 10, oddity: 0.4, tables: 10 },
])("tables of $rows rows with a share of $oddity odd values", async ({ rows, oddity, tables }) => {
  let decoded = 0;
  for (let seed = 0; seed < tables; seed++) {
    const path = scratch.path(`${rows}-${oddity}-${seed}.gpkg`);
    writeTable(path, generator(rows + seed), rows, oddity);
    const { decoded: count, ...found } = await read(path, true);
    const { decoded: none, ...expected } = await read(path, false);
    expect(none).toBe(0);
    expect(found).toEqual(expected);
    decoded += count;
  }
  if (oddity < 0.1) expect(decoded).toBeGreaterThan(0);
});
