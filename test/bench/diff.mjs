/**
 * What a diff costs: two versions of many points, of which 0.4 % differ, and two that differ in every feature.
 *
 *   npm run bench:diff -- [--features 1000000] [--rounds 3] [--formats gpkg,geojsonl,csv] [--python PYTHON]
 *
 * With --python, an interpreter with geopandas compares the same files by the same key, in turns.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measure, median } from "./measure.mjs";
import { main } from "./service-process.mjs";

const { values: flags } = parseArgs({
  options: {
    features: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "3" },
    formats: { type: "string", default: "gpkg,geojsonl,csv" },
    python: { type: "string" },
  },
});
const count = Number(flags.features);
const folder = mkdtempSync(join(tmpdir(), "geoferry-diff-bench-"));

function feature(i, { dx = 0, title = `Place ${i}`, height = (i % 4000) + 0.5 } = {}) {
  const x = ((i * 7919) % 3_600_000) / 10_000 - 180 + 0.00001234 + dx;
  const y = ((i * 104_729) % 1_700_000) / 10_000 - 85 + 0.0000321;
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [x, y] },
    properties: { ref: i, title, description: `The ${i}th of many places`, height, turn: i % 7 },
  };
}

/** Of a thousand features one is removed, one moved, and two changed; as many are added at the end. */
function* edited() {
  for (let i = 0; i < count; i++) {
    const kind = i % 1000;
    if (kind === 1) continue;
    if (kind === 2) yield feature(i, { dx: 0.001 });
    else if (kind === 3) yield feature(i, { title: `Place ${i} changed` });
    else if (kind === 4) yield feature(i, { height: null });
    else yield feature(i);
  }
  for (let i = count; i < count + count / 1000; i++) yield feature(i);
}
function* original() {
  for (let i = 0; i < count; i++) yield feature(i);
}
function* different() {
  for (let i = 0; i < count; i++) yield feature(i, { title: `Other ${i}` });
}

async function write(name, features) {
  const path = join(folder, `${name}.geojsonl`);
  const out = createWriteStream(path);
  for (const one of features) if (!out.write(`${JSON.stringify(one)}\n`)) await once(out, "drain");
  out.end();
  await once(out, "finish");
  return path;
}

const script = join(folder, "compare.py");
writeFileSync(
  script,
  `import sys, geopandas
old, new = (geopandas.read_file(path).set_index("ref") for path in sys.argv[1:])
added, removed = new.index.difference(old.index), old.index.difference(new.index)
both = old.index.intersection(new.index)
a, b = old.loc[both], new.loc[both]
changed = sum(((a[n] != b[n]) & ~(a[n].isna() & b[n].isna())).astype(int) for n in a.columns if n != "geometry") > 0
moved = ~a.geometry.geom_equals_exact(b.geometry, 5e-8)
print(len(added), len(removed), int(changed.sum()), int((moved & ~changed).sum()))
`,
);

try {
  const versions = { original: original(), edited: edited(), different: different() };
  for (const [name, features] of Object.entries(versions)) await write(name, features);
  const formats = flags.formats.split(",");
  for (const format of formats)
    for (const name of Object.keys(versions))
      if (format !== "geojsonl")
        execFileSync(process.execPath, [
          main,
          "convert",
          join(folder, `${name}.geojsonl`),
          join(folder, `${name}.${format}`),
          "-q",
        ]);
  console.log("| versions | format | program | seconds | of processors | peak MB |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const other of ["edited", "different"]) {
    for (const format of formats) {
      const files = ["original", other].map((name) => join(folder, `${name}.${format}`));
      const programs = { geoferry: [process.execPath, [main, "diff", ...files, "--key", "ref", "-q"]] };
      if (flags.python && format !== "csv") programs.geopandas = [flags.python, [script, ...files]];
      const results = new Map(Object.keys(programs).map((name) => [name, []]));
      for (let round = 0; round < Number(flags.rounds); round++)
        for (const [name, [command, args]] of Object.entries(programs))
          results.get(name).push(await measure(command, args));
      for (const [name, measured] of results) {
        const middle = (member) => median(measured.map((one) => one[member]));
        const cells = [other, format, name, middle("seconds").toFixed(1), middle("processor").toFixed(1)];
        console.log(`| ${[...cells, Math.round(middle("peak"))].join(" | ")} |`);
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
