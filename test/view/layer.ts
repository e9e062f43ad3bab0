import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Feature } from "../../src/model/batch.js";
import type { Geometry } from "../../src/model/geometry.js";
import { packFeatures } from "../../src/model/pack-features.js";
import { SpooledLayer } from "../../src/view/spool/spooled-layer.js";
import { encodeViewChunk } from "../../src/view/spool/view-format.js";
import { ViewLayer } from "../../src/view/view-layer.js";
import { TemporaryFolder } from "../support/read-layers.js";

export const feature = (geometry: Geometry | null, properties: Record<string, unknown> = {}): Feature => ({
  type: "Feature",
  geometry,
  properties,
});

export const point = (longitude: number, latitude: number): Geometry => ({
  type: "Point",
  coordinates: [longitude, latitude],
});

/** A closed ring around a box of degrees. */
export const boxRing = (west: number, south: number, east: number, north: number): number[][] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];

export const area = (...rings: number[][][]): Geometry => ({ type: "Polygon", coordinates: rings });

/** Layers in temporary files. @param batches features of each batch */
export class LayerMaker {
  private readonly scratch = new TemporaryFolder();
  private readonly made: SpooledLayer[] = [];

  make(...batches: readonly (readonly Feature[])[]): ViewLayer {
    const layer = new SpooledLayer(mkdtempSync(join(this.scratch.folder, "layer-")), "layer", null);
    this.made.push(layer);
    for (const features of batches) layer.add(encodeViewChunk(packFeatures(features, 1)));
    layer.finish();
    return new ViewLayer(layer);
  }

  remove(): void {
    for (const layer of this.made) layer[Symbol.dispose]();
    this.scratch.remove();
  }
}
