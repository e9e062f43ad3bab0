import { type Problem, problem } from "../http/problems.js";

/** Bytes of a page at most: a text of twice as many ends the process that receives it. */
export const maxPageBytes = 256 << 20;

/** SQL for a feature as it goes out: GeoJSON text. */
export const featureJsonSql = `'{"type":"Feature","id":"' || id || '","geometry":' || geometry || ',"properties":' || properties || '}'`;

/** Bytes of a feature in a page beside its geometry and its properties, with the comma to the next. */
export const featureOverheadBytes =
  '{"type":"Feature","id":"00000000-0000-0000-0000-000000000000","geometry":,"properties":},'.length;

/** Of a page whose features are too large together. */
export const pageTooLarge = (size: number): Problem =>
  problem("bad-query", {
    reason: `these ${size} features have more than ${maxPageBytes >> 20} MiB together; ask for fewer with per_page`,
  });
