import { type Problem, problem } from "../http/problems.js";

/** Maximum bytes of a page; a text of twice this size crashes the receiving process. */
export const maxPageBytes = 256 << 20;

/** SQL expression for a feature as GeoJSON text. */
export const featureJsonSql = `'{"type":"Feature","id":"' || id || '","geometry":' || geometry || ',"properties":' || properties || '}'`;

/** Bytes of a feature in a page besides geometry and properties, including the comma. */
export const featureOverheadBytes =
  '{"type":"Feature","id":"00000000-0000-0000-0000-000000000000","geometry":,"properties":},'.length;

/** The features of the page are too large together. */
export const pageTooLarge = (size: number): Problem =>
  problem("bad-query", {
    reason: `these ${size} features have more than ${maxPageBytes >> 20} MiB together; ask for fewer with per_page`,
  });
