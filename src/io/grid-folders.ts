/** Where shift grids lie on this machine. */
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

/** What decides about folders: the variables, `process.platform` and the person's home. */
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

/** The files and folders that `GEOFERRY_GRIDS` names, as PATH names folders. */
export const gridFolders = (environment: NodeJS.ProcessEnv): string[] => splitPathList(environment.GEOFERRY_GRIDS);

/** The folder of a variable of the XDG base directories, which count only where they are absolute. */
const xdgFolder = (value: string | undefined, standard: string): string =>
  value !== undefined && isAbsolute(value) ? value : standard;

/** Where geoferry keeps the grids that it downloads: `GEOFERRY_GRID_CACHE`, else in the platform's folder for caches. */
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

/** PROJ's folder of the person, in which `projsync` puts grids. */
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

/** A folder that is searched, and why. */
export interface SearchFolder {
  readonly path: string;
  /** The variable that names it, or what it is. */
  readonly reason: string;
}

/**
 * The folders that are searched after those that a person names, in order: geoferry's own, then those of PROJ in its
 * order, of which the installed ones count only where neither `PROJ_DATA` nor `PROJ_LIB` names others.
 */
export function defaultGridFolders(
  environment: NodeJS.ProcessEnv,
  surroundings: HostEnvironment = currentEnvironment(environment),
): SearchFolder[] {
  const { GEOFERRY_GRID_CACHE, PROJ_DATA, PROJ_LIB, PROJ_SKIP_READ_USER_WRITABLE_DIRECTORY: skip } = environment;
  const own = {
    path: gridCacheFolder(environment, surroundings),
    reason: GEOFERRY_GRID_CACHE ? "GEOFERRY_GRID_CACHE" : "geoferry's cache",
  };
  const user = { path: projUserFolder(surroundings), reason: "PROJ's folder of the user" };
  const named = splitPathList(PROJ_DATA || PROJ_LIB).map((path) => ({
    path,
    reason: PROJ_DATA ? "PROJ_DATA" : "PROJ_LIB",
  }));
  const system =
    surroundings.platform === "win32" ? [] : installedProjFolders.map((path) => ({ path, reason: "installed PROJ" }));
  const all = [own, ...(/^(yes|on|true)$/i.test(skip ?? "") ? [] : [user]), ...(named.length > 0 ? named : system)];
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index);
}
