import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { GeoJsonDataset } from "../../../../plugins/geojson/reader.js";
import { FileSource } from "../../../../src/io/input/source.js";
import { type Batch, type Extent, type LayerSummary, type Split, Summarizer } from "../../../../src/model/index.js";
import { RecordingContext, TemporaryFolder } from "../../../support/read-layers.js";
import { collectionOf, features, outputStyles, validFeatures } from "../generated-features.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const globe: Extent = [-180, -90, 180, 90];
const nowhere: LayerSummary["kinds"][number]["box"] = [
  Number.POSITIVE_INFINITY,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];

interface Summaries {
  /** What skimming says, and null where it leaves that to a reading. */
  readonly scanned: LayerSummary | null;
  /** What reading all features says, null where that fails. */
  readonly full: LayerSummary | null;
}

/** @param padding white space before the text, which makes it a file that is not looked through when it is opened */
async function summaries(
  text: string | Uint8Array,
  {
    splitSize = 1 << 21,
    within: unchangedExtent = globe as Extent | null,
    name = "skimmed.geojson",
    padding = 1 << 20,
  } = {},
): Promise<Summaries> {
  const path = scratch.path(name);
  writeFileSync(path, Buffer.concat([Buffer.alloc(padding, " "), Buffer.from(text)]));
  const opened = (context: RecordingContext) =>
    GeoJsonDataset.open(FileSource.at(path), { fid: undefined }, context, splitSize);
  const looking = new RecordingContext(false);
  let looked = 0;
  await using skimmed = await opened(looking);
  const passed = (bytes: number) => {
    looked += bytes;
  };
  const scanned = await skimmed.layers[0]!.summary!({
    unchangedExtent,
    isLimited: false,
    needsExtent: false,
    onBytesScanned: passed,
  });
  expect([looking.rejects, looking.losses, looking.notices]).toEqual([[], [], []]);
  const full = await read(await opened(new RecordingContext(false)));
  if (scanned) {
    const found: Split[] = [];
    const counted: Split[] = [];
    for await (const split of skimmed.layers[0]!.splits!()) found.push(split);
    await using plain = await opened(new RecordingContext(false));
    for await (const split of plain.layers[0]!.splits!()) counted.push(split);
    expect(found).toEqual(counted);
    expect(looked).toBe(counted.reduce((sum, { bytes }) => sum + bytes, 0));
  }
  return { scanned, full };
}

async function read(dataset: GeoJsonDataset): Promise<LayerSummary | null> {
  await using source = dataset;
  const summariser = new Summarizer(true);
  try {
    for await (const batch of source.layers[0]!.batches()) summariser.add(batch as Batch);
  } catch {
    return null;
  }
  return summariser.summary();
}

/** Expects equal summaries, except for boxes of lines and polygons, which only a full read determines. */
function expectSame(scanned: LayerSummary, full: LayerSummary): void {
  const isPoints = full.kinds.every(({ count }, kind) => kind < 2 || count === 0);
  const kinds = isPoints ? full.kinds : full.kinds.map((kind) => ({ ...kind, box: nowhere }));
  expect(scanned).toEqual({ ...full, kinds, extent: isPoints ? full.extent : null });
}

const number = fc.double({ min: -89, max: 89, noNaN: true }).map((value) => JSON.stringify(value));
const valuesOf: Readonly<Record<string, fc.Arbitrary<string>>> = {
  integers: fc.oneof(fc.integer({ min: -2e9, max: 2e9 }), fc.constantFrom(0, 5e9, -5e9)).map(String),
  small: fc.integer({ min: -9, max: 9 }).map(String),
  numbers: fc.oneof(number, fc.constantFrom("1e300", "-0", "7", "1E-5", `0.${"1".repeat(400)}`)),
  texts: fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom("é", "\t", "東京")).map((text) => JSON.stringify(text)),
  escaped: fc.constantFrom('"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud800"', '"a\tb"', '"20\\u0032\\u0036-01-01"'),
  dates: fc.constantFrom('"2026-11-22"', '"2024-02-29"', '"2\\u0030\\u0032\\u0034-02-29"'),
  times: fc.constantFrom('"10:20:30"', '"2026-11-22T10:20:30Z"'),
  booleans: fc.constantFrom("true", "false"),
  nested: fc.constantFrom("[1,2]", '{"a":"}"}'),
  nothing: fc.constant("null"),
};

const position = fc.tuple(number, number);
const high = fc.tuple(number, number, number);
/** How a program writes an array. */
const joins = [
  (of: readonly string[]) => `[${of.join(",")}]`,
  (of: readonly string[]) => `[${of.join(", ")}]`,
  (of: readonly string[]) => (of.length === 0 ? "[ ]" : `[ ${of.join(", ")} ]`),
] as const;
type Join = (typeof joins)[number];

function geometryOf(
  kind: string,
  join: Join,
  at: fc.Arbitrary<readonly string[]>,
): fc.Arbitrary<readonly [string, string]> {
  const one = at.map(join);
  const line = fc.array(one, { minLength: 2, maxLength: 12 }).map(join);
  const ring = fc.array(one, { minLength: 3, maxLength: 40 }).map((of) => join([...of, of[0]!]));
  const some = (inner: fc.Arbitrary<string>) => fc.array(inner, { minLength: 1, maxLength: 3 }).map(join);
  const all: Readonly<Record<string, fc.Arbitrary<string>>> = {
    Point: one,
    MultiPoint: line,
    LineString: line,
    MultiLineString: some(line),
    Polygon: some(ring),
    MultiPolygon: some(some(ring)),
  };
  return all[kind]!.map((coordinates) => [kind, coordinates] as const);
}

/** Files as one program writes them: the same names and types throughout, geometries that belong together. */
const files = fc
  .record({
    style: fc.constantFrom(...outputStyles.slice(0, 4)),
    join: fc.constantFrom(...joins),
    kinds: fc.constantFrom(["Point"], ["MultiPoint"], ["LineString", "MultiLineString"], ["Polygon", "MultiPolygon"]),
    at: fc.constantFrom(position, high, fc.oneof(position, high)),
    columns: fc.uniqueArray(fc.constantFrom(...Object.keys(valuesOf)), { maxLength: 5 }),
    ids: fc.constantFrom("texts", "integers", "numbers", "nothing"),
  })
  .chain(({ style, join, kinds, at, columns, ids }) => {
    const row = columns.map((name) =>
      fc.oneof({ weight: 8, arbitrary: valuesOf[name]! }, { weight: 1, arbitrary: fc.constantFrom("null", "") }),
    );
    const properties = fc
      .tuple(...row)
      .map((values) => values.flatMap((value, c) => (value === "" ? [] : [`"${columns[c]}":${value}`])))
      .map((pairs) => `{${pairs.join(",")}}`);
    const geometry = fc.oneof(...kinds.map((kind) => geometryOf(kind, join, at)));
    const feature = fc
      .record({
        properties,
        geometry,
        id: valuesOf[ids]!,
        bare: fc.oneof({ weight: 15, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      })
      .map(({ properties, geometry: [type, coordinates], id, bare }) =>
        (bare ? outputStyles[5]! : style)(properties, type, coordinates, id),
      );
    return fc.array(feature, { minLength: 1, maxLength: 40 });
  });

describe("schema scan", () => {
  test("a schema scan gives the summary of a full read", async () => {
    let scanned = 0;
    await fc.assert(
      fc.asyncProperty(
        files,
        fc.constantFrom(1, 300, 4000, 1 << 21),
        fc.constantFrom(0, 1 << 20),
        async (list, splitSize, padding) => {
          const text = list.join(",").includes("\n") ? collectionOf(list) : `[${list.join(",")}]`;
          const found = await summaries(text, { splitSize, padding });
          if (!found.scanned) return;
          scanned++;
          expectSame(found.scanned, found.full!);
        },
      ),
      { numRuns: 200 },
    );
    expect(scanned).toBeGreaterThan(125);
  });

  test("a schema scan gives the summary of a full read for files with a feature per line", async () => {
    let scanned = 0;
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom(300, 1 << 21), async (list, splitSize) => {
        const text = list.map((one) => one.replaceAll("\n", " ")).join("\n");
        const found = await summaries(text, { splitSize, name: "skimmed.geojsonl", padding: 0 });
        if (!found.scanned) return;
        scanned++;
        expectSame(found.scanned, found.full!);
      }),
      { numRuns: 150 },
    );
    expect(scanned).toBeGreaterThan(90);
  });

  test("a schema scan of damaged or odd files gives no summary, or that of a full read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(features, validFeatures), fc.constantFrom(1, 700, 3000), async (list, splitSize) => {
        const { scanned, full } = await summaries(collectionOf(list), { splitSize });
        // A reading that fails needs no summary.
        if (scanned && full) expectSame(scanned, full);
      }),
      { numRuns: 120 },
    );
  });

  const one = (properties: string, coordinates: string, type = "Point") =>
    outputStyles[0]!(properties, type, coordinates, "");
  const many = (of: string, count = 50): string[] => new Array(count).fill(of);

  test.each([
    ["text among numbers", [...many(one('{"a":1}', "[1,2]")), one('{"a":"x"}', "[1,2]")]],
    ["integers of more digits than a double has", many(one('{"a":1234567890123456}', "[1,2]"))],
    ["numbers beyond all", many(one('{"a":1e999}', "[1,2]"))],
    ["a name that occurs twice", many(one('{"a":1,"a":2}', "[1,2]"), 200)],
    ["points and lines", [...many(one("{}", "[1,2]")), one("{}", "[[1,2],[3,4]]", "LineString")]],
    ["points beyond the globe", [...many(one("{}", "[1,2]")), one("{}", "[1,91]")]],
    ["many features that are not alike", many(`${outputStyles[5]!('{"a":1}', "", "", "")}`, 200)],
    [
      "collections",
      many('{"type":"Feature","properties":{},"geometry":{"type":"GeometryCollection","geometries":[]}}'),
    ],
  ])("a schema scan leaves %s to a full read", async (_, list) => {
    const { scanned, full } = await summaries(collectionOf(list));
    expect(scanned).toBeNull();
    expect(full === null || full.featureCount === list.length).toBe(true);
  });

  test("a schema scan leaves texts that are not UTF-8 to a full read, and finds splits for many threads", async () => {
    const list = collectionOf(many(one('{"a":"é"}', "[1,2]")));
    expect((await summaries(Buffer.from(list, "latin1"))).scanned).toBeNull();
    expect((await summaries(list, { within: null })).scanned).toBeNull();
    expect((await summaries(list)).scanned).not.toBeNull();
  });

  test.each([
    ["a height in one position", "[[1,2],[3,4,5]]", "LineString"],
    ["an empty ring", "[[[1,2],[3,4],[5,6],[1,2]],[]]", "Polygon"],
    ["an empty ring and a height", "[[[1,2],[3,4,5],[5,6],[1,2]],[]]", "Polygon"],
    ["no position at all", "[]", "LineString"],
    ["four numbers", "[[1,2,3,4],[1,2,3,4]]", "LineString"],
    ["three and one", "[[1,2,3],[4,5],[6]]", "LineString"],
  ])("a schema scan of %s agrees with a full read", async (_, coordinates, type) => {
    const list = [...many(one("{}", "[[1,2],[3,4],[5,6],[1,2]]", "LineString"), 20), one("{}", coordinates, type)];
    const { scanned, full } = await summaries(collectionOf(type === "Polygon" ? [one("{}", coordinates, type)] : list));
    if (scanned && full) expectSame(scanned, full);
    const alone = await summaries(collectionOf(many(one("{}", coordinates, type), 20)));
    if (alone.scanned && alone.full) expectSame(alone.scanned, alone.full);
  });

  const odd = (properties: string) => `{"properties":${properties},"geometry":null,"type":"Feature"}`;

  test.each([
    ["a repeated name after plain ones", [...many(one('{"a":1}', "[1,2]")), one('{"a":1,"a":2}', "[1,2]")]],
    ["a point with the coordinates of a line", [...many(one("{}", "[1,2]")), one("{}", "[[1,2],[3,4]]")]],
    [
      "a line with the coordinates of a point",
      [...many(one("{}", "[[1,2],[3,4]]", "LineString")), one("{}", "[1,2]", "LineString")],
    ],
    ["text in a parsed one", [...many(one('{"a":1}', "[1,2]")), odd('{"a":"x"}')]],
  ])("a schema scan gives no summary for %s", async (_, list) => {
    expect((await summaries(collectionOf(list))).scanned).toBeNull();
  });

  test.each([1, 700, 1 << 21])(
    "a schema scan summarizes splits of %i bytes, including the last of the file",
    async (splitSize) => {
      const list = [
        ...many(one('{"a":1}', "[[1,2],[3,4]]", "LineString")),
        odd('{"z":1,"b":2}'),
        ...many(one('{"b":1.5,"a":1}', "[ [1,2], [3,4] ]", "LineString")),
        odd('{"late":true}'),
        ...many(one('{"x":1,"a":1}', "[ [ 1,2],[ 3,4]]", "LineString")),
        one('{"c":1,"b":3,"a":1}', "[[1,2],[3,4]]", "LineString"),
      ];
      for (const padding of [0, 1 << 20]) {
        const { scanned, full } = await summaries(collectionOf(list), { splitSize, padding });
        expectSame(scanned!, full!);
      }
    },
  );

  test("a schema scan does not lose heights among line feeds", async () => {
    const list = [
      ...many(one("{}", "[[1,2],[3,4]]", "LineString")),
      ...many(one("{}", "[\n  [1,2,3],\n  [4,5,6]\n]", "LineString")),
    ];
    const { scanned, full } = await summaries(collectionOf(list));
    expect(scanned?.hasZ ?? full!.hasZ).toBe(true);
  });

  test.each([
    ["where features are skipped that are damaged", { skipErrors: true }],
    ["where no more than some are read", { isLimited: true }],
    ["where the extent is wanted", { needsExtent: true }],
    ["where ids become a field", { fid: "id" }],
  ])("no schema scan is used %s", async (_, { skipErrors = false, fid, ...asked }: Asked) => {
    const path = scratch.path("left.geojson");
    writeFileSync(path, collectionOf(many(one('{"a":1}', "[[1,2],[3,4]]", "LineString"))));
    await using dataset = await GeoJsonDataset.open(
      FileSource.at(path),
      { fid },
      new RecordingContext(skipErrors),
      1 << 21,
    );
    const summary = await dataset.layers[0]!.summary!({
      unchangedExtent: globe,
      isLimited: false,
      needsExtent: false,
      ...asked,
    });
    expect(summary).toBeNull();
  });

  test("a schema scan reports no members beside the features, which the read afterwards reports once", async () => {
    const path = scratch.path("foreign.geojson");
    const list = collectionOf(many(one('{"a":1}', "[[1,2],[3,4]]", "LineString")));
    writeFileSync(path, " ".repeat(1 << 20) + list.replace(/}$/, ',"beside":{}}'));
    const context = new RecordingContext(false);
    await using dataset = await GeoJsonDataset.open(FileSource.at(path), { fid: undefined }, context, 1 << 21);
    const [layer] = dataset.layers;
    expect(await layer!.summary!({ unchangedExtent: globe, isLimited: false, needsExtent: false })).not.toBeNull();
    expect(context.losses).toEqual([]);
    for await (const _ of layer!.batches());
    expect(context.losses).toMatchObject([{ code: "foreign-member", field: "beside", count: 1 }]);
  });
});

interface Asked {
  readonly skipErrors?: boolean;
  readonly fid?: string;
  readonly isLimited?: boolean;
  readonly needsExtent?: boolean;
}
