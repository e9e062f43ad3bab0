/** A map as an input of the pipeline: a snapshot of it, as files of GeoJSON. */
import { rm } from "node:fs/promises";
import { FileSource } from "../../io/input/source.js";
import { Kind } from "../../model/geometry.js";
import { splitList } from "../../pipeline/plan/split-list.js";
import type { MapInputRequest } from "../../pipeline/request.js";
import type { MapClient } from "../client/map-client.js";
import type { FeatureSide } from "./feature-side.js";
import { readSnapshot } from "./read-snapshot.js";
import { SpooledCollection } from "./spooled-collection.js";
import { Workspace } from "./workspace.js";

/** The layers that a map can be asked for instead of all its features, by the kinds of their geometries. */
export const geometryLayers: Readonly<Record<string, readonly number[]>> = {
  point: [Kind.Point, Kind.MultiPoint],
  line: [Kind.LineString, Kind.MultiLineString],
  polygon: [Kind.Polygon, Kind.MultiPolygon],
  collection: [Kind.GeometryCollection],
  none: [Kind.none],
};

/** What tells one text of a feature from another, to the last bit of a coordinate. */
const fullPrecision = { degrees: 15, metres: 15 };

interface MapInputSettings {
  /** As in `takeSnapshot`. */
  readonly singleRead: boolean;
}

/**
 * A map has one layer with all its features, called by its id. Where some are asked for by the names of `familyLayers`,
 * it has those as well.
 * @throws what `takeSnapshot` throws
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

/** Without a name that it knows it is all of them, so that who mistyped one is told which there are. */
function selectLayers(id: string, asked: readonly string[]): readonly string[] {
  if (asked.length === 0) return [id];
  const all = [id, ...Object.keys(geometryLayers)];
  const names = asked.flatMap((text) => (text === id ? [text] : splitList(text)));
  const known = all.filter((layer) => names.includes(layer));
  return known.length > 0 ? known : all;
}

interface LayerFile {
  readonly file: SpooledCollection;
  /** Null for all. */
  readonly kinds: readonly number[] | null;
}

async function writeLayers(collections: readonly LayerFile[], map: FeatureSide): Promise<void> {
  try {
    for (const row of map.rows()) {
      const wanted = collections.filter(({ kinds }) => kinds === null || kinds.includes(row.kind));
      if (wanted.length === 0) continue;
      const text = map.textOf(row);
      for (const { file } of wanted) if (file.add(text)) await file.write();
    }
    for (const { file } of collections) await file.finish();
  } finally {
    for (const { file } of collections) await file.close();
  }
}
