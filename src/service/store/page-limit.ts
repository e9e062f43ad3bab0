import { type Problem, problem } from "../problems.js";

/** Bytes of a page at most: a text of twice as many ends the process that receives it. */
export const mostPageBytes = 256 << 20;

/** Of a page whose features are too large together. */
export const pageTooLarge = (size: number): Problem =>
  problem("bad-query", {
    reason: `these ${size} features have more than ${mostPageBytes >> 20} MiB together; ask for fewer with per_page`,
  });
