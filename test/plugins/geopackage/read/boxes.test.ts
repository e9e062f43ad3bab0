import { afterAll, expect, it } from "vitest";
import geopackage from "../../../../plugins/geopackage/index.js";
import { WkbWriter } from "../../../../plugins/shared/wkb/index.js";
import { type Batch, GeometryBuilder } from "../../../../src/model/index.js";
import { openDataset, RecordingContext, TemporaryFolder } from "../../../../src/testing/index.js";
import { blobOf, newPackage, register } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const wkb = (coordinates: number[][]): Buffer => {
  const builder = new GeometryBuilder();
  builder.addGeoJson({ type: "LineString", coordinates });
  return Buffer.from(new WkbWriter().write(builder.finish(), 0));
};
const line = wkb([
  [5, 1],
  [2, 8],
  [3, 4],
  [4, 4],
  [3, 2],
]);
/** What an envelope says goes axis by axis, a box corner by corner. */
const right = [2, 1, 5, 8];

it("boxes are computed from positions, even if the envelopes differ", async () => {
  const blobs = [
    blobOf(line, { kind: 1, envelope: [2, 5, 1, 8] }),
    blobOf(line, { kind: 1, envelope: [2, 5, 1, 8], big: true }),
    blobOf(line),
    blobOf(line, { kind: 1, envelope: [0, 9, 0, 9] }),
    blobOf(line, { kind: 1, envelope: [3, 4, 1, 8] }),
    blobOf(line, { kind: 1, envelope: [Number.NaN, 5, 1, 8] }),
    null,
  ];
  const path = scratch.path("boxes.gpkg");
  const database = newPackage(path);
  database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, geom GEOMETRY)");
  register(database, "t", "geom");
  for (const blob of blobs) database.prepare("INSERT INTO t (geom) VALUES (?)").run(blob);
  database.close();
  await using dataset = await openDataset(geopackage, path, new RecordingContext(false));
  const boxes: number[] = [];
  for await (const batch of dataset.layers[0]!.batches()) boxes.push(...(batch as Batch).geometry.boxes!);
  const none = [Infinity, Infinity, -Infinity, -Infinity];
  expect(boxes).toEqual([...Array.from({ length: 6 }, () => right).flat(), ...none]);
});
