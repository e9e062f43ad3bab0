import { afterAll, describe, expect, test } from "vitest";
import { classify } from "../../src/view/colors/classify.js";
import { radixSort } from "../../src/view/index/radix-sort.js";
import type { TableQuery } from "../../src/view/view-layer.js";
import { feature, LayerMaker, point } from "./layer.js";

const maker = new LayerMaker();
afterAll(() => maker.remove());

const layer = maker.make(
  [
    feature(point(0, 0), { name: "Zürich", people: 400_000, height: -3.5 }),
    feature(point(1, 1), { name: "aachen", people: 2, height: 10 }),
    feature(null, { name: null, people: null, height: 0 }),
  ],
  [
    feature(point(2, 2), { name: "Aachen-Brand, a long name", people: 30, height: -120.25 }),
    feature(point(3, 3), { name: "Aachen-Brand, a longer name", people: 5_000_000_000, height: 1e-9 }),
    feature(point(4, 4), { name: "", people: -1, extra: true }),
  ],
);

const all: TableQuery = { where: null, sort: null };
const numbers = async (query: TableQuery) => (await layer.rows(query, 0, 100, [])).map(({ row }) => row);
const sortedBy = (field: string, descending = false) => ({
  where: null,
  sort: { field: layer.data.fields.findIndex(({ name }) => name === field), descending },
});

describe("rows", () => {
  test("have the values of their batch, and null where it has no such field", async () => {
    expect(layer.data.fields).toEqual([
      { name: "name", type: "text" },
      { name: "people", type: "int64" },
      { name: "height", type: "double" },
      { name: "extra", type: "boolean" },
    ]);
    const rows = await layer.rows(all, 2, 2, [0, 1, 2, 3]);
    expect(rows).toEqual([
      { row: 2, id: null, geometry: null, cells: [null, null, 0, null] },
      { row: 3, id: null, geometry: "Point", cells: ["Aachen-Brand, a long name", 30, -120.25, null] },
    ]);
  });

  test("end where the layer ends", async () => {
    expect((await layer.rows(all, 5, 100, [0])).length).toBe(1);
    expect((await layer.rows(all, 6, 100, [0])).length).toBe(0);
  });

  test("a long text is cut in the table, and not in the panel", async () => {
    const long = maker.make([feature(null, { text: "ä".repeat(500) })]);
    const [row] = await long.rows(all, 0, 1, [0]);
    expect(row!.cells).toEqual([`${"ä".repeat(160)}…`]);
    expect(long.feature(0).cells).toEqual(["ä".repeat(500)]);
  });
});

describe("sorting", () => {
  test("numbers by size, with nulls last in both directions", async () => {
    expect(await numbers(sortedBy("people"))).toEqual([5, 1, 3, 0, 4, 2]);
    expect(await numbers(sortedBy("people", true))).toEqual([4, 0, 3, 1, 5, 2]);
    expect(await numbers(sortedBy("height"))).toEqual([3, 0, 2, 4, 1, 5]);
  });

  test("texts by their bytes, also those that begin with the same eight", async () => {
    expect(await numbers(sortedBy("name"))).toEqual([5, 3, 4, 0, 1, 2]);
    expect(await numbers(sortedBy("name", true))).toEqual([1, 0, 4, 3, 5, 2]);
  });

  test("numbers among texts count as texts", async () => {
    const mixed = maker.make([feature(null, { a: 7 }), feature(null, { a: 10 })], [feature(null, { a: "8" })]);
    const query = { where: null, sort: { field: 0, descending: false } };
    expect((await mixed.rows(query, 0, 9, [])).map(({ row }) => row)).toEqual([1, 0, 2]);
  });

  test("rows that a radix sort gets are sorted as a comparison sorts them", () => {
    let seed = 7;
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    const [low, high] = [
      Uint32Array.from({ length: 5000 }, next),
      Uint32Array.from({ length: 5000 }, () => next() % 7),
    ];
    const rows = Uint32Array.from({ length: 5000 }, (_, row) => row);
    const expected = [...rows].sort((a, b) => high[a]! - high[b]! || low[a]! - low[b]! || a - b);
    expect([...radixSort(rows, [low, high])]).toEqual(expected);
  });
});

describe("filters", () => {
  test("keep the features that a condition holds for, in any order", async () => {
    const query = { where: "people > 10 and name like 'A%'", sort: sortedBy("people", true).sort };
    expect(await numbers(query)).toEqual([4, 3]);
    expect(await layer.count(query.where)).toEqual({ rows: 2, located: 2 });
    expect(await layer.count("height = 0")).toEqual({ rows: 1, located: 0 });
  });

  test("find the position of a feature, or that it is not there", async () => {
    const query = { where: "people > 10", sort: null };
    expect([await layer.positionOf(query, 3), await layer.positionOf(query, 1)]).toEqual([1, -1]);
  });

  test("with a mistake say what is wrong", async () => {
    await expect(layer.count("people >")).rejects.toThrow(/--where|condition|expected/);
    await expect(layer.count("peple > 3")).rejects.toThrow('did you mean "people"?');
  });
});

describe("colors", () => {
  const parity = maker.make(
    Array.from({ length: 100 }, (_, n) =>
      feature(point(n / 10, 0), { n, word: n % 10 === 0 ? null : n % 2 === 0 ? "even" : "odd" }),
    ),
  );

  test("the most frequent values have classes, and null has its own", async () => {
    const { legend, of } = await classify(parity.data, { field: 1, method: "values" });
    expect(legend).toEqual([
      { label: "odd", count: 50 },
      { label: "even", count: 40 },
      { label: "other values", count: 0 },
      { label: "no value", count: 10 },
    ]);
    expect([...of.subarray(0, 4)]).toEqual([3, 0, 1, 0]);
  });

  test("quantiles have as many features each", async () => {
    const { legend } = await classify(parity.data, { field: 0, method: "quantiles" });
    expect(legend.slice(0, 5)).toEqual([
      { label: "0 to below 20", count: 20 },
      { label: "20 to below 40", count: 20 },
      { label: "40 to below 60", count: 20 },
      { label: "60 to below 80", count: 20 },
      { label: "80 to 99", count: 20 },
    ]);
  });

  test("equal ranges have the same width", async () => {
    const skewed = maker.make([0, 1, 2, 3, 100].map((n) => feature(null, { n })));
    const { legend, of } = await classify(skewed.data, { field: 0, method: "equal" });
    expect(legend.map(({ count }) => count)).toEqual([4, 0, 0, 0, 1, 0, 0]);
    expect([...of]).toEqual([0, 0, 0, 0, 4]);
  });

  test("equal numbers are in one class", async () => {
    const same = maker.make(Array.from({ length: 20 }, (_, k) => feature(null, { n: k < 18 ? 5 : 6 })));
    const { legend } = await classify(same.data, { field: 0, method: "quantiles" });
    expect(legend.map(({ label, count }) => [label, count])).toEqual([
      ["5 to 6", 20],
      ["other values", 0],
      ["no value", 0],
    ]);
  });

  test("features have their own colors, those of points first for points", async () => {
    const line = {
      type: "LineString" as const,
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    };
    const styled = maker.make([
      feature(point(0, 0), { "icon-color": "#F00", stroke: "#00ff00" }),
      feature(line, { "icon-color": "#F00", stroke: "#00ff00" }),
      feature(line, { stroke: "url(javascript:alert(1))" }),
    ]);
    const { legend, of } = await classify(styled.data, { field: 0, method: "own" });
    expect(legend.map(({ color }) => color)).toEqual(["#00ff00", "#ff0000", undefined, undefined]);
    expect([...of]).toEqual([1, 0, 3]);
  });
});
