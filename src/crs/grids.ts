/** Shift grids for those who look for them: which PROJ publishes, and which are on this machine. */
export type { Area } from "./area.js";
export {
  type PublishedGrid,
  publishedGrid,
  publishedGrids,
  reaches,
  searchable,
} from "./grids/catalogue/index.js";
export { forgetListing, gridFilesAt } from "./grids/grid-files.js";
