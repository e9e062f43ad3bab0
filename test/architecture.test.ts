/**
 * What holds of every file: which may import which, and what must stand in none. The arrows:
 * version ← {errors, tracing} ← model ← plugin ← {io, crs, stages, statistics, canonical} ← pipeline ← compare ← remote ← sync ← jobs ← cli; formats know the left part only, the service
 * nothing but errors, model and the types that it shares with its clients.
 */
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { isSource, projectFiles, textOf } from "./support/sources.js";

const files = projectFiles().filter((path) => textOf(path) !== "");
// Scripts that build the package are not in it.
const sources = files.filter((path) => isSource(path) && !path.startsWith("src/build/"));

/** What a file imports or exports from, statically or not: paths from the root, or names of packages. */
function importsOf(path: string): string[] {
  const text = textOf(path).replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  const patterns = [
    /^\s*(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/gm,
    /^\s*import\s*["']([^"']+)["']/gm,
    /\bimport\(\s*["']([^"']+)["']\s*\)/g,
    /\bnew URL\(\s*["'](\.[^"']+)["']/g,
  ];
  const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));
  return found.map((target) =>
    target.startsWith(".") ? posix.join(posix.dirname(path), target).replace(/\.js$/, ".ts") : target,
  );
}

/** The files whose values a file imports when it is loaded: neither types alone nor what `import()` loads later. */
function valueImportsOf(path: string): string[] {
  const text = textOf(path).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:([^;"'`=]*?)\s+from\s+)?["'](\.[^"']+)["']/gm);
  return [...statements]
    .filter(([, names = ""]) => !/^\{\s*(type\s+[\w$ ]+,?\s*)+\}$/.test(names.trim()))
    .map(([, , target]) => posix.join(posix.dirname(path), target!).replace(/\.js$/, ".ts"));
}

/** Groups of nodes that reach each other (Tarjan, "Depth-first search and linear graph algorithms", 1972). */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1 || graph.get(node)!.includes(node)) found.push(group);
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

/** The layer that a file belongs to: "src/model", "plugins/csv". */
const layerOf = (path: string): string => path.split("/").slice(0, 2).join("/");

const left = [
  "src/version.ts",
  "src/tracing",
  "src/errors.ts",
  "src/errors",
  "src/nearest-name.ts",
  "src/format-count.ts",
  "src/model",
  "src/plugin",
  "src/escape-control-characters.ts",
  "src/network-settings.ts",
  "src/install-command.ts",
  "src/plug-and-play.ts",
  "src/sqlite",
  "src/make-folders.ts",
  "src/running-process.ts",
];
const middle = ["src/io", "src/crs", "src/stages", "src/statistics", "src/canonical"];

/** What each layer may import besides itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "src/version.ts": [],
  "src/nearest-name.ts": [],
  "src/make-folders.ts": [],
  "src/running-process.ts": [],
  "src/format-count.ts": [],
  "src/escape-control-characters.ts": [],
  "src/network-settings.ts": [],
  "src/install-command.ts": [],
  "src/plug-and-play.ts": [],
  "src/sqlite": ["src/install-command.ts", "src/errors.ts"],
  "src/tracing": ["src/version.ts"],
  "src/errors": ["src/format-count.ts", "src/nearest-name.ts", "src/escape-control-characters.ts"],
  "src/errors.ts": ["src/format-count.ts", "src/nearest-name.ts", "src/escape-control-characters.ts", "src/errors"],
  "src/model": ["src/errors.ts"],
  "src/plugin": ["src/errors.ts", "src/model"],
  "src/io": left,
  "src/crs": left,
  "src/stages": [...left, "src/crs"],
  "src/statistics": [...left, "src/crs"],
  "src/canonical": left,
  "src/pipeline": [...left, ...middle],
  "src/compare": [...left, ...middle, "src/pipeline"],
  "src/view": [...left, ...middle, "src/pipeline"],
  "src/remote": [...left, ...middle, "src/pipeline", "src/compare"],
  "src/sync": [...left, ...middle, "src/pipeline", "src/compare", "src/remote"],
  "src/jobs": [...left, ...middle, "src/pipeline", "src/compare", "src/remote", "src/sync"],
  "src/service": [...left.slice(0, 7), "src/sqlite", "src/remote/wire.ts"],
  "src/cli": [
    ...left,
    ...middle,
    "src/pipeline",
    "src/compare",
    "src/view",
    "src/remote",
    "src/sync",
    "src/jobs",
    "src/service",
    "plugins/index.ts",
  ],
  "src/library": [...left, ...middle, "src/pipeline", "src/compare"],
  "src/testing": [...left, ...middle],
  "src/index.ts": [
    ...left,
    ...middle,
    "src/pipeline",
    "src/compare",
    "src/remote",
    "src/sync",
    "src/jobs",
    "src/library",
    "plugins/index.ts",
  ],
};

function allowedFor(layer: string, path: string): readonly string[] {
  if (path === "plugins/index.ts") return [...left, ...formats];
  if (layer === "plugins/shared") return left;
  if (layer.startsWith("plugins/")) return [...left, "plugins/shared"];
  return allowed[layer] ?? [];
}
const formats = [...new Set(sources.filter((path) => path.startsWith("plugins/")).map(layerOf))];

describe("imports", () => {
  const local = sources.flatMap((path) =>
    importsOf(path)
      .filter((target) => /^(src|plugins|test)\//.test(target))
      .map((target) => ({ path, target })),
  );

  test("imports of the sources are found", () => {
    expect(sources.length).toBeGreaterThan(150);
    expect(local.length).toBeGreaterThan(500);
    expect(importsOf("src/cli/command.ts")).toContain("src/cli/commands/convert.ts");
    expect(importsOf("src/cli/run/convert-and-report.ts")).toContain("src/pipeline/convert-many.ts");
    expect(importsOf("plugins/geojson/index.ts")).toContain("plugins/geojson/reader.ts");
  });

  test("imports lead to existing files", () => {
    const known = new Set(files);
    expect(local.filter(({ target }) => !known.has(target) && !known.has(target.replace(/\.ts$/, ".mjs")))).toEqual([]);
  });

  test("every import belongs to a known layer", () => {
    const layers = new Set(sources.filter((path) => path.startsWith("src/")).map(layerOf));
    expect([...layers].filter((layer) => !Object.hasOwn(allowed, layer))).toEqual([]);
  });

  test("imports point to lower layers only", () => {
    const wrong = local.filter(({ path, target }) => {
      const [from, to] = [layerOf(path), layerOf(target)];
      return from !== to && !allowedFor(from, path).some((one) => one === to || one === target);
    });
    expect(wrong.map(({ path, target }) => `${path} → ${target}`)).toEqual([]);
  });

  test("imports of values form no cycle, in which a file could run before the files that it imports", () => {
    const values = new Map(sources.map((path) => [path, valueImportsOf(path)]));
    expect([...values.values()].flat().length).toBeGreaterThan(1500);
    expect(cyclesIn(values)).toEqual([]);
  });

  test("only src/index and src/cli import built-in formats", () => {
    const from = local.filter(({ path, target }) => target.startsWith("plugins/") && !path.startsWith("plugins/"));
    const others = from.filter(({ path }) => path !== "src/index.ts" && !path.startsWith("src/cli/"));
    expect(others).toEqual([]);
  });

  test("imported packages are listed in package.json: the bundle contains them, or users install them", () => {
    const manifest = JSON.parse(textOf("package.json")) as Record<string, Record<string, string>>;
    const dependencies = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies };
    const tools = ["vitest", "typescript", "rolldown", "playwright-core", "@biomejs/biome"];
    const names = sources.flatMap((path) =>
      importsOf(path)
        .filter((target) => !/^(src|plugins|test)\/|^node:|^#/.test(target))
        .map((target) => ({
          path,
          name: target
            .split("/")
            .slice(0, target.startsWith("@") ? 2 : 1)
            .join("/"),
        })),
    );
    expect(names.length).toBeGreaterThan(5);
    // What a browser runs comes with the package: MapLibre GL is in dist/assets and dist/plan-page.
    const installed = ({ path, name }: { path: string; name: string }) =>
      (Object.hasOwn(dependencies, name) && !tools.includes(name)) ||
      (/^src\/(service\/pages|cli\/plan-page)\/browser\//.test(path) && name === "maplibre-gl");
    expect(names.filter((one) => !installed(one))).toEqual([]);
  });
});

/** Files of text that people read and change; what others made (a lock, data) is theirs. */
const written = files.filter(
  (path) =>
    /\.(ts|mts|mjs|js|json|md|yaml|yml|py)$|^\.ci\/|^\.npmrc$|^\.gitignore$/.test(path) && path !== "package-lock.json",
);

const linesWith = (paths: readonly string[], pattern: RegExp): string[] =>
  paths.flatMap((path) =>
    textOf(path)
      .split("\n")
      .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );

describe("no file", () => {
  const typescript = files.filter((path) => /\.m?ts$/.test(path) && path !== "test/architecture.test.ts");

  test("no file has the type any", () => {
    const any = /(?::|\bas|<|\||&|=>|extends|satisfies)\s*any\b(?!\s*(?:[a-z]|\())|\bany\[\]|\bany>|,\s*any\s*[,>]/;
    expect(linesWith(typescript, any).filter((line) => !/: (\/\/|\*|\/\*)/.test(line))).toEqual([]);
  });

  test("no file silences the compiler", () => {
    expect(linesWith(typescript, /@ts-(ignore|nocheck|expect-error)/)).toEqual([]);
  });

  test("no file is marked as unfinished", () => {
    const marks = /\b(TODO|FIXME|XXX|HACK)\b/;
    expect(linesWith([...typescript, ...files.filter((path) => path.endsWith(".md"))], marks)).toEqual([]);
  });

  test("no file contains a path of a developer's machine", () => {
    const paths = /(?<![\w.*])\/(home|Users|root|work|workspace|mnt|private)\/[\w.-]+|\b[A-Z]:\\Users\\/;
    expect(linesWith(written, paths).filter((line) => !line.startsWith("test/architecture.test.ts"))).toEqual([]);
  });

  test("no file contains the address of a package registry", () => {
    const registries =
      /registry\.(npmjs|yarnpkg|npmmirror)\.|\bpypi\.org|\bverdaccio\b|\bartifactory\b|[?&:]_?authToken/i;
    expect(linesWith(written, registries).filter((line) => !line.startsWith("test/architecture.test.ts"))).toEqual([]);
  });

  test("the lock file contains no address of a registry", () => {
    expect(textOf("package-lock.json")).toContain('"integrity": "sha512-');
    expect(linesWith(["package-lock.json"], /"resolved": "[a-z+]+:\/\//)).toEqual([]);
  });

  test("all file names are in kebab-case", () => {
    const named = files.filter((path) => /^(src|plugins|test)\/.*\.(ts|mjs|js)$/.test(path));
    const odd = named.filter((path) => !/^[a-z0-9/-]+(\.(test|config|d))?\.(ts|mjs|js)$/.test(path));
    expect(odd).toEqual([]);
  });
});

/** Language service and compiler do not follow names in comments: a rename leaves them behind. */
describe("comments", () => {
  const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;
  const code = files.filter((path) => /^(src|plugins|test)\/.*\.(ts|mjs)$/.test(path));
  const identifiers = new Set(code.flatMap((path) => textOf(path).replace(comment, " ").match(/\w+/g) ?? []));
  const inComments = (pattern: RegExp): { path: string; name: string }[] =>
    code.flatMap((path) =>
      (textOf(path).match(comment) ?? []).flatMap((text) =>
        [...text.matchAll(pattern)].map(([, name]) => ({ path, name: name! })),
      ),
    );

  test("functions, types and members in comments exist", () => {
    // A message of PostgreSQL, a type of WKB, a word of a rule on names, and characters that an entity refers to.
    const others = new Set(["ReadyForQuery", "wkbMultiPolygon25D", "parcelId", "xE9"]);
    const quoted = inComments(/`([^`\n]+)`/g).flatMap(({ path, name }) =>
      [...name.matchAll(/(?<![\w.-])([a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+)(?![\w-])/g)].map(([word]) => ({
        path,
        name: word,
      })),
    );
    const named = [...quoted, ...inComments(/@throws ([A-Z]\w+)/g)];
    expect(named.length).toBeGreaterThan(300);
    expect(named.filter(({ name }) => !identifiers.has(name) && !others.has(name))).toEqual([]);
  });

  test("files in comments exist", () => {
    const known = new Set(files.map((path) => posix.basename(path)));
    const named = inComments(/(?<![\w./-])([a-z][\w-]*\.(?:ts|mjs))\b/g);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
  });
});
