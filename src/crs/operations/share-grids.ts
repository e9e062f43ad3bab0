import type { Grid } from "../grids/grid.js";
import { loadGrid } from "../grids/load.js";
import type { Operation } from "./operation.js";

/**
 * Returns the operation with its grids loaded into shared memory, for all threads that it is sent to.
 * @throws grid-invalid
 */
export async function shareGrids(operation: Operation): Promise<Operation> {
  const loadedGrids: Record<string, Grid> = {};
  for (const file of operation.gridFiles) loadedGrids[file] = await loadGrid(file);
  return { ...operation, loadedGrids };
}
