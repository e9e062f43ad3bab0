/**
 * Makes what the pages of the service load, in dist/assets: MapLibre GL and its worker, the land that maps are drawn
 * over, the style sheet, the map's script, and the licences of what others made. A file's name has a hash of its
 * content, so that browsers can cache it forever; manifest.json lists the names.
 */
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname } from "node:path";
import { feature } from "topojson-client";

const require = createRequire(import.meta.url);
const root = dirname(dirname(import.meta.dirname));
const pages = `${root}/src/service/pages`;
const planPage = `${root}/src/cli/plan-page/browser`;
const viewPage = `${root}/src/cli/view-page`;

/** A text of a package, without the comment that points to a source map: it is not served. */
const packaged = (path) =>
  readFileSync(require.resolve(path), "utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");

/** A script of a page, of one file, with what it imports by name. */
async function pageScript(rolldown, folder, name) {
  const bundle = await rolldown({
    input: `${folder}/${name}.ts`,
    platform: "browser",
    tsconfig: `${folder}/tsconfig.json`,
    transform: { target: "es2022" },
    resolve: { extensionAlias: { ".js": [".ts"] } },
    onLog: (level, log, report) => report(level === "warn" ? "error" : level, log),
  });
  const { output } = await bundle.generate({ format: "es", minify: true });
  await bundle.close();
  return output[0].code;
}

/** Natural Earth's land, about 1:110 million, to a thousandth of a degree (100 m): the outline is 10 km off at best. */
function landOutline() {
  const topology = JSON.parse(readFileSync(require.resolve("world-atlas/land-110m.json"), "utf8"));
  const land = feature(topology, topology.objects.land).features;
  const polygons = land.flatMap(({ geometry }) => geometry.coordinates);
  const coordinates = polygons.map((rings) => rings.map((ring) => unwrapped(ring).map(rounded)));
  return JSON.stringify({ type: "Feature", properties: {}, geometry: { type: "MultiPolygon", coordinates } });
}

const rounded = (position) => position.map((degrees) => Math.round(degrees * 1000) / 1000);

/**
 * The ring without jumps from 180 to -180: world-atlas joined on the sphere what Natural Earth cuts there, so that
 * rings cross the antimeridian, and the one around the South Pole comes back 360 degrees off. The latter is closed
 * along the pole. Longitudes beyond 180 are drawn in the next copy of the world; the middle of a ring is in this one,
 * so that lakes stay in their land.
 */
function unwrapped(ring) {
  const line = continuous(ring);
  const longitudes = line.map(([longitude]) => longitude);
  const middle = (Math.min(...longitudes) + Math.max(...longitudes)) / 2;
  const shift = -360 * Math.floor((middle + 180) / 360);
  return line.map(([longitude, latitude]) => [longitude + shift, latitude]);
}

function continuous(ring) {
  let turns = 0;
  const line = ring.map(([longitude, latitude], at) => {
    if (at > 0) turns -= Math.round((longitude - ring[at - 1][0]) / 360);
    return [longitude + turns * 360, latitude];
  });
  if (turns === 0) return line;
  return [...line, [line.at(-1)[0], -90], [line[0][0], -90], line[0]];
}

export async function bundleAssets(rolldown) {
  const assets = {
    "maplibre-gl.js": packaged("maplibre-gl/dist/maplibre-gl.mjs"),
    "maplibre-gl-worker.js": packaged("maplibre-gl/dist/maplibre-gl-worker.mjs"),
    "maplibre-gl.css": packaged("maplibre-gl/dist/maplibre-gl.css"),
    "land.json": landOutline(),
    // MapLibre GL is loaded by its address.
    "map.js": await pageScript(rolldown, `${pages}/browser`, "map"),
    "pages.css": ["base", "pages"].map((name) => readFileSync(`${pages}/${name}.css`, "utf8")).join("\n"),
    "icon.svg": readFileSync(`${pages}/icon.svg`, "utf8"),
    "licences.txt": licences(),
  };
  const folder = `${root}/dist/assets`;
  mkdirSync(folder, { recursive: true });
  const names = {};
  for (const [name, text] of Object.entries(assets)) {
    const extension = extname(name);
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    names[name] = `${name.slice(0, -extension.length)}-${hash}${extension}`;
    writeFileSync(`${folder}/${names[name]}`, text);
  }
  writeFileSync(`${folder}/manifest.json`, `${JSON.stringify(names, null, 2)}\n`);
  await bundlePlanPage(rolldown);
  await bundleViewPage(rolldown, assets["land.json"]);
  cpSync(`${root}/src/cli/completion/scripts`, `${root}/dist/completion`, {
    recursive: true,
  });
}

/** What only the page of a plan needs, in dist/plan-page: it holds MapLibre GL itself, as it loads nothing. */
async function bundlePlanPage(rolldown) {
  const folder = `${root}/dist/plan-page`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/plan.js`, await pageScript(rolldown, planPage, "plan"));
  copyFileSync(`${planPage}/plan.css`, `${folder}/plan.css`);
}

/** What only the page of a view needs, in dist/view-page. */
async function bundleViewPage(rolldown, land) {
  const folder = `${root}/dist/view-page`;
  mkdirSync(folder, { recursive: true });
  for (const name of ["view", "file"])
    writeFileSync(`${folder}/${name}.js`, await pageScript(rolldown, `${viewPage}/browser`, name));
  const styles = [`${pages}/base.css`, `${viewPage}/view.css`].map((path) => readFileSync(path, "utf8"));
  writeFileSync(`${folder}/view.css`, styles.join("\n"));
  writeFileSync(`${folder}/land.json`, land);
}

function licences() {
  const licenceOf = (name, file) =>
    readFileSync(require.resolve(`${name}/package.json`).replace(/package\.json$/, file));
  return [
    `MapLibre GL JS\n\n${licenceOf("maplibre-gl", "LICENSE.txt")}`,
    "The outline of land: Natural Earth, in the public domain (naturalearthdata.com), as packed in world-atlas.",
    `world-atlas\n\n${licenceOf("world-atlas", "LICENSE")}`,
  ].join(`\n${"-".repeat(80)}\n\n`);
}
