/** The folders of shift grids on this machine. */
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

/** The inputs for finding folders: environment variables, `process.platform` and the home folder. */
export interface HostEnvironment {
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

const currentEnvironment = (environment: NodeJS.ProcessEnv): HostEnvironment => ({
  environment,
  platform: process.platform,
  home: homedir(),
});

const splitPathList = (value: string | undefined): string[] =>
  (value ?? "").split(delimiter).filter((folder) => folder !== "");

/** The files and folders in `GEOFERRY_GRIDS`, separated as in PATH. */
export const gridFolders = (environment: NodeJS.ProcessEnv): string[] => splitPathList(environment.GEOFERRY_GRIDS);

/** An XDG base directory; the specification ignores relative values. */
const xdgFolder = (value: string | undefined, fallback: string): string =>
  value !== undefined && isAbsolute(value) ? value : fallback;

/** The folder for downloaded grids: `GEOFERRY_GRID_CACHE`, else a folder in the platform's cache folder. */
export function gridCacheFolder(
  environment: NodeJS.ProcessEnv,
  { platform, home }: Pick<HostEnvironment, "platform" | "home"> = currentEnvironment(environment),
): string {
  const { GEOFERRY_GRID_CACHE: named, LOCALAPPDATA, XDG_CACHE_HOME } = environment;
  if (named) return named;
  if (platform === "win32") return join(LOCALAPPDATA || join(home, "AppData", "Local"), "geoferry", "Cache", "grids");
  if (platform === "darwin") return join(home, "Library", "Caches", "geoferry", "grids");
  return join(xdgFolder(XDG_CACHE_HOME, join(home, ".cache")), "geoferry", "grids");
}

/** PROJ's user folder, into which `projsync` downloads grids. */
function projUserFolder({ environment, platform, home }: HostEnvironment): string {
  const { PROJ_USER_WRITABLE_DIRECTORY: named, LOCALAPPDATA, XDG_DATA_HOME } = environment;
  if (named) return named;
  if (platform === "win32") return join(LOCALAPPDATA || join(home, "AppData", "Local"), "proj");
  if (platform === "darwin") return join(home, "Library", "Application Support", "proj");
  return join(xdgFolder(XDG_DATA_HOME, join(home, ".local", "share")), "proj");
}

const installedProjFolders = [
  "/usr/local/share/proj",
  "/usr/share/proj",
  "/opt/homebrew/share/proj",
  "/opt/local/share/proj",
];

/** A folder that is searched for grids. */
export interface SearchFolder {
  readonly path: string;
  /** The environment variable that names the folder, or a description of it. */
  readonly reason: string;
}

/**
 * The folders that are searched after those of the request, in order: geoferry's cache, then PROJ's folders in PROJ's
 * order. The folders of an installed PROJ are used only if `PROJ_DATA` and `PROJ_LIB` are not set.
 */
export function defaultGridFolders(
  environment: NodeJS.ProcessEnv,
  host: HostEnvironment = currentEnvironment(environment),
): SearchFolder[] {
  const { GEOFERRY_GRID_CACHE, PROJ_DATA, PROJ_LIB, PROJ_SKIP_READ_USER_WRITABLE_DIRECTORY: skip } = environment;
  const own = {
    path: gridCacheFolder(environment, host),
    reason: GEOFERRY_GRID_CACHE ? "GEOFERRY_GRID_CACHE" : "geoferry's cache",
  };
  const user = { path: projUserFolder(host), reason: "PROJ's folder of the user" };
  const named = splitPathList(PROJ_DATA || PROJ_LIB).map((path) => ({
    path,
    reason: PROJ_DATA ? "PROJ_DATA" : "PROJ_LIB",
  }));
  const system =
    host.platform === "win32" ? [] : installedProjFolders.map((path) => ({ path, reason: "installed PROJ" }));
  const all = [own, ...(/^(yes|on|true)$/i.test(skip ?? "") ? [] : [user]), ...(named.length > 0 ? named : system)];
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index);
}
