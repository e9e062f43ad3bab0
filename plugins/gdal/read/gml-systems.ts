/** Finds the CRS in a GML file: GDAL assigns one CRS to all geometries of a feature. */
import { closeSync, openSync, readSync } from "node:fs";

const chunkBytes = 1 << 20;
/** A name may span two chunks. */
const overlapBytes = 256;

const srsName = /\bsrsName\s*=\s*["']([^"']{1,200})["']/g;

/** Reduces `EPSG:4326`, `urn:ogc:def:crs:EPSG::4326` and `http://www.opengis.net/def/crs/EPSG/0/4326` to one form. */
const normalizeSrsName = (name: string): string =>
  name.slice(1 + Math.max(...[..."#:/"].map((end) => name.lastIndexOf(end))));

/** Whether the geometries of a GML file have more than one CRS (ISO 19136, 9.10). @throws Error of the file system */
export function hasSeveralSystems(path: string): boolean {
  const codes = new Set<string>();
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(chunkBytes);
    let before = "";
    for (let size = readSync(file, chunk); size > 0 && codes.size < 2; size = readSync(file, chunk)) {
      const text = before + chunk.toString("latin1", 0, size);
      for (const [, name] of text.matchAll(srsName)) codes.add(normalizeSrsName(name!));
      before = text.slice(-overlapBytes);
    }
  } finally {
    closeSync(file);
  }
  return codes.size > 1;
}
