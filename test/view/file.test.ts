/** The data of a page that needs no server. */
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import type { Feature } from "../../src/model/batch.js";
import { type LayerHead, MemoryLayer } from "../../src/view/file/layer-bytes.js";
import { spread, viewToBytes } from "../../src/view/file/view-bytes.js";
import { ViewLayer } from "../../src/view/view-layer.js";
import { area, boxRing, feature, LayerMaker, point } from "./layer.js";

const maker = new LayerMaker();
afterAll(() => maker.remove());

/** As the page decodes them. */
function decode(compressed: Uint8Array): ViewLayer[] {
  const bytes = gunzipSync(compressed);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const length = new Uint32Array(buffer, 0, 1)[0]!;
  const heads = JSON.parse(Buffer.from(buffer, 4, length).toString()) as LayerHead[];
  return heads.map((head) => new ViewLayer(new MemoryLayer(head, buffer, 4 + length)));
}

const all = { where: null, sort: null };

test("without a limit the page has the same rows, tiles and answers", async () => {
  const features: Feature[] = [
    feature(area(boxRing(0, 0, 30, 30)), { name: "größer", n: 3, big: 5_000_000_000, flag: true }),
    feature(point(-50, 20), { name: null, n: -1.5 }),
    feature(null, { name: "nowhere", data: { a: [1] } }),
  ];
  const layer = maker.make(features, [
    feature(
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [40, 10],
        ],
      },
      { name: "line" },
    ),
  ]);
  const { compressed, counts, generalized } = await viewToBytes([layer.data], 1e6);
  const [copy] = decode(compressed);
  const fields = layer.data.fields.map((_, field) => field);
  expect(await copy!.rows(all, 0, 10, fields)).toEqual(await layer.rows(all, 0, 10, fields));
  for (const address of [
    { z: 0, x: 0, y: 0 },
    { z: 2, x: 2, y: 1 },
  ])
    expect(await copy!.tile(address, null, null)).toEqual(await layer.tile(address, null, null));
  expect(await copy!.count("name like 'gr%' or n < 0")).toEqual({ rows: 2, located: 2 });
  expect([counts, generalized]).toEqual([[{ rows: 4, located: 3 }], []]);
});

describe("with a limit", () => {
  const circle = (x: number, positions: number) =>
    area(
      Array.from({ length: positions + 1 }, (_, k) => {
        const angle = (2 * Math.PI * (k % positions)) / positions;
        return [x + Math.cos(angle), Math.sin(angle) + 1e-4 * Math.sin(50 * angle)];
      }),
    );

  test("shapes are generalized first, which the page says", async () => {
    const layer = maker.make(Array.from({ length: 40 }, (_, k) => feature(circle(3 * k - 60, 2000), { k })));
    const exact = await viewToBytes([layer.data], 1e9);
    const { compressed, counts, generalized } = await viewToBytes([layer.data], exact.compressed.length / 3);
    expect(compressed.length).toBeLessThanOrEqual(exact.compressed.length / 3);
    expect([counts, exact.generalized]).toEqual([[{ rows: 40, located: 40 }], []]);
    expect(generalized).toEqual([expect.stringMatching(/^Lines and areas are generalized to [\d.]+ m/)]);
  });

  test("then features are left out, evenly, which the page says", async () => {
    const layer = maker.make(
      Array.from({ length: 1000 }, (_, k) => feature(point(k / 10, (k * 7919) % 80), { text: String(Math.sin(k)) })),
    );
    const exact = await viewToBytes([layer.data], 1e9);
    const limit = Math.round(exact.compressed.length / 2);
    const { compressed, counts, generalized } = await viewToBytes([layer.data], limit);
    const [{ rows, located }] = counts as [{ rows: number; located: number }];
    expect(compressed.length).toBeLessThanOrEqual(limit);
    expect(rows).toBeGreaterThan(300);
    expect([rows < 600, located]).toEqual([true, rows]);
    expect(generalized).toEqual([
      `This page has ${rows} of 1,000 features, evenly spread over each layer, so that it is not too large; --max-size allows more. Its statistics are those of all features.`,
    ]);
    const [copy] = decode(compressed);
    const shown = await copy!.rows(all, 0, 1000, [0]);
    expect([shown.length, shown[0]!.cells]).toEqual([rows, ["0"]]);
  });
});

test("kept features are spread evenly", () => {
  expect([...spread(10, 0.5)!]).toEqual([0, 2, 4, 6, 8]);
  expect([spread(10, 1), [...spread(10, 0)!]]).toEqual([null, []]);
});
