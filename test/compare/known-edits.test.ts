/**
 * Twenty pairs of versions with known edits, in the formats of GDAL: every edit is found, and none invented. What was
 * edited is known from the generator; GDAL in Python reads the same files, and says the same.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, hasProgram, pythonWithGdal } from "../support/command.js";
import { createRandom } from "../support/random.js";
import { TemporaryFolder } from "../support/read-layers.js";

const python = pythonWithGdal();
const hasGdal = hasProgram("ogr2ogr") && (python !== undefined || process.env.CI !== undefined);

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

type Position = [number, number];
interface GivenFeature {
  ref: string | number;
  at: Position;
  name: string;
  value: number;
  kind: string | null;
}
type Edit = readonly [change: string, key: string, fields: readonly string[]];

const shapes: Readonly<Record<string, (at: Position) => object>> = {
  Point: (coordinates) => ({ type: "Point", coordinates }),
  LineString: ([x, y]) => ({
    type: "LineString",
    coordinates: [
      [x, y],
      [x + 0.02, y + 0.01],
      [x + 0.03, y],
    ],
  }),
  Polygon: ([x, y]) => ({
    type: "Polygon",
    coordinates: [
      [
        [x, y],
        [x + 0.02, y],
        [x + 0.02, y + 0.02],
        [x, y + 0.02],
        [x, y],
      ],
    ],
  }),
};

const kinds = ["oak", "elm", "", 'Füße, "quoted"', null];
const round = (value: number, decimals: number) => Math.round(value * 10 ** decimals) / 10 ** decimals;

/** Both versions, the new one in another order, and what was edited. */
function makeVersions(seed: number) {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const hasTextKeys = seed % 2 === 0;
  const make = (i: number): GivenFeature => ({
    ref: hasTextKeys ? `R-${i}` : i,
    at: [round(5 + random() * 10, 6), round(45 + random() * 8, 6)],
    name: `feature ${i}`,
    value: round(random() * 1000, 3),
    kind: pick(kinds),
  });
  const old = Array.from({ length: 150 }, (_, i) => make(i));
  const recent: GivenFeature[] = [];
  const edits: Edit[] = [];
  for (const feature of old) {
    const key = String(feature.ref);
    const edited = { ...feature };
    const fields: string[] = [];
    const dice = random();
    if (dice < 0.08) {
      edits.push(["removed", key, []]);
      continue;
    }
    if (dice < 0.2) {
      edited.name = `${feature.name} edited`;
      fields.push("name");
    }
    if (dice > 0.15 && dice < 0.25) {
      edited.value = round(feature.value + 0.001, 3);
      fields.push("value");
    }
    if (dice > 0.22 && dice < 0.32) {
      edited.at = [round(feature.at[0] + pick([1e-5, 0.3, -2]), 6), feature.at[1]];
      fields.push("geometry");
    }
    recent.push(edited);
    if (fields.length > 0) edits.push([fields[0] === "geometry" ? "moved" : "changed", key, fields]);
  }
  for (let i = 1000; i < 1000 + (seed % 7); i++) {
    recent.push(make(i));
    edits.push(["added", String(recent.at(-1)!.ref), []]);
  }
  for (let i = recent.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [recent[i], recent[other]] = [recent[other]!, recent[i]!];
  }
  return { old, recent, edits };
}

const drivers = {
  gpkg: ["GPKG"],
  geojson: null,
  csv: ["CSV", "-lco", "GEOMETRY=AS_WKT"],
  shp: ["ESRI Shapefile", "-lco", "ENCODING=UTF-8"],
} as const;
type Extension = keyof typeof drivers;

/** Written by GDAL, so that the diff reads nothing that geoferry wrote. */
function writeVersion(stem: string, features: readonly GivenFeature[], shape: string, extension: Extension): string {
  const path = scratch.path(`${stem}.geojson`);
  const collection = features.map(({ at, ...properties }) => ({
    type: "Feature",
    geometry: shapes[shape]!(at),
    properties,
  }));
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features: collection }));
  const driver = drivers[extension];
  if (driver === null) return path;
  const output = scratch.path(`${stem}.${extension}`);
  const [name, ...options] = driver;
  const { status, stderr } = spawnSync("ogr2ogr", ["-f", name, output, path, ...options], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return output;
}

const pairsOfFormats: readonly (readonly [Extension, Extension])[] = [
  ["gpkg", "gpkg"],
  ["geojson", "geojson"],
  ["shp", "shp"],
  ["csv", "csv"],
  ["gpkg", "geojson"],
  ["geojson", "csv"],
  ["shp", "gpkg"],
  ["csv", "gpkg"],
  ["geojson", "shp"],
  ["csv", "shp"],
];
const sorted = (edits: readonly Edit[]): string[] =>
  edits.map(([change, key, fields]) => `${change} ${key}: ${[...fields].sort().join(" ")}`).sort();

interface ChangeRecord {
  readonly type: string;
  readonly change: string;
  readonly key: string | null;
  readonly properties?: { readonly ref: string | number };
  readonly values?: readonly { readonly field: string }[];
  readonly movement?: object;
  readonly differs?: boolean;
}

function readDiff(...args: readonly string[]): ChangeRecord[] {
  const { status, stdout, stderr } = geoferry(["diff", ...args, "--json", "--exit-code"]);
  expect([status, stderr]).toEqual([20, ""]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ChangeRecord);
}

const changedFields = ({ values = [], movement }: ChangeRecord): string[] => [
  ...values.map(({ field }) => field),
  ...(movement ? ["geometry"] : []),
];

describe.skipIf(!hasGdal)("versions with known edits", () => {
  test.each(Array.from({ length: 20 }, (_, n) => n + 1))("of seed %i", (seed) => {
    const { old, recent, edits } = makeVersions(seed);
    const [before, after] = pairsOfFormats[seed % pairsOfFormats.length]!;
    const shape = Object.keys(shapes)[seed % 3]!;
    const files = [
      writeVersion(`old-${seed}`, old, shape, before),
      writeVersion(`new-${seed}`, recent, shape, after),
    ] as const;
    const judged = spawnSync(python!, [fileURLToPath(new URL("known-edits.py", import.meta.url)), ...files], {
      encoding: "utf8",
    });
    const verdict = judged.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Edit);
    expect([judged.status, sorted(verdict)]).toEqual([0, sorted(edits)]);

    const records = readDiff(...files);
    const found = records
      .filter(({ type }) => type === "change")
      .map((record): Edit => [record.change, record.key!, changedFields(record)]);
    expect(sorted(found)).toEqual(sorted(edits));

    // Without a key, a feature that moved and changed is removed and added.
    const byContent = readDiff(...files, "--match", "content").filter(({ type }) => type === "change");
    const counts = (list: readonly { readonly change: string }[]) =>
      ["added", "removed", "changed", "moved"].map((kind) => list.filter(({ change }) => change === kind).length);
    const both = edits.filter(([change, , fields]) => change === "changed" && fields.includes("geometry")).length;
    const [added, removed, changed, moved] = counts(edits.map(([change]) => ({ change })));
    expect(counts(byContent)).toEqual([added! + both, removed! + both, changed! - both, moved!]);
  });
});
