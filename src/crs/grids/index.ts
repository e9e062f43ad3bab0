/** The catalog of published shift grids, and the grids on this machine. */
export type { Area } from "../area.js";
export {
  coversPartOf,
  type PublishedGrid,
  publishedGrid,
  publishedGrids,
  searchText,
} from "./catalogue/index.js";
export { clearFolderListing, locateGrids } from "./grid-locator.js";
