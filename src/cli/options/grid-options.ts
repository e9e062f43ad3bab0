/** Where shift grids are searched, and whether missing ones are downloaded: flags, and the variables of PROJ. */
import { createError } from "../../errors.js";
import { defaultGridFolders, gridCacheFolder, gridFolders, type SearchFolder } from "../../io/grid-folders.js";
import type { HostGrids } from "../../pipeline/grids/grid-store.js";
import type { Flag } from "../command.js";

export interface GridArguments {
  readonly gridDownload?: boolean;
  readonly gridEndpoint?: string;
  readonly standardGrids?: boolean;
}

export const endpointOption = {
  "grid-endpoint": {
    type: "string",
    group: "Coordinates:",
    requiresArg: true,
    describe: "Server to download grids from instead of PROJ's",
    defaultDescription: "PROJ_NETWORK_ENDPOINT, or https://cdn.proj.org",
  },
} as const satisfies Readonly<Record<string, Flag>>;

export const gridOptions = {
  "standard-grids": {
    type: "boolean",
    group: "Coordinates:",
    default: true,
    describe: "--no-standard-grids uses only the grids of --grid and GEOFERRY_GRIDS",
  },
  "grid-download": {
    type: "boolean",
    group: "Coordinates:",
    describe: "Download the grids a reprojection needs",
    defaultDescription: "on where PROJ_NETWORK=ON",
  },
  ...endpointOption,
} as const satisfies Readonly<Record<string, Flag>>;

/** Where PROJ publishes its grids. */
const standardEndpoint = "https://cdn.proj.org";

/** @throws option-invalid where it is no address that grids can be downloaded from */
function checkedEndpoint(option: string, value: string | undefined): string {
  if (value === undefined || value === "") return standardEndpoint;
  const url = URL.canParse(value) ? new URL(value) : null;
  if ((url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "") return value;
  throw createError("option-invalid", { option, value, expected: `an http(s) address like ${standardEndpoint}` });
}

/** What a variable says that stands for a flag, for commands without that flag. */
const isOff = (value: string | undefined): boolean => /^(0|no|false|off)$/i.test(value ?? "");

/** The folders that are searched after those that a person names, in order; none where they are turned off. */
export const gridSearchFolders = (environment: NodeJS.ProcessEnv): SearchFolder[] => [
  ...gridFolders(environment).map((path) => ({ path, reason: "GEOFERRY_GRIDS" })),
  ...(isOff(environment.GEOFERRY_STANDARD_GRIDS) ? [] : defaultGridFolders(environment)),
];

/** @throws option-invalid */
export function resolveGrids(args: GridArguments, environment: NodeJS.ProcessEnv = process.env): HostGrids {
  const { gridEndpoint, gridDownload, standardGrids = !isOff(environment.GEOFERRY_STANDARD_GRIDS) } = args;
  const { PROJ_NETWORK = "", PROJ_NETWORK_ENDPOINT } = environment;
  const endpoint =
    gridEndpoint === undefined
      ? checkedEndpoint("PROJ_NETWORK_ENDPOINT", PROJ_NETWORK_ENDPOINT)
      : checkedEndpoint("--grid-endpoint", gridEndpoint);
  const cacheFolder = gridCacheFolder(environment);
  const allowsDownload = gridDownload ?? /^(on|yes|true)$/i.test(PROJ_NETWORK);
  return {
    endpoint,
    cacheFolder,
    // What is downloaded must be found.
    folders: standardGrids
      ? defaultGridFolders(environment).map(({ path }) => path)
      : allowsDownload
        ? [cacheFolder]
        : [],
    allowsDownload,
  };
}
