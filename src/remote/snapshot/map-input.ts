/** Provides a map as pipeline input: a snapshot as GeoJSON files. */
import { rm } from "node:fs/promises";
import type { FeatureSide } from "../../compare/feature-side.js";
import { Workspace } from "../../compare/workspace.js";
import { FileSource } from "../../io/input/source.js";
import { Kind } from "../../model/geometry.js";
import { splitList } from "../../pipeline/plan/split-list.js";
import type { MapInputRequest } from "../../pipeline/request.js";
import type { MapClient } from "../client/map-client.js";
import { readSnapshot } from "./read-snapshot.js";
import { SpooledCollection } from "./spooled-collection.js";

/** The optional layers of a map, by geometry type. */
export const geometryLayers: Readonly<Record<string, readonly number[]>> = {
  point: [Kind.Point, Kind.MultiPoint],
  line: [Kind.LineString, Kind.MultiLineString],
  polygon: [Kind.Polygon, Kind.MultiPolygon],
  collection: [Kind.GeometryCollection],
  none: [Kind.none],
};

/** Distinguishes coordinates down to the last bit. */
const fullPrecision = { degrees: 15, metres: 15 };

interface MapInputSettings {
  /** As in `readSnapshot`. */
  readonly singleRead: boolean;
}

/**
 * Reads a map as one layer with all features, named after its id. If `layers` names geometry layers, it has those as
 * well.
 * @throws errors of `readSnapshot`
 */
export async function readMapInput(
  client: MapClient,
  { id, name, layers, spool, maxBytes, onProgress }: MapInputRequest,
  { singleRead }: MapInputSettings,
): Promise<FileSource[]> {
  const workspace = await Workspace.create(spool);
  try {
    await readSnapshot(client, workspace, {
      rounding: fullPrecision,
      // Integers beyond 2^53 and long decimals as the service sends them.
      exact: true,
      singleRead,
      maxBytes,
      onProgress: ({ features }) => onProgress(features),
    });
    const collections: LayerFile[] = [];
    for (const layer of selectLayers(id, layers)) {
      const file = await SpooledCollection.create(spool.folder(), layer);
      collections.push({ file, kinds: geometryLayers[layer] ?? null });
    }
    await writeLayers(collections, workspace.map);
    return collections.map(({ file }) => FileSource.at(file.path, name));
  } finally {
    workspace[Symbol.dispose]();
    await rm(workspace.folder, { recursive: true, force: true });
  }
}

/** Selects all layers if no name is known, so that the error for a mistyped name lists the existing ones. */
function selectLayers(id: string, requested: readonly string[]): readonly string[] {
  if (requested.length === 0) return [id];
  const all = [id, ...Object.keys(geometryLayers)];
  const names = requested.flatMap((text) => (text === id ? [text] : splitList(text)));
  const known = all.filter((layer) => names.includes(layer));
  return known.length > 0 ? known : all;
}

interface LayerFile {
  readonly file: SpooledCollection;
  /** Null for all geometry types. */
  readonly kinds: readonly number[] | null;
}

async function writeLayers(collections: readonly LayerFile[], map: FeatureSide): Promise<void> {
  try {
    for (const row of map.rows()) {
      const matching = collections.filter(({ kinds }) => kinds === null || kinds.includes(row.kind));
      if (matching.length === 0) continue;
      const text = map.textOf(row);
      for (const { file } of matching) if (file.add(text)) await file.write();
    }
    for (const { file } of collections) await file.finish();
  } finally {
    for (const { file } of collections) await file.close();
  }
}
