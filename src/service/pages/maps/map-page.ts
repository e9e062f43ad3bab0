/** A map: drawn, as a list, and with its last writes. */
import { ownerDisplayName } from "../../auth/accounts.js";
import type { PageSuffix } from "../../features/page-bodies.js";
import type { AuditEntry, StoredMap } from "../../store/contract.js";
import type { FeatureData, HtmlPage, PageRoute, SignedInContext } from "../page-context.js";
import { renderAuditTable } from "../rendering/audit-table.js";
import { invalidPageRequest, pageNotFound } from "../rendering/error-page.js";
import { formatTime, isolateName, pluralize } from "../rendering/format.js";
import { type Html, html } from "../rendering/html.js";
import { renderFeatureList } from "./feature-list.js";
import { describeReaders, findReadableMap } from "./map-access.js";

export const mapPageRoutes: readonly PageRoute[] = [
  { method: "GET", url: "/maps/:id", handle: renderMapPage },
  { method: "GET", url: "/maps/:id/features.json", handle: readMapFeatures },
];

/** Number of recent audit entries that are shown. */
const maxAuditEntries = 20;

async function renderMapPage(context: SignedInContext): Promise<HtmlPage> {
  const map = await findReadableMap(context);
  const own = map.owner === context.user.account;
  const body = html`<h1>${isolateName(map.name)}</h1>
<p class="lead">${pluralize(map.features, "feature")}. ${own ? `Readable by ${describeReaders(map)}.` : html`Belongs to ${isolateName(ownerDisplayName(map))}.`}
${own && html`<a href="/maps/${map.id}/settings">Settings</a>`}</p>
<div class="beside">
${renderMapElement(context, map)}
<section aria-labelledby="features"><h2 id="features">Features</h2>
${await renderFeatureList(context, map)}
</section>
</div>
${own && (await renderLastWrites(context, map))}
${renderApiSection(context, map, own)}`;
  return { kind: "page", title: map.name, wide: true, head: renderMapHead(context), body };
}

function renderMapHead({ services: { assets } }: SignedInContext): Html {
  return html`<link rel="stylesheet" href="${assets.address("maplibre-gl.css")}">
<link rel="modulepreload" href="${assets.address("maplibre-gl.js")}">
<script type="module" src="${assets.address("map.js")}"></script>
`;
}

/** Container for the script; without scripts only the list is shown. */
function renderMapElement({ services: { assets } }: SignedInContext, map: StoredMap): Html {
  return html`<section class="drawn" aria-labelledby="map-heading">
<h2 id="map-heading" class="unseen">Map</h2>
<noscript><p class="quiet">Drawing the map requires JavaScript, which is disabled in this browser. The list has the same features.</p></noscript>
<div id="map" hidden data-name="${map.name}" data-total="${map.features}" data-features="/maps/${map.id}/features.json"
  data-library="${assets.address("maplibre-gl.js")}" data-worker="${assets.address("maplibre-gl-worker.js")}" data-land="${assets.address("land.json")}">
<div class="frame"><div id="canvas"></div><div id="cross" aria-hidden="true"></div></div>
<div id="selection" class="selection" role="region" aria-label="Selected feature" aria-live="polite" hidden></div>
<p id="map-status" role="status" class="quiet"></p>
<p id="map-help" class="quiet"><span class="keys">Keys on the map: arrows move it, + and − zoom, Enter selects the feature nearest to the center and then the next, Escape clears the selection.</span>
<a href="${assets.address("licences.txt")}">Licenses</a></p>
</div>
</section>`;
}

async function renderLastWrites({ services: { store } }: SignedInContext, map: StoredMap): Promise<Html> {
  const entries = await store.auditEntries({ map: map.id, limit: maxAuditEntries });
  return html`<section aria-labelledby="writes"><h2 id="writes">Last writes</h2>
${renderAuditTable(entries, await findEmails(entries, store))}</section>`;
}

async function findEmails(
  entries: readonly AuditEntry[],
  store: SignedInContext["services"]["store"],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(entries.flatMap(({ account }) => account ?? []));
  const accounts = await Promise.all([...ids].map((id) => store.accountById(id)));
  return new Map(accounts.flatMap((account) => (account === null ? [] : [[account.id, account.email]])));
}

function renderApiSection({ baseUrl }: SignedInContext, map: StoredMap, own: boolean): Html {
  return html`<section aria-labelledby="programs"><h2 id="programs">For programs</h2>
<dl class="facts">
<dt>Map id</dt><dd><code>${map.id}</code></dd>
<dt>URL of the features</dt><dd><code>${baseUrl}/api/v1/maps/${map.id}/features</code></dd>
<dt>To a file</dt><dd><code>geoferry pull places.gpkg --map ${map.id}</code></dd>
${own && html`<dt>From a file</dt><dd><code>geoferry push places.gpkg --map ${map.id} --mode full</code></dd>`}
<dt>Created</dt><dd>${formatTime(map.created)}</dd>
</dl></section>`;
}

/** Larger than pages of the API, to need fewer requests. */
const featuresPerRequest = 1000;

/**
 * The features of a map, as JSON for the script that draws it:
 * `{"type":"FeatureCollection","features":[…],"last":…,"more":…}`; `after` is `last` of the previous page.
 */
async function readMapFeatures(context: SignedInContext): Promise<FeatureData> {
  const map = await findReadableMap(context);
  const after = context.query.get("after");
  if (after !== null && !/^\d{1,15}$/.test(after)) throw invalidPageRequest("The parameter after is not a number.");
  const start = after === null ? { page: 1 } : { after: Number(after) };
  const pageRequest = { map: map.id, size: featuresPerRequest, ...start };
  const page = await context.services.bodies.read(pageRequest, context.user.account, "GET", pageSuffix);
  if (page === null) throw pageNotFound();
  return { kind: "data", page };
}

const pageSuffix: PageSuffix = ({ last, more }) => Buffer.from(`],"last":${last},"more":${more}}`);
