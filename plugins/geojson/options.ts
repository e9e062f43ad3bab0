import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  fid: { type: "text", help: "Name of a field that shows the feature ids as well" },
} as const satisfies OptionTable;
