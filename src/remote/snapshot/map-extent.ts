import type { Extent } from "../../model/geometry.js";
import { GeometryExtent } from "../../model/geometry-extent.js";
import type { MapClient } from "../client/map-client.js";
import { MapPageReader } from "./map-page-reader.js";

/**
 * Of all positions of a map, in degrees; null where it has none. One reading is enough: who asks wants to know where the
 * map lies.
 * @param onProgress told the features read so far
 * @throws what `MapClient.page` throws
 */
export async function readMapExtent(client: MapClient, onProgress: (features: number) => void): Promise<Extent | null> {
  const box = new GeometryExtent();
  let count = 0;
  for await (const { features } of new MapPageReader(client).read()) {
    for (const { geometry } of features) box.add(geometry);
    count += features.length;
    onProgress(count);
  }
  return box.extent;
}
