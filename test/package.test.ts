/** The package as it is built: few files, of which each thing is in one, and what package.json promises of them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { geoferry, root } from "./support/command.js";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
  imports: Record<string, string>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
};

/** Paths of the built JavaScript, from the root. */
const built = readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".js"))
  .map((name) => join("dist", name));
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

/** All that is loaded with a file at once: files from the root, and names of modules. */
function loadedWith(path: string, found = new Set<string>()): Set<string> {
  found.add(path);
  for (const [, target] of textOf(path).matchAll(/^(?:import|export)\b[^"\n]*"([^"\n]+)";$/gm)) {
    if (!target!.startsWith(".")) found.add(target!);
    else {
      const file = relative(root, resolve(root, dirname(path), target!));
      if (!found.has(file)) loadedWith(file, found);
    }
  }
  return found;
}

describe("the package", () => {
  test("the package has every file that package.json names, with type declarations", () => {
    const formats = readdirSync(join(root, "plugins")).filter((name) => name !== "shared" && name !== "index.ts");
    const named = [
      ...Object.values(manifest.bin),
      ...Object.values(manifest.exports).flatMap((target) =>
        typeof target === "string" ? target : Object.values(target),
      ),
      ...Object.values(manifest.imports).flatMap((target) => formats.map((name) => target.replace("*", name))),
    ];
    expect(named.length).toBeGreaterThan(12);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("all entry points of the package share one GeoferryError and one Batch", () => {
    const definitions = /\b(?:class (?:GeoferryError|Batch)\b|(?:GeoferryError|Batch)(?:\$\d+)? = class\b)/g;
    expect(built.flatMap((path) => [...textOf(path).matchAll(definitions)].map(() => path))).toHaveLength(2);
  });

  test("the package contains all dependencies except those in package.json", () => {
    const names = new Set(
      built.flatMap((path) =>
        [...textOf(path).matchAll(/(?:^(?:import|export)\b[^"\n]*? from |^import |\bimport\()"([^."#][^"\n]*)"/gm)].map(
          (match) => match[1]!,
        ),
      ),
    );
    const foreign = [...names].filter((name) => !name.startsWith("node:") && !builtinModules.includes(name));
    const installed = { ...manifest.dependencies, ...manifest.peerDependencies };
    expect(foreign).toContain("geos-wasm");
    expect(foreign.filter((name) => !Object.hasOwn(installed, name))).toEqual([]);
    // What is not installed by itself must be optional.
    expect(Object.keys(manifest.peerDependencies)).toEqual(Object.keys(manifest.peerDependenciesMeta));
    expect(Object.values(manifest.peerDependenciesMeta)).toEqual([{ optional: true }, { optional: true }]);
  });

  test("the package lists the license of each library that it contains", () => {
    const notices = textOf("dist/THIRD-PARTY-NOTICES.txt");
    for (const name of ["fastify", "pg", "ioredis", "@aws-sdk/client-s3", "yauzl", "@sqlite.org/sqlite-wasm"])
      expect(notices).toContain(`\n${name} `);
    expect(notices).not.toContain("UNKNOWN");
    const { components } = JSON.parse(textOf("dist/sbom.json")) as { components: { name: string; purl: string }[] };
    expect(components.length).toBeGreaterThan(100);
    for (const { name } of components) expect(notices, name).toContain(`\n${name} `);
    expect(components.map(({ purl }) => purl)).toContainEqual(
      expect.stringMatching(/^pkg:npm\/%40aws-sdk\/client-s3@3\./),
    );
  });
});

describe("a command", () => {
  test("a command installs signal handlers first, and loads dependencies only when needed", () => {
    const first = loadedWith("dist/src/cli/main.js");
    expect([...first].sort()).toEqual(["dist/chunks/signals.js", "dist/src/cli/main.js", "node:module"]);
    const core = [...loadedWith("dist/src/cli/run-command-line.js")];
    expect(core.filter((name) => name.endsWith(".js")).length).toBeLessThan(5);
    expect(core.filter((name) => Object.hasOwn(manifest.dependencies, name))).toEqual([]);
    // Each of these takes Node a millisecond or more.
    const slow = ["node:util", "node:crypto", "node:worker_threads", "node:zlib", "node:child_process", "node:http"];
    expect(core.filter((name) => slow.includes(name))).toEqual([]);
  });

  test("a command loads the reader and writer of a format only when they are used, and no tables of coordinate systems", () => {
    const core = [...loadedWith("dist/src/cli/run-command-line.js")];
    expect(
      core.filter((name) => /\/(reader|writer|sequence-writer|registry|operation)\.js$|\/table\//.test(name)),
    ).toEqual([]);
    expect(textOf("dist/chunks/core.js")).toMatch(/import\("\.\.\/plugins\/csv\/reader\.js"\)/);
  });

  test("a command loads the service only to run or manage it", () => {
    const core = [...loadedWith("dist/src/cli/run-command-line.js")];
    expect(core.filter((name) => name.includes("/service/"))).toEqual([]);
    expect(textOf("dist/chunks/core.js")).toMatch(/import\("\.\.\/src\/service\/serve\.js"\)/);
    const managing = [...loadedWith("dist/src/service/admin.js")];
    expect(managing.filter((name) => /pages|serve\.js$/.test(name))).toEqual([]);
  });

  test("stack traces have the function names of the sources", () => {
    const { stderr } = geoferry(["convert", "nothing-here.csv", "out.geojson", "-v"]);
    expect(stderr).toMatch(/^ +at (async )?openInputs? \(.*dist.chunks.core\.js:\d+:\d+\)$/m);
  });
});
