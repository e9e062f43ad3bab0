import { createError } from "../../errors.js";
import type { Command } from "../command.js";
import { grouped, takes } from "../options/flag.js";
import { file, flag, readingOptions, type SourceArguments, shapingOptions } from "../options/source-options.js";
import { type MapInputArguments, mapInputOptions } from "../run/map-inputs.js";

export interface ViewArguments extends SourceArguments, MapInputArguments {
  readonly inputs: readonly string[];
  /** Set by `--no-open`. */
  readonly open?: boolean;
  readonly port?: string;
  readonly basemap?: string;
  readonly output?: string;
  readonly overwrite?: boolean;
  readonly maxSize?: string;
}

const { limit, select, where } = shapingOptions;

export const viewCommand: Command<ViewArguments> = {
  usage: "view <inputs..>",
  summary: "Show INPUT in the browser: every layer on a map and as a table",
  positionals: { inputs: { type: "string", array: true, describe: "INPUT...", demandOption: true } },
  options: {
    ...grouped("Page:", {
      open: { ...flag, default: true, describe: "Print the address, and do not open a browser" },
      port: {
        ...takes("PORT"),
        describe: "Port of this machine to serve the page on",
        defaultDescription: "a free one",
      },
      basemap: {
        ...takes("URL"),
        describe: "Tiles to draw below the features: https://tiles.example.org/{z}/{x}/{y}.png",
      },
      output: {
        ...file,
        takesStdio: true,
        alias: "o",
        describe: "Write a page that needs no server, to send to others, and do not serve",
      },
      overwrite: { ...flag, describe: "Replace an existing page" },
      "max-size": {
        ...takes("MB"),
        describe: "Greatest size of that page; shapes are generalized, then features left out",
        defaultDescription: "10",
      },
    }),
    ...readingOptions,
    accuracy: { ...readingOptions.accuracy, defaultDescription: "100" },
    where,
    select,
    bbox: {
      ...shapingOptions.bbox,
      describe: "Keep only features in the box of degrees: west,south,east,north; west > east spans the antimeridian",
    },
    limit,
    "swap-xy": shapingOptions["swap-xy"],
    ...mapInputOptions,
  },
  examples: [
    ["view roads.shp places.gpkg", "show the layers of both on one map"],
    ["view parcels.csv --where \"city = 'Oslo'\"", "show some of the features"],
    ["view data.gpkg --no-open", "print the address, for another browser of this machine"],
    ["view data.gpkg -o page.html", "write one file to send to a colleague"],
  ],
  async run(args) {
    if (args.output === undefined && (args.maxSize !== undefined || args.overwrite))
      throw createError("usage", { reason: "--max-size and --overwrite are for a page that -o writes" });
    const { runView } = await import("../run/run-view.js");
    return runView(args);
  },
};
