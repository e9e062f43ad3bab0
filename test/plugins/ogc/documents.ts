/** GML documents by hand. */
import { writeFileSync } from "node:fs";
import { gml } from "../../../plugins/ogc/index.js";
import type { Feature, Geometry } from "../../../src/model/index.js";
import { type LayerContent, type ReadFileOptions, readFile } from "../../../src/testing/index.js";
import type { TemporaryFolder } from "../../support/read-layers.js";

export const namespaces =
  'xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:app="http://example.org/app" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xlink="http://www.w3.org/1999/xlink"';

/** A collection of the members, each of which is the content of a `gml:featureMember`. */
export const collection = (members: readonly string[], before = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<gml:FeatureCollection ${namespaces}>\n${before}${members
    .map((member) => `<gml:featureMember>${member}</gml:featureMember>\n`)
    .join("")}</gml:FeatureCollection>\n`;

export const place = (properties: string, id = "p1"): string => `<app:Place gml:id="${id}">${properties}</app:Place>`;

export async function readGml(
  scratch: TemporaryFolder,
  text: string,
  options: ReadFileOptions = {},
  name = "places.gml",
): Promise<LayerContent[]> {
  const path = scratch.path(name);
  writeFileSync(path, text);
  return readFile(gml, path, options);
}

export const featuresOf = ({ batches }: LayerContent): Feature[] => batches.flatMap((batch) => [...batch.features()]);

/** The geometry of a place with this GML geometry, and what was said about it. */
export async function readGeometry(scratch: TemporaryFolder, geometry: string, options: ReadFileOptions = {}) {
  const [layer] = await readGml(scratch, collection([place(`<app:geom>${geometry}</app:geom>`)]), options);
  const [feature] = featuresOf(layer!);
  return {
    geometry: (feature?.geometry ?? null) as Geometry | null,
    crs: layer!.info.crs?.id ?? null,
    types: layer!.info.geometryTypes,
    rejects: layer!.rejects.map(({ reason }) => reason),
    losses: layer!.losses.map(({ code }) => code),
    notices: layer!.notices.map(({ code }) => code),
  };
}
