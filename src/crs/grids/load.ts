import { isCtable2, readCtable2 } from "./ctable2.js";
import { readGeoTiff } from "./geotiff.js";
import type { Grid } from "./grid.js";
import { GridFileReader } from "./grid-file-reader.js";
import { isNtv2, readNtv2 } from "./ntv2.js";
import { isTiff } from "./tiff.js";

/** Loaded grids of this thread by path. A file that is replaced while the program runs is not read again. */
const loadedGrids = new Map<string, Promise<Grid>>();

/**
 * Loads the grid of a file of any supported format, once.
 * @throws grid-invalid
 */
export function loadGrid(path: string): Promise<Grid> {
  let grid = loadedGrids.get(path);
  if (!grid) {
    grid = readGrid(path);
    loadedGrids.set(path, grid);
    // A failure is not cached, so that a repaired file can be loaded.
    grid.catch(() => loadedGrids.delete(path));
  }
  return grid;
}

async function readGrid(path: string): Promise<Grid> {
  await using file = await GridFileReader.open(path);
  const head = await file.read(0, Math.min(file.size, 176), "its header");
  if (isNtv2(head)) return await readNtv2(file);
  if (isTiff(head)) return await readGeoTiff(file);
  if (isCtable2(head)) return await readCtable2(file);
  throw file.createInvalidGridError("it is neither NTv2 (.gsb) nor a GeoTIFF of PROJ's (.tif)");
}
