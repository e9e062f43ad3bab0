import type { CrsContext } from "../plugin/format.js";
export declare const crsContext: CrsContext;
