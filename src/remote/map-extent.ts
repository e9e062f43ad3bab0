import type { Extent } from "../model/geometry.js";
import { GeometryExtent } from "../model/geometry-extent.js";
import type { MapClient } from "./map-client.js";
import { MapReading } from "./snapshot-pages.js";

/**
 * Of all positions of a map, in degrees; null where it has none. One reading is enough: who asks wants to know where the
 * map lies.
 * @param onProgress told the features read so far
 * @throws what `MapClient.page` throws
 */
export async function extentOfMap(client: MapClient, onProgress: (features: number) => void): Promise<Extent | null> {
  const box = new GeometryExtent();
  let count = 0;
  for await (const { features } of new MapReading(client).read()) {
    for (const { geometry } of features) box.add(geometry);
    count += features.length;
    onProgress(count);
  }
  return box.extent;
}
