import type { FeatureDetail, PickedFeatures, ShapeRing } from "./protocol.js";
import { forEachRing, RingType } from "./shape-record.js";
import { turnOf } from "./tiles/build-tile.js";
import type { ViewLayer } from "./view-layer.js";
import { noLevel, unitsPerPixel } from "./world.js";

/** Positions of a shape that are sent, unless its coarsest version has more. */
const maxPositions = 60_000;

/** @param zoom the shape is exact to half a pixel of it, as far as it does not have too many positions */
export function featureDetail(layer: ViewLayer, row: number, zoom: number, wkt: string | null): FeatureDetail {
  const { data } = layer;
  const feature = layer.feature(row);
  if (data.levels[row] === noLevel) return { ...feature, center: null, rings: [], wkt };
  const center = [data.x[row]!, data.y[row]!] as const;
  return { ...feature, center, rings: shapeOf(layer, row, zoom), wkt };
}

function shapeOf({ data }: ViewLayer, row: number, zoom: number): ShapeRing[] {
  for (let at = Math.ceil(zoom); ; at -= 3) {
    const record = data.record(row, at);
    if (record === null) return [{ type: RingType.points, xy: [data.x[row]!, data.y[row]!] }];
    const turn = turnOf(record, at, data.x[row]!);
    const rings: ShapeRing[] = [];
    let positions = 0;
    forEachRing(record, at, (type, words, from, count) => {
      positions += count;
      if (positions > maxPositions && at > 0) return;
      const xy = Array.from(words.subarray(from, from + 2 * count), (value, k) => (k % 2 === 0 ? value - turn : value));
      rings.push({ type, xy });
    });
    if (positions <= maxPositions || at <= 0) return rings;
  }
}

/** Distance in pixels at which a feature is found. */
const pickPixels = 7;

/** Features that are listed. */
const maxPicked = 100;

/** @param layers the upper ones first */
export async function pickFeatures(
  layers: readonly { readonly id: number; readonly layer: ViewLayer; readonly where: string | null }[],
  x: number,
  y: number,
  zoom: number,
): Promise<PickedFeatures> {
  const place = { x, y, zoom: Math.ceil(zoom), reach: pickPixels * unitsPerPixel(zoom) };
  const features: { layer: number; row: number }[] = [];
  let count = 0;
  for (const { id, layer, where } of layers) {
    const picked = await layer.pick(place, where);
    count += picked.count;
    features.push(...picked.rows.map((row) => ({ layer: id, row })));
  }
  return { features: features.slice(0, maxPicked), count };
}
