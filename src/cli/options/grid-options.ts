/** Search folders and download of shift grids: flags, and the environment variables of PROJ. */
import { createError } from "../../errors.js";
import { defaultGridFolders, gridCacheFolder, gridFolders, type SearchFolder } from "../../io/grid-folders.js";
import type { HostGrids } from "../../pipeline/grids/grid-store.js";
import type { Flag } from "../command.js";
import { takes } from "./flag.js";

export interface GridArguments {
  readonly gridDownload?: boolean;
  readonly gridEndpoint?: string;
  readonly standardGrids?: boolean;
}

export const endpointOption = {
  "grid-endpoint": {
    ...takes("URL"),
    group: "Coordinates:",
    describe: "Server to download grids from instead of PROJ's",
    defaultDescription: "PROJ_NETWORK_ENDPOINT, or https://cdn.proj.org",
  },
} as const satisfies Readonly<Record<string, Flag>>;

export const gridOptions = {
  "standard-grids": {
    type: "boolean",
    group: "Coordinates:",
    default: true,
    describe: "Use only the grids of --grid and GEOFERRY_GRIDS",
  },
  "grid-download": {
    type: "boolean",
    group: "Coordinates:",
    describe: "Download the grids that a reprojection needs",
    defaultDescription: "on if PROJ_NETWORK=ON",
  },
  ...endpointOption,
} as const satisfies Readonly<Record<string, Flag>>;

/** The server of PROJ's published grids. */
const standardEndpoint = "https://cdn.proj.org";

/** @throws option-invalid unless it is an http(s) address without query and fragment */
function checkEndpoint(option: string, value: string | undefined): string {
  if (value === undefined || value === "") return standardEndpoint;
  const url = URL.canParse(value) ? new URL(value) : null;
  if ((url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "") return value;
  throw createError("option-invalid", { option, value, expected: `an http(s) address like ${standardEndpoint}` });
}

/** Whether an environment variable turns a boolean flag off. */
const isOff = (value: string | undefined): boolean => /^(0|no|false|off)$/i.test(value ?? "");

/** The folders that are searched after those of `--grid`, in order. */
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
      ? checkEndpoint("PROJ_NETWORK_ENDPOINT", PROJ_NETWORK_ENDPOINT)
      : checkEndpoint("--grid-endpoint", gridEndpoint);
  const cacheFolder = gridCacheFolder(environment);
  const allowsDownload = gridDownload ?? /^(on|yes|true)$/i.test(PROJ_NETWORK);
  return {
    endpoint,
    cacheFolder,
    // Downloaded grids must be found in any case.
    folders: standardGrids
      ? defaultGridFolders(environment).map(({ path }) => path)
      : allowsDownload
        ? [cacheFolder]
        : [],
    allowsDownload,
  };
}
