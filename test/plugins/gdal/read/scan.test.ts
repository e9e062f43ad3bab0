/** A layer that is scanned before it is read: GDAL reads it once, and what is read is the same as without a scan. */
import { copyFileSync, truncateSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { createReader } from "../../../../plugins/gdal/reader.js";
import { FileSource } from "../../../../src/io/input/source.js";
import { samples } from "../../../support/command.js";
import { RecordingContext, readFeatures, TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal, ogr2ogr } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const open = (path: string, context: RecordingContext) =>
  createReader("GeoJSONSeq").open(FileSource.at(path), { memory: 2048, ids: "auto" }, context);

describe.skipIf(!hasGdal)("a layer that was scanned", () => {
  const path = scratch.path("capitals.geojsonl");
  if (hasGdal) ogr2ogr("-f", "GeoJSONSeq", path, `${samples}/capitals.geojson`);

  test("is not read by GDAL again", async () => {
    const changed = scratch.path("changed.geojsonl");
    copyFileSync(path, changed);
    await using dataset = await open(changed, new RecordingContext());
    const layer = dataset.layers[0]!;
    const scanned: unknown[] = [];
    for await (const { batch } of layer.scanBatches!()) scanned.push(...batch.features());
    truncateSync(changed);
    expect(scanned).toHaveLength(195);
    expect(await readFeatures(dataset)).toEqual(scanned);
    expect(await readFeatures(dataset)).toEqual(scanned);
  });

  test("is read by GDAL if the scan ended early", async () => {
    await using plain = await open(path, new RecordingContext());
    await using dataset = await open(path, new RecordingContext());
    for await (const { batch } of dataset.layers[0]!.scanBatches!()) {
      expect(batch.length).toBe(195);
      break;
    }
    expect(await readFeatures(dataset)).toEqual(await readFeatures(plain));
  });

  test("is read by GDAL if the temporary file cannot be written", async () => {
    const context = new RecordingContext();
    await using dataset = await open(path, context);
    context.createTemporaryPath = async (name) => scratch.path(`no-such-folder/${name}`);
    let scanned = 0;
    for await (const { batch } of dataset.layers[0]!.scanBatches!()) scanned += batch.length;
    expect([scanned, (await readFeatures(dataset)).length]).toEqual([195, 195]);
  });

  test("reports its losses when it is read, and not in the scan", async () => {
    const lossy = scratch.path("lossy.mif");
    ogr2ogr("-f", "MapInfo File", lossy, `${samples}/capitals.geojson`, "-dsco", "FORMAT=MIF");
    copyFileSync(lossy, scratch.path("alone.mif"));
    const context = new RecordingContext();
    const source = FileSource.at(scratch.path("alone.mif"));
    await using dataset = await createReader("MapInfo File").open(source, { memory: 2048, ids: "auto" }, context);
    for await (const _ of dataset.layers[0]!.scanBatches!()) expect(context.losses).toEqual([]);
    await readFeatures(dataset);
    expect(context.losses.map(({ code }) => code)).toEqual(["companion-missing"]);
  });
});
