/** The page of `geoferry view`: its markup, and its files for the server. The data comes by scripts, as text. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Html, html } from "../../service/pages/rendering/html.js";
import type { ViewInfo } from "../../view/protocol.js";
import type { PageFiles } from "../../view/server/serve-view.js";

/** Reads a file of the page from the build. */
export function readPageFile(name: string): string {
  return readFileSync(join(dirname(createRequire(import.meta.url).resolve("#view-page")), name), "utf8");
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5773"/><path d="M7 19c3 0 3 2 6 2s3-2 6-2 3 2 6 2M9 16l2-7h10l2 7z" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>`;

/** The origin of a base map, for the Content-Security-Policy. */
const originOf = (basemap: string | null): string =>
  basemap === null ? "" : ` ${new URL(basemap.replaceAll(/[{}]/g, "")).origin}`;

/** What the server of a view serves besides its data. */
export function viewFiles(info: ViewInfo): PageFiles {
  const page = renderViewPage(info.title, {
    head: html`<link rel="icon" href="icon.svg"><link rel="stylesheet" href="view.css">`,
    end: html`<script type="module" src="view.js"></script>`,
  });
  const script = "text/javascript; charset=utf-8";
  return {
    files: new Map([
      ["", { type: "text/html; charset=utf-8", content: page }],
      ["view.js", { type: script, content: readPageFile("view.js") }],
      ["view.css", { type: "text/css; charset=utf-8", content: readPageFile("view.css") }],
      ["land.json", { type: "application/json", content: readPageFile("land.json") }],
      ["icon.svg", { type: "image/svg+xml", content: icon }],
      ["view.json", { type: "application/json", content: JSON.stringify(info) }],
    ]),
    contentSecurityPolicy: [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      `img-src 'self'${originOf(info.basemap)}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}

export interface PageParts {
  readonly head: Html | string;
  readonly end: Html | string;
}

/** @param head, end are markup of the program, not of the data */
export function renderViewPage(title: string, { head, end }: PageParts): string {
  const start = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
`;
  return `${start}${head}\n</head>\n${renderBody(title)}${end}\n</body>\n</html>\n`;
}

const filterHint =
  "A condition on fields: population > 1e6, name like 'B%', kind in ('cafe', 'bar'), note is null; with and, or, not and parentheses";

const renderBody = (title: string): Html => html`<body>
<a class="skip" href="#grid">Skip to the table</a>
<header class="banner"><h1><span class="brand">geoferry</span> <span class="title"><bdi>${title}</bdi></span></h1></header>
<noscript><p class="problem">This page needs scripts, which are disabled in this browser.</p></noscript>
<div id="note" class="note-bar" role="note" hidden></div>
<div id="errors"></div>
<div id="announcer" class="unseen" role="status" aria-live="polite"></div>
<main id="nothing" hidden><div class="empty-state"><h2>Nothing to show</h2><p>No layer could be read.</p><div id="nothing-report"></div></div></main>
<main id="workspace">
<nav class="side" aria-label="Layers"><details id="side" open><summary><h2>Layers</h2></summary><ul id="layers" class="layers"></ul></details></nav>
<section class="map-area" aria-label="Map">
<div id="map" class="map"><canvas tabindex="0" role="application" aria-label="Map: arrow keys pan, plus and minus zoom, Enter selects the feature in the middle" aria-describedby="drawn"></canvas></div>
<div class="map-buttons">
<button type="button" id="zoom-in" aria-label="Zoom in" title="Zoom in">+</button>
<button type="button" id="zoom-out" aria-label="Zoom out" title="Zoom out">−</button>
<button type="button" id="zoom-all" aria-label="Zoom to all layers" title="Zoom to all layers">⤢</button>
</div>
<p id="loading" class="loading" role="status" hidden>Drawing…</p>
<div class="map-foot"><span id="scale" class="scale"></span><span id="cursor" class="cursor" title="Coordinates of the pointer"></span><span class="fill"></span><span id="drawn" class="drawn"></span><span id="credit" class="credit">Land: Natural Earth</span></div>
<aside id="feature" class="feature" aria-labelledby="feature-title" hidden></aside>
</section>
<div id="splitter" class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the table" aria-valuemin="0" aria-valuemax="100" aria-valuenow="40" tabindex="0"></div>
<section id="lower" class="lower" aria-label="Features">
<div class="tab-bar">
<div class="tabs" role="tablist" aria-label="About the layer">
<button type="button" role="tab" id="tab-table" aria-controls="panel-table" aria-selected="true">Table</button>
<button type="button" role="tab" id="tab-fields" aria-controls="panel-fields" aria-selected="false" tabindex="-1">Fields</button>
<button type="button" role="tab" id="tab-report" aria-controls="panel-report" aria-selected="false" tabindex="-1">Report <span id="report-count" class="pill"></span></button>
</div>
<form id="filter-form" class="filter-form"><label class="unseen" for="filter">Filter: a condition</label>
<input id="filter" type="text" placeholder="Filter: population > 1e6 and name like 'B%'" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="filter-hint filter-error" title="${filterHint}">
<span id="filter-hint" class="unseen">${filterHint}</span><button type="submit">Filter</button><button type="button" id="filter-clear" class="quiet-button">Clear</button></form>
<span id="table-status" class="table-status"></span>
</div>
<p id="filter-error" class="filter-error" role="alert" hidden></p>
<div id="panel-table" class="panel" role="tabpanel" aria-labelledby="tab-table"><div id="grid" class="grid" role="grid" tabindex="0"></div><p id="no-rows" class="empty" hidden></p></div>
<div id="panel-fields" class="panel scroll" role="tabpanel" aria-labelledby="tab-fields" tabindex="0" hidden></div>
<div id="panel-report" class="panel scroll" role="tabpanel" aria-labelledby="tab-report" tabindex="0" hidden></div>
</section>
</main>
`;
