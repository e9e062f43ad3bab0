/**
 * Makes the JavaScript of the package, in few files: Node takes longer to find and link a hundred small modules than to
 * convert a small table. What the sources load on demand (`import()`) stays apart. What two files share is there once,
 * so that the classes of errors and batches are the same for the command, the library and a plugin.
 */
import { copyFileSync, readdirSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { bundleAssets } from "./bundle-assets.mjs";
import { listLibraries } from "./libraries.mjs";

const root = dirname(dirname(import.meta.dirname));
const formats = readdirSync(`${root}/plugins`).filter((name) => name !== "shared" && name !== "index.ts");

/** Packages that are installed beside geoferry, always or on request. */
const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });

/** What package.json names under `bin`, `exports` and `imports`. */
const entries = [
  "src/cli/main",
  "src/index",
  "src/plugin/index",
  "src/testing/index",
  "src/pipeline/execute/worker",
  "src/cli/worker-process",
  "src/compare/spool/comparison-format",
  "src/view/spool/view-format",
  "plugins/geopackage/query-process",
  "plugins/gdal/gdal-process",
  "src/service/store/sqlite/thread",
  "src/service/auth/password-hasher",
  ...formats.map((name) => `plugins/${name}/index`),
];

/** What is loaded on demand has the name of its source; npm leaves folders called `node_modules` out of packages. */
function chunkName({ facadeModuleId }) {
  if (!facadeModuleId) return "chunks/[name].js";
  const path = relative(root, facadeModuleId).replaceAll(sep, "/");
  return path.replace(/^node_modules\//, "libraries/").replace(/\.(ts|mjs|cjs)$/, ".js");
}

const { rolldown } = await import("rolldown").catch((error) => {
  const platform = `${process.platform} ${process.arch}, Node ${process.versions.node}`;
  console.error(`rolldown, which bundles the package, cannot be loaded (${platform}): ${error.message}`);
  console.error("It needs Node 20.19 or 22.12 on, and its binary for this platform, which npm ci installs.");
  process.exit(1);
});

const bundle = await rolldown({
  cwd: root,
  input: Object.fromEntries(entries.map((path) => [path, `${path}.ts`])),
  platform: "node",
  // The rest is part of the bundle (docs/decisions/2026-11-24-one-package.md). pg asks for its native half and does without.
  external: [/^#/, ...installed, "pg-native"],
  tsconfig: "tsconfig.json",
  // The oldest Node that `engines` in package.json allows.
  transform: { target: "node20.19" },
  resolve: { extensionAlias: { ".js": [".ts"] } },
  // An import that leads nowhere, or one on demand that is loaded at once all the same.
  onLog: (level, log, report) => report(level === "warn" ? "error" : level, log),
});
const written = await bundle.write({
  dir: `${root}/dist`,
  cleanDir: true,
  entryFileNames: "[name].js",
  chunkFileNames: chunkName,
  // A file with characters of more than one byte takes longer to parse.
  charset: "ascii",
  comments: { legal: true, annotation: false, jsdoc: false },
  // A stack names things as the sources do.
  minify: false,
  minifyInternalExports: false,
  codeSplitting: {
    groups: [
      // Listens before the core is there.
      { name: "signals", priority: 2, test: /[\\/]src[\\/]cli[\\/]signals\.ts$/ },
      // All that every conversion needs, on any thread, and what little most formats share.
      {
        name: "core",
        priority: 1,
        test: /[\\/](src[\\/](cli[\\/]run-command-line|pipeline[\\/]execute[\\/]task)|plugins[\\/]shared[\\/](text[\\/](parse-number|text-buffer|literal|utf8)|rounding-collapse|geometry-families))\.ts$/,
      },
      // To find and link a file takes as long as to parse 30 KB.
      { name: "well-known", test: /[\\/]plugins[\\/]shared[\\/]wk[bt][\\/]/ },
      {
        name: "sqlite",
        test: /[\\/]plugins[\\/]geopackage[\\/](sqlite[\\/]row-reader|read[\\/]infer-types|schema[\\/]schema-sql)\.ts$/,
      },
    ],
  },
});
await bundle.close();
listLibraries(
  `${root}/dist`,
  written.output.flatMap(({ moduleIds = [] }) => moduleIds),
  ["maplibre-gl", "world-atlas", ...Object.keys(manifest.dependencies)].map((name) => `${root}/node_modules/${name}`),
);
copyFileSync(`${root}/node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm`, `${root}/dist/sqlite3.wasm`);
await bundleAssets(rolldown);
