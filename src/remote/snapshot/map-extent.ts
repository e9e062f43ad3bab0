import type { Extent } from "../../model/geometry.js";
import { GeometryExtent } from "../../model/geometry-extent.js";
import type { MapClient } from "../client/map-client.js";
import { MapPageReader } from "./map-page-reader.js";

/**
 * Reads the extent of all positions of a map, in degrees; null if it has none. One pass suffices, since callers only
 * need to know where the map is.
 * @param onProgress receives the number of features read so far
 * @throws errors of `MapClient.page`
 */
export async function readMapExtent(client: MapClient, onProgress: (features: number) => void): Promise<Extent | null> {
  const extent = new GeometryExtent();
  let count = 0;
  for await (const { features } of new MapPageReader(client).read()) {
    for (const { geometry } of features) extent.add(geometry);
    count += features.length;
    onProgress(count);
  }
  return extent.extent;
}
