/**
 * A self-contained HTML page with a map before and after and a table. Contents cannot become markup or script: the table
 * is escaped, and the script gets the rows as JSON.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Html, html } from "../../service/pages/rendering/html.js";
import { hashOf, pageAssets } from "../output/page-assets.js";
import { dataBlock, escapeScript, pageStart } from "../output/self-contained-page.js";
import type { PageClass, PageRow } from "./page-data.js";

interface Assets {
  readonly script: string;
  readonly style: string;
  readonly worker: string;
  readonly land: string;
  readonly licences: string;
}

/** Script of the map, and assets of the service's pages, from the build. */
function readAssets(): Assets {
  const read = pageAssets();
  const own = createRequire(import.meta.url).resolve("#plan-page");
  return {
    script: escapeScript(readFileSync(own, "utf8")),
    style: [read("maplibre-gl.css"), read("pages.css"), readFileSync(own.replace(/js$/, "css"), "utf8")].join("\n"),
    worker: read("maplibre-gl-worker.js"),
    land: read("land.json"),
    licences: read("licences.txt"),
  };
}

/** A page with a map of `rows`. */
export function renderMapPage(title: string, main: Html, rows: readonly PageRow[]): string {
  const assets = readAssets();
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(assets.script)}`,
    `style-src ${hashOf(assets.style)}`,
    // MapLibre GL runs a worker from a blob, and fetches that blob again on file: pages.
    "worker-src blob: data:",
    "connect-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const head = pageStart(title, policy);
  return [
    head,
    `<style>${assets.style}</style>\n</head>\n<body class="wide plan">\n`,
    html`<main>
${main}<details class="quiet"><summary>Licences</summary><pre>${assets.licences}</pre></details>
</main>
`,
    dataBlock("plan-rows", rows),
    dataBlock("land", JSON.parse(assets.land)),
    dataBlock("worker", assets.worker),
    `<script type="module">${assets.script}</script>\n</body>\n</html>\n`,
  ].join("");
}

/** The map with the choice of its state, and the panel of the selected feature. @param title of the map, for screen readers */
export function renderMap(title: string): Html {
  return html`<section class="drawn" aria-labelledby="map-heading">
<h2 id="map-heading" class="unseen">Map</h2>
<noscript><p class="quiet">The map needs scripts, which are disabled in this browser. The table has the same features.</p></noscript>
<div id="map" data-title="${title}" hidden>
<fieldset class="sides"><legend class="unseen">Which state the map shows</legend>
${["before", "both", "after"].map((side) => html`<label><input type="radio" name="side" value="${side}"${side === "both" && html` checked`}> ${side}</label>`)}</fieldset>
<div class="frame"><div id="canvas"></div></div>
<div id="selection" class="selection" role="region" aria-label="Selected feature" aria-live="polite" hidden></div>
<p id="map-status" role="status" class="quiet"></p>
<p class="quiet">Hollow and dashed shapes are the state before, filled shapes the state after. Keys on the map: arrows pan, + and − zoom. Buttons in the table show a feature; Escape closes it.</p>
</div>
</section>
`;
}

/** Check boxes for the classes that the map and the table show. */
export const renderFilter = (classes: readonly PageClass[]): Html =>
  html`<fieldset id="filter" class="filter" hidden><legend class="unseen">Which features are shown</legend>
${classes.map((name) => html`<label class="${name}"><input type="checkbox" name="class" value="${name}" checked> ${name}</label>`)}</fieldset>`;
