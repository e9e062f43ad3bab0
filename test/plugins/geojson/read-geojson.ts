import { writeFileSync } from "node:fs";
import { GeoJsonDataset } from "../../../plugins/geojson/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Feature } from "../../../src/model/index.js";
import { RecordingContext, readFeatures, type TemporaryFolder } from "../../support/read-layers.js";

export interface GeoJsonReading {
  readonly features: Feature[];
  readonly context: RecordingContext;
  readonly name: string;
  readonly crs: string | null;
}

interface Settings {
  readonly file?: string;
  readonly skipErrors?: boolean;
  readonly splitSize?: number;
  readonly bySplits?: boolean;
  readonly fid?: string;
}

/** Reads a text as a GeoJSON file. */
export async function read(
  scratch: TemporaryFolder,
  text: string | Uint8Array,
  settings: Settings = {},
): Promise<GeoJsonReading> {
  const path = scratch.path(settings.file ?? "places.geojson");
  writeFileSync(path, text);
  const context = new RecordingContext(settings.skipErrors);
  const options = { fid: settings.fid };
  await using dataset = await GeoJsonDataset.open(
    FileSource.at(path, settings.file ?? "places.geojson"),
    options,
    context,
    settings.splitSize ?? 1 << 22,
  );
  const features = await readFeatures(dataset, 0, settings.bySplits ?? true);
  const { name, crs } = dataset.layers[0]!;
  return { features, context, name, crs: crs?.id ?? null };
}

export const collection = (...features: unknown[]) => ({ type: "FeatureCollection", features });
export const feature = (geometry: unknown, properties: unknown = {}, more: object = {}) => ({
  type: "Feature",
  ...more,
  geometry,
  properties,
});
export const point = (...coordinates: number[]) => ({ type: "Point", coordinates });
