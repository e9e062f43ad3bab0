/** Shift grids for those who look for them: which PROJ publishes, and which are on this machine. */
export type { Area } from "../area.js";
export {
  coversPartOf,
  type PublishedGrid,
  publishedGrid,
  publishedGrids,
  searchText,
} from "./catalogue/index.js";
export { clearFolderListing, locateGrids } from "./grid-locator.js";
