import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  fid: { type: "text", help: "Name of a field that also holds the feature ids" },
} as const satisfies OptionTable;

export const writeOptions = {
  quantization: {
    type: "integer",
    min: 2,
    max: 1_000_000_000,
    help: "Round positions to a grid of so many columns and rows, for a smaller file; default: all digits",
  },
  ids: { type: "boolean", default: true, help: "Write the feature ids" },
  idField: { type: "text", help: "Field to use as feature id" },
} as const satisfies OptionTable;
