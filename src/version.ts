import { createRequire } from "node:module";

/** The version of geoferry, as its package.json says it. */
export const { version } = createRequire(import.meta.url)("geoferry/package.json") as { readonly version: string };
