/** `geoferry grids`: lists and downloads shift grids. */
import { stat } from "node:fs/promises";
import type { Area, PublishedGrid } from "../../crs/grids/index.js";
import { createError } from "../../errors.js";
import type { Command, CommonArguments, Flag } from "../command.js";
import { openHost } from "../host.js";
import { takes } from "../options/flag.js";
import { endpointOption, type GridArguments, gridSearchFolders, resolveGrids } from "../options/grid-options.js";
import { networkOptions } from "../options/network-options.js";
import { outputOptions } from "../options/output-options.js";
import { readingOptions } from "../options/source-options.js";
import { printNotice, printResult } from "../output/print.js";
import { bytes, ProgressDisplay } from "../output/progress.js";
import { parseBox } from "../parse/values.js";
import { interrupted } from "../signals.js";

interface InputArguments extends CommonArguments {
  readonly for?: string;
  readonly sourceCrs?: string;
  readonly targetCrs?: string;
}

interface ListArguments extends InputArguments {
  readonly words?: readonly string[];
  readonly bbox?: string;
  readonly installed?: boolean;
}

interface GetArguments extends InputArguments, GridArguments {
  readonly names?: readonly string[];
}

/** @param verb what the command does with the grids */
const inputOptions = (verb: "List" | "Download") =>
  ({
    for: {
      ...takes("INPUT"),
      accepts: "path",
      describe: `${verb} the grids that a conversion of this input would use`,
    },
    "source-crs": readingOptions["source-crs"],
    "target-crs": outputOptions["target-crs"],
  }) as const satisfies Readonly<Record<string, Flag>>;

/**
 * The grids that a conversion of `--for` would use; null without `--for`. Reports missing grids of each layer.
 * @param folders with installed grids
 */
async function gridsForInput(args: InputArguments, folders: readonly string[]): Promise<PublishedGrid[] | null> {
  const { for: input, sourceCrs, targetCrs } = args;
  if (input === undefined) {
    const alone = sourceCrs === undefined ? (targetCrs === undefined ? null : "--target-crs") : "--source-crs";
    if (alone !== null) throw createError("usage", { reason: `${alone} requires --for INPUT` });
    return null;
  }
  const display = ProgressDisplay.of(args);
  const host = await openHost(args, display.callback);
  const { findMissingGrids } = await import("../../pipeline/grids/find-missing-grids.js");
  const question = { input, sourceCrs, targetCrs };
  const layers = await findMissingGrids(question, { ...host, grids: { ...host.grids!, folders } }).finally(() =>
    display.clear(),
  );
  for (const { layer, from, to, grids } of layers) {
    const names = grids.map(({ name }) => name).join(", ");
    const missing = folders.length === 0 ? "" : " that is not installed";
    printNotice(
      args,
      `${layer}, ${from} to ${to}: ${names === "" ? `no grid${missing} improves the accuracy` : names}`,
    );
  }
  return [...new Set(layers.flatMap(({ grids }) => grids))];
}

async function installedGrids() {
  const { locateGrids } = await import("../../crs/grids/index.js");
  const places = { grids: [] as string[], gridFolders: [] as string[] };
  for (const { path } of gridSearchFolders(process.env)) {
    const isFile = (await stat(path).catch(() => null))?.isFile() === true;
    places[isFile ? "grids" : "gridFolders"].push(path);
  }
  return locateGrids(places);
}

/** "us_noaa_conus.tif  0.2 MB  USA - CONUS - …: NAD27 to NAD83; Public domain; at /usr/share/proj/…" */
function describeGrid(grid: PublishedGrid, installed: string | null): string {
  const { name, areaName, description, licence } = grid;
  const at = installed === null ? "" : `; at ${installed}`;
  return `${name}  ${bytes(grid.bytes)}  ${areaName}: ${description}; ${licence}${at}`;
}

const toRecord = (grid: PublishedGrid, installed: string | null) => ({ type: "grid", ...grid, installed });

const listCommand: Command<ListArguments> = {
  usage: "grids list [words..]",
  summary: "List the shift grids published by PROJ, with the paths of those on this machine",
  positionals: {
    words: { type: "string", array: true, accepts: [], describe: "WORDS... that must all occur in the description" },
  },
  options: {
    bbox: {
      ...takes("BOX"),
      describe: "List only grids that intersect a box: west,south,east,north in degrees",
    },
    installed: { type: "boolean", describe: "List only grids on this machine" },
    ...inputOptions("List"),
  },
  examples: [
    ["grids list NAD27", "list all grids from or to NAD27"],
    ["grids list --bbox 5,45,11,48 --json", "list the grids of an area as JSON"],
    ["grids list --for wells.csv --source-crs EPSG:4267", "list the grids that a conversion would use"],
  ],
  async run(args) {
    const { publishedGrids, coversPartOf, searchText } = await import("../../crs/grids/index.js");
    const box = parseBox(args.bbox) as Area | undefined;
    const words = (args.words ?? []).map((word) => word.toLowerCase());
    const files = await installedGrids();
    const all = (await gridsForInput(args, [])) ?? publishedGrids();
    let found = 0;
    for (const grid of all) {
      const at = [grid.name, ...grid.otherNames].map(files.find).find((path) => path !== null) ?? null;
      if (args.installed && at === null) continue;
      if (box && !coversPartOf(grid, box)) continue;
      if (!words.every((word) => searchText(grid).includes(word))) continue;
      printResult(args, toRecord(grid, at), describeGrid(grid, at));
      found++;
    }
    if (found === 0 && args.for === undefined)
      printNotice(args, "no grid matches; geoferry grids list without arguments lists all");
    return 0;
  },
};

const whereCommand: Command<CommonArguments> = {
  usage: "grids where",
  summary: "Show the folders searched for shift grids, in order, and the grids in them",
  positionals: {},
  options: {},
  examples: [["grids where", "show the folders searched after those of --grid"]],
  async run(args) {
    const { listGridFiles } = await import("../../pipeline/grids/grid-store.js");
    for (const { path, reason } of gridSearchFolders(process.env)) {
      const grids = await listGridFiles(path);
      const lines = (grids ?? []).map(({ name, size }) => `\n  ${name}  ${bytes(size)}`);
      const state = grids === null ? ": does not exist" : lines.length === 0 ? ": no grids" : "";
      printResult(
        args,
        { type: "folder", path, reason, exists: grids !== null, grids: grids ?? [] },
        `${path} (${reason})${state}${lines.join("")}`,
      );
    }
    return 0;
  },
};

const getCommand: Command<GetArguments> = {
  usage: "grids get [names..]",
  summary: "Download shift grids published by PROJ into the cache that all reprojections use",
  positionals: {
    names: {
      type: "string",
      array: true,
      accepts: "grid",
      describe: "NAMES... of grids, as listed by geoferry grids list",
    },
  },
  options: { ...inputOptions("Download"), ...endpointOption, ...networkOptions },
  examples: [
    ["grids get ca_nrc_ntv2_0.tif", "download the grid of Canada for NAD27"],
    ["grids get --for wells.shp --target-crs EPSG:26917", "download the grids that a conversion would use"],
    ["grids get us_noaa_conus.tif --grid-endpoint https://proj.example.org", "download from your own server"],
  ],
  async run(args) {
    const { gridCachePath, fetchGrid, requirePublishedGrid } = await import("../../pipeline/grids/grid-store.js");
    const store = resolveGrids(args);
    const named = (args.names ?? []).map(requirePublishedGrid);
    const forInput = await gridsForInput(args, store.folders);
    if (named.length === 0 && forInput === null)
      throw createError("usage", {
        reason: "grids get needs NAMES of grids, or --for INPUT; geoferry grids list lists all",
      });
    const grids = new Set([...named, ...(forInput ?? [])]);
    const files = await installedGrids();
    const display = ProgressDisplay.of(args);
    for (const grid of grids) {
      const { name, licence, provider } = grid;
      const elsewhere = files.find(name);
      const path = gridCachePath(store.cacheFolder, grid);
      const isElsewhere = elsewhere !== null && elsewhere !== path;
      const onProgress = (done: number) =>
        display.show({ phase: `downloading ${name}`, done, total: grid.bytes, unit: "bytes" });
      const downloaded =
        !isElsewhere &&
        (await fetchGrid(grid, store, {
          signal: interrupted,
          ...(display.isShown ? { onProgress } : {}),
        }).finally(() => display.clear()));
      const at = isElsewhere ? elsewhere : path;
      const record = {
        type: "grid-file",
        name,
        path: at,
        bytes: grid.bytes,
        sha256: grid.sha256,
        licence,
        provider,
        downloaded,
      };
      const what = downloaded ? `${bytes(grid.bytes)}, ${licence}, ${provider}` : "already installed";
      printResult(args, record, `${at}: ${what}`);
    }
    return 0;
  },
};

export const gridCommands = {
  "grids list": listCommand,
  "grids get": getCommand,
  "grids where": whereCommand,
} as const;
