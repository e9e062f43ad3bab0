/** Where shift grids are searched, on each platform. */
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultGridFolders, gridCacheFolder } from "../../src/io/grid-folders.js";

const linux = { platform: "linux", home: "/ada" } as const;
const paths = (environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = "linux") =>
  defaultGridFolders(environment, { environment, platform, home: "/ada" }).map(({ path }) => path);

describe("the cache of grids", () => {
  test("the cache of grids is in the platform's folder for caches", () => {
    expect(gridCacheFolder({}, linux)).toBe("/ada/.cache/geoferry/grids");
    expect(gridCacheFolder({ XDG_CACHE_HOME: "/var/cache/ada" }, linux)).toBe("/var/cache/ada/geoferry/grids");
    expect(gridCacheFolder({ XDG_CACHE_HOME: "relative" }, linux)).toBe("/ada/.cache/geoferry/grids");
    expect(gridCacheFolder({}, { ...linux, platform: "darwin" })).toBe("/ada/Library/Caches/geoferry/grids");
    expect(gridCacheFolder({ LOCALAPPDATA: "/local" }, { ...linux, platform: "win32" })).toBe(
      join("/local", "geoferry", "Cache", "grids"),
    );
  });

  test("GEOFERRY_GRID_CACHE sets the cache of grids", () => {
    expect(gridCacheFolder({ GEOFERRY_GRID_CACHE: "/grids", XDG_CACHE_HOME: "/x" }, linux)).toBe("/grids");
  });
});

describe("the standard folders", () => {
  test("the standard folders are the cache, PROJ's user folder and the installed ones", () => {
    expect(paths({}).slice(0, 4)).toEqual([
      "/ada/.cache/geoferry/grids",
      "/ada/.local/share/proj",
      "/usr/local/share/proj",
      "/usr/share/proj",
    ]);
    expect(paths({})).toContain("/opt/homebrew/share/proj");
    expect(paths({}, "darwin")[1]).toBe("/ada/Library/Application Support/proj");
  });

  // https://proj.org/resource_files.html: PROJ_DATA, formerly PROJ_LIB, replaces the installed folder.
  test("PROJ_DATA, or else PROJ_LIB, replaces the installed folders", () => {
    const named = ["/a", "/b"].join(delimiter);
    expect(paths({ PROJ_DATA: named, PROJ_LIB: "/c" }).slice(2)).toEqual(["/a", "/b"]);
    expect(paths({ PROJ_LIB: "/c" }).slice(2)).toEqual(["/c"]);
    expect(paths({ PROJ_USER_WRITABLE_DIRECTORY: "/mine" })[1]).toBe("/mine");
    expect(paths({ PROJ_SKIP_READ_USER_WRITABLE_DIRECTORY: "YES", PROJ_DATA: "/a" })).toEqual([
      "/ada/.cache/geoferry/grids",
      "/a",
    ]);
  });
});
