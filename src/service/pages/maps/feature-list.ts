/** The features of a map as a paginated list. */
import type { WireFeature } from "../../../remote/wire.js";
import { maxMemoryPageBytes } from "../../features/page-bodies.js";
import type { Store, StoredMap, FeaturePage as StoredPage } from "../../store/contract.js";
import type { SignedInContext } from "../page-context.js";
import { pageNotFound } from "../rendering/error-page.js";
import { formatNumber } from "../rendering/format.js";
import { type Html, html } from "../rendering/html.js";
import { featureTitle, formatLocation, formatProperties } from "./feature-text.js";

const featuresPerPage = 25;

export async function renderFeatureList(context: SignedInContext, map: StoredMap): Promise<Html> {
  const number = parsePageNumber(context.query.get("page"));
  const { store } = context.services;
  const page = await store.page({ map: map.id, size: featuresPerPage, page: number, maxBytes: maxMemoryPageBytes });
  if (page === null || (page.count === 0 && number > 1)) throw pageNotFound();
  if (page.count === 0) return renderEmptyList(map.owner === context.user.account);
  const first = (number - 1) * featuresPerPage + 1;
  return html`<p class="quiet">${formatNumber(first)} to ${formatNumber(first + page.count - 1)} of ${formatNumber(map.features)}, by creation time</p>
<ol class="features" start="${first}">${await renderItems(store, map.id, page)}</ol>
${renderPageLinks(number, Math.ceil(map.features / featuresPerPage), page.more)}`;
}

const renderEmptyList = (own: boolean): Html =>
  html`<p class="quiet">There are no features yet.${own && html` To add some, see <a href="#programs">For programs</a>.`}</p>`;

function parsePageNumber(text: string | null): number {
  if (text === null) return 1;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw pageNotFound();
  return Number(text);
}

/** Maximum bytes of a feature that is shown, on a page that exceeds the memory limit. */
const maxShownBytes = 64 << 10;

async function renderItems(store: Store, map: string, page: StoredPage): Promise<readonly Html[]> {
  if (page.text.length === page.bytes) return parseFeatures(page).map(renderFeature);
  const items: Html[] = [];
  let after = page.first! - 1;
  while (items.length < page.count) {
    const one = await store.page({ map, size: 1, after, maxBytes: maxShownBytes });
    if (!one?.count) break;
    items.push(one.text.length === one.bytes ? renderFeature(parseFeatures(one)[0]!) : renderLargeFeature(one.bytes));
    after = one.last!;
  }
  return items;
}

const renderLargeFeature = (bytes: number): Html =>
  html`<li><span class="quiet">A feature of ${formatNumber(Math.round(bytes / 1000))} kB, too large for this list. Use the API to read it.</span></li>`;

const parseFeatures = (page: StoredPage): readonly WireFeature[] =>
  JSON.parse(`[${Buffer.from(page.text.buffer, page.text.byteOffset, page.text.byteLength).toString("utf8")}]`);

function renderFeature(feature: WireFeature): Html {
  return html`<li><details data-feature="${feature.id}">
<summary><bdi>${featureTitle(feature)}</bdi> <span class="quiet">${formatLocation(feature.geometry)}</span></summary>
<dl class="facts">${formatProperties(feature.properties).map(([name, value]) => html`<dt><bdi>${name}</bdi></dt><dd><bdi>${value}</bdi></dd>`)}
<dt class="quiet">id</dt><dd class="quiet"><code>${feature.id}</code></dd></dl>
</details></li>`;
}

function renderPageLinks(number: number, last: number, more: boolean): Html | false {
  if (number === 1 && !more) return false;
  return html`<nav aria-label="Pages of features" class="pages">
${number > 1 && html`<a rel="prev" href="?page=${number - 1}#features">Previous</a>`}
<span>Page ${formatNumber(number)} of ${formatNumber(Math.max(last, number))}</span>
${more && html`<a rel="next" href="?page=${number + 1}#features">Next</a>`}
</nav>`;
}
