/** Tables of very many columns: what they cost follows their size, and limits of the target come first. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import csv from "../../plugins/csv/index.js";
import geojson from "../../plugins/geojson/index.js";
import kml from "../../plugins/kml/index.js";
import { type Batch, isBytesColumn } from "../../src/model/index.js";
import type { Format } from "../../src/plugin/index.js";
import { readFile } from "../../src/testing/index.js";
import { main } from "../support/command.js";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** The greatest memory of a process, in MB. */
function memoryOf(args: readonly string[]): number {
  const tell =
    "data:text/javascript,process.on('exit',()=>process.stdout.write('rss '+process.resourceUsage().maxRSS))";
  const { stdout } = spawnSync(process.execPath, ["--import", tell, ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
  return Number(/rss (\d+)/.exec(stdout)![1]) / 1024;
}

const bare = memoryOf(["-e", "0"]);
const wide = scratch.path("wide.csv");
// 20,003 columns in 20 KB: none has a name.
writeFileSync(wide, `${",".repeat(20_002)}\n1\n`);

describe("20,003 columns", () => {
  test.each(["geojson", "csv", "kml"])(
    "20,003 columns take less than 60 MB in addition to Node.js (.%s)",
    (extension) => {
      const output = scratch.path(`wide-out.${extension}`);
      expect(memoryOf([main, "convert", wide, output]) - bare).toBeLessThan(60);
      expect(existsSync(output)).toBe(true);
    },
  );

  test("20,003 renamed columns have one notice", async () => {
    const { notices } = await convertFile(wide, scratch.path("noticed.geojson"), {});
    expect(notices.filter(({ code }) => code === "name-missing")).toMatchObject([{ count: 20_003 }]);
  });

  test.each([
    ["shp", 2046],
    ["gpkg", 1998],
  ])("20,003 columns are rejected for a .%s before any row is read", async (extension, most) => {
    // Reading the rows would fail at a quote that is never closed.
    const damaged = scratch.path("damaged.csv");
    writeFileSync(damaged, [`${"a,".repeat(20_002)}\n1\n`.padEnd(2 << 20, "1\n"), '"'].join(""));
    await expect(convertFile(damaged, scratch.path(`wide-out.${extension}`), {})).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(`at most ${most} fields, and the layer has 20003`),
    });
  });
});

const names = Array.from({ length: 80_000 }, (_, n) => `c${n}`);
const digit = (n: number) => n % 10;

/** The same feature of 80,000 fields in each format. */
const inputs: Readonly<Record<string, string>> = {
  csv: `lon,lat,${names.join(",")}\n10,50,${names.map((_, n) => digit(n)).join(",")}\n`,
  geojson: JSON.stringify({
    type: "Feature",
    geometry: { type: "Point", coordinates: [10, 50] },
    properties: Object.fromEntries(names.map((name, n) => [name, digit(n)])),
  }),
  kml: `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><ExtendedData>${names
    .map((name, n) => `<Data name="${name}"><value>${digit(n)}</value></Data>`)
    .join("")}</ExtendedData><Point><coordinates>10,50</coordinates></Point></Placemark></kml>`,
};
/** MB more than Node itself, which takes 40 to 50; a document of XML is four times as large and read twice. */
const mostMemory: Readonly<Record<string, number>> = { csv: 115, geojson: 120, kml: 160 };
const formats: Readonly<Record<string, Format>> = { csv, geojson: geojson[0]!, kml };

const pathOf = (extension: string): string => {
  const path = scratch.path(`of-80000.${extension}`);
  if (!existsSync(path)) writeFileSync(path, inputs[extension]!);
  return path;
};

/** The pieces of memory that the columns of a batch are in. */
const memories = ({ columns }: Batch): number =>
  new Set(
    columns.flatMap((column) => [
      column.presence.buffer,
      ...(isBytesColumn(column) ? [column.offsets.buffer, column.bytes.buffer] : [column.values.buffer]),
    ]),
  ).size;

describe("80,000 columns", () => {
  test.each(["csv", "geojson", "kml"])("80,000 columns of a .%s share buffers", async (extension) => {
    const [layer] = await readFile(formats[extension]!, pathOf(extension), { options: {} });
    const [batch] = layer!.batches;
    expect(batch!.columns).toHaveLength(80_000);
    expect(memories(batch!)).toBeLessThan(100);
  });

  test.each(["csv", "geojson", "kml"].flatMap((from) => ["csv", "geojson", "kml"].map((to) => [from, to] as const)))(
    "80,000 columns from .%s to .%s take memory for their values only, and are complete",
    async (from, to) => {
      const output = scratch.path(`from-${from}.${to}`);
      expect(memoryOf([main, "convert", pathOf(from), output, "-q"]) - bare).toBeLessThan(mostMemory[from]!);
      const [layer] = await readFile(formats[to]!, output, { options: {} });
      const [feature] = layer!.batches.flatMap((batch) => [...batch.features()]);
      const values = Object.entries(feature!.properties);
      expect(values).toHaveLength(80_000);
      expect(values.every(([name, value], n) => name === names[n] && Number(value) === digit(n))).toBe(true);
    },
  );

  test.each(["info", "check"])("80,000 columns are reported by %s with memory for their values only", (command) => {
    for (const from of ["csv", "geojson", "kml"])
      expect(memoryOf([main, command, pathOf(from)]) - bare).toBeLessThan(mostMemory[from]!);
  });
});

test("values of 2,000 columns that some rows lack keep their places, in every type", async () => {
  const value = (row: number, n: number): unknown => {
    if ((row * 7 + n) % 3 === 0) return undefined;
    if ((row * 5 + n) % 11 === 0) return null;
    return [row + n, row * 1000 + n / 4, `text ${row} ${n}`, (row + n) % 2 === 0, [row, n], 2 ** 40 + row][n % 6];
  };
  const features = Array.from({ length: 40 }, (_, row) => ({
    type: "Feature",
    geometry: null,
    properties: Object.fromEntries(
      Array.from({ length: 2000 }, (_, n) => [`f${n}`, value(row, n)] as const).filter(([, one]) => one !== undefined),
    ),
  }));
  const from = scratch.path("lacking.geojson");
  const to = scratch.path("lacking-out.geojson");
  writeFileSync(from, JSON.stringify({ type: "FeatureCollection", features }));
  await convertFile(from, to, {});
  expect(JSON.parse(readFileSync(to, "utf8")).features).toEqual(features);
});

test("a sparse .csv of many columns keeps values in their places, with and without a geometry", async () => {
  const rows = 30;
  const fields = Array.from({ length: 3000 }, (_, n) => `f${n}`);
  const valuesOf = (row: number): [string, string][] =>
    [row, 2 * row + 500, 2999 - row].map((n) => [fields[n]!, `${row}-${n}`]);
  // The features of the first part have all fields, so that later batches lack most of them.
  const whole = { properties: Object.fromEntries(fields.map((name) => [name, "x"])) };
  for (const geometry of [null, { type: "Point", coordinates: [10, 50] }]) {
    const features = Array.from({ length: rows }, (_, row) => ({ properties: Object.fromEntries(valuesOf(row)) }));
    const from = scratch.path(`sparse-${geometry?.type}.geojson`);
    const to = scratch.path(`sparse-${geometry?.type}.csv`);
    const all = [whole, ...features].map((feature) => ({ type: "Feature", geometry, ...feature }));
    writeFileSync(from, JSON.stringify({ type: "FeatureCollection", features: all }));
    await convertFile(from, to, {});
    const lead = geometry ? ["10,50"] : [];
    const expected = features.map(({ properties }) =>
      [...lead, ...fields.map((name) => properties[name] ?? "")].join(","),
    );
    expect(readFileSync(to, "utf8").split("\n").slice(2, -1)).toEqual(expected);
  }
});

describe("40,000 features of a field of their own each", () => {
  const placemarks = names
    .slice(0, 40_000)
    .map(
      (name, n) =>
        `<Placemark><ExtendedData><Data name="${name}"><value>v${n}</value></Data></ExtendedData></Placemark>`,
    );
  const from = scratch.path("diagonal.kml");
  writeFileSync(from, `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${placemarks.join("")}</Document></kml>`);

  test.each(["geojson", "kml"])(
    "40,000 features with a field each stay small in a .%s, which has no absent fields",
    async (to) => {
      const output = scratch.path(`diagonal-out.${to}`);
      await convertFile(from, output, {});
      const text = readFileSync(output, "utf8");
      expect(text.length).toBeLessThan(4 * placemarks.join("").length);
      expect([...text.matchAll(/v\d+/g)].map(([value]) => value)).toEqual(placemarks.map((_, n) => `v${n}`));
    },
  );

  test("40,000 features with a field each are rejected for a .csv, which would have 1,600,000,000 cells, and the advice works", async () => {
    const output = scratch.path("diagonal-out.csv");
    await expect(convertFile(from, output, {})).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(
        /1,600,000,000 in all, and 40,000 of them have a value; choose fields with --select/,
      ),
    });
    expect(existsSync(output)).toBe(false);
    await convertFile(from, output, { select: ["c0", "c39999"] });
    expect(readFileSync(output, "utf8")).toMatch(/^c0,c39999\n/);
  });
});
