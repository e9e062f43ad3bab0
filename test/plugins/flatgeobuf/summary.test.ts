import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import flatgeobuf from "../../../plugins/flatgeobuf/index.js";
import { type Extent, Summarizer } from "../../../src/model/index.js";
import { layerBatches, openDataset, RecordingContext, TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { featureBytes, property, sized, writeFgb } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

async function summaries(path: string, unchangedExtent: Extent | null, needsExtent = false) {
  await using dataset = await openDataset(flatgeobuf, path, new RecordingContext());
  const layer = dataset.layers[0]!;
  const own = await layer.summary!({ unchangedExtent, isLimited: false, needsExtent });
  const summarizer = new Summarizer(false);
  for await (const batch of layerBatches(layer)) summarizer.add(batch);
  return { own, read: summarizer.summary() };
}

const globe: Extent = [-180, -90, 180, 90];

describe("a summary without reading features", () => {
  it("of points is that of the features", async () => {
    const source = scratch.path("points.csv");
    const rows = Array.from(
      { length: 500 },
      (_, n) => `${n},name ${n * n},${n / 3},${n % 2 ? "yes" : ""},2024-02-29,${n / 3},${-n / 6}`,
    );
    writeFileSync(source, `n,name,d,odd,day,lon,lat\n${rows.join("\n")}\n`);
    const path = scratch.path("points.fgb");
    await convertFile(source, path);
    const { own, read } = await summaries(path, globe);
    const counts = (fields: typeof read.fields) => fields.map(({ name, type, values }) => [name, type, values]);
    expect(counts(own!.fields)).toEqual(counts(read.fields));
    for (const [f, field] of own!.fields.entries())
      expect(field.maxBytes).toBeGreaterThanOrEqual(read.fields[f]!.maxBytes);
    expect(own!.fields.find(({ name }) => name === "name")!.maxBytes).toBe("name 249001".length);
    expect({ ...own, fields: [] }).toEqual({ ...read, fields: [] });
  });

  it("leaves points to the reader that stages may change", async () => {
    const path = writeFgb(scratch.path("far.fgb"), { geometryType: 1 }, [featureBytes({ xy: [200, 0] })]);
    expect((await summaries(path, null)).own).toBeNull();
    expect((await summaries(path, globe)).own).toBeNull();
    expect((await summaries(path, [-900, -900, 900, 900])).own!.extent).toEqual([200, 0, 200, 0]);
  });

  it("has all kinds and dimensions of other geometries, and no extent", async () => {
    const features = [
      featureBytes({ type: 2, xy: [0, 0, 1, 1], z: [1, 2] }),
      featureBytes({ type: 6, parts: [{ xy: [0, 0, 1, 0, 1, 1, 0, 0], z: [1, 2, 3, 1] }] }),
      featureBytes(null),
    ];
    const path = writeFgb(scratch.path("lines.fgb"), { hasZ: true }, features);
    const { own, read } = await summaries(path, null);
    expect(own!.kinds.map(({ count, hasZ }) => [count, hasZ])).toEqual(
      read.kinds.map(({ count, hasZ }) => [count, hasZ]),
    );
    expect([own!.featureCount, own!.hasZ, own!.extent]).toEqual([3, true, null]);
    expect((await summaries(path, null, true)).own).toBeNull();
  });

  it("knows that text grows where it is not UTF-8, and leaves JSON to the reader", async () => {
    const bytes = featureBytes(null, property(0, sized(Uint8Array.of(0xff, 0xff, 0xff))));
    const { own, read } = await summaries(
      writeFgb(scratch.path("t.fgb"), { columns: [{ name: "t", type: 11 }] }, [bytes]),
      null,
    );
    expect([own!.fields[0]!.maxBytes, read.fields[0]!.maxBytes]).toEqual([9, 9]);
    expect(
      (await summaries(writeFgb(scratch.path("j.fgb"), { columns: [{ name: "j", type: 12 }] }, []), null)).own,
    ).toBeNull();
  });
});
