/** The features of a map as text, a page at a time. */
import type { WireFeature } from "../../remote/wire.js";
import { mostInMemory } from "../features/page-bodies.js";
import type { Store, StoredMap, Page as StoredPage } from "../store/contract.js";
import { notFound } from "./faults.js";
import { placeText, propertyTexts, titleOfFeature } from "./feature-text.js";
import { type Html, html } from "./html.js";
import type { VisitOfMember } from "./visit.js";
import { numberText } from "./wording.js";

const featuresOnPage = 25;

export async function featureList(visit: VisitOfMember, map: StoredMap): Promise<Html> {
  const number = pageNumber(visit.query.get("page"));
  const { store } = visit.site;
  const page = await store.page({ map: map.id, size: featuresOnPage, page: number, most: mostInMemory });
  if (page === null || (page.count === 0 && number > 1)) throw notFound();
  if (page.count === 0) return noFeatures(map.owner === visit.visitor.account);
  const first = (number - 1) * featuresOnPage + 1;
  return html`<p class="quiet">${numberText(first)} to ${numberText(first + page.count - 1)} of ${numberText(map.features)}, in the order of their creation</p>
<ol class="features" start="${first}">${await itemsOf(store, map.id, page)}</ol>
${pageLinks(number, Math.ceil(map.features / featuresOnPage), page.more)}`;
}

const noFeatures = (own: boolean): Html =>
  html`<p class="quiet">There are none yet.${own && html` Programs add them: <a href="#programs">below</a> is what they need.`}</p>`;

function pageNumber(text: string | null): number {
  if (text === null) return 1;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw notFound();
  return Number(text);
}

/** Bytes of a feature that is shown on a page whose features are large together. */
const mostShown = 64 << 10;

async function itemsOf(store: Store, map: string, page: StoredPage): Promise<readonly Html[]> {
  if (page.text.length === page.bytes) return featuresOf(page).map(featureItem);
  const items: Html[] = [];
  let after = page.first! - 1;
  while (items.length < page.count) {
    const one = await store.page({ map, size: 1, after, most: mostShown });
    if (!one?.count) break;
    items.push(one.text.length === one.bytes ? featureItem(featuresOf(one)[0]!) : largeItem(one.bytes));
    after = one.last!;
  }
  return items;
}

const largeItem = (bytes: number): Html =>
  html`<li><span class="quiet">A feature of ${numberText(Math.round(bytes / 1000))} kB, which is too large for this list; programs can read it</span></li>`;

const featuresOf = (page: StoredPage): readonly WireFeature[] =>
  JSON.parse(`[${Buffer.from(page.text.buffer, page.text.byteOffset, page.text.byteLength).toString("utf8")}]`);

function featureItem(feature: WireFeature): Html {
  return html`<li><details data-feature="${feature.id}">
<summary><bdi>${titleOfFeature(feature)}</bdi> <span class="quiet">${placeText(feature.geometry)}</span></summary>
<dl class="facts">${propertyTexts(feature.properties).map(([name, value]) => html`<dt><bdi>${name}</bdi></dt><dd><bdi>${value}</bdi></dd>`)}
<dt class="quiet">id</dt><dd class="quiet"><code>${feature.id}</code></dd></dl>
</details></li>`;
}

function pageLinks(number: number, last: number, more: boolean): Html | false {
  if (number === 1 && !more) return false;
  return html`<nav aria-label="Pages of features" class="pages">
${number > 1 && html`<a rel="prev" href="?page=${number - 1}#features">Previous</a>`}
<span>Page ${numberText(number)} of ${numberText(Math.max(last, number))}</span>
${more && html`<a rel="next" href="?page=${number + 1}#features">Next</a>`}
</nav>`;
}
