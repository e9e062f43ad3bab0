/** The maps that a person can see, and new ones. */
import { ownerDisplayName } from "../../auth/accounts.js";
import { createMap as makeMap } from "../../maps/map-changes.js";
import type { StoredMap } from "../../store/contract.js";
import {
  auditContextOf,
  type HtmlPage,
  type PageRedirect,
  type PageRoute,
  redirectTo,
  type SignedInContext,
} from "../page-context.js";
import { formatNumber, isolateName } from "../rendering/format.js";
import { type FieldErrors, pageTitle, readName, renderErrorSummary, renderField } from "../rendering/forms.js";
import { type Html, html } from "../rendering/html.js";
import { describeReaders } from "./map-access.js";
import { renderPrivateCheckbox } from "./map-settings.js";

export const mapListRoutes: readonly PageRoute[] = [
  { method: "GET", url: "/maps", handle: (visit) => renderMapList(visit, "", new Map()) },
  { method: "POST", url: "/maps", handle: createMap },
];

async function renderMapList(visit: SignedInContext, name: string, errors: FieldErrors): Promise<HtmlPage> {
  const { account } = visit.visitor;
  const maps = await visit.site.store.maps({ account, readable: true });
  const own = maps.filter(({ owner }) => owner === account);
  const others = maps.filter(({ owner }) => owner !== account);
  const body = html`${renderErrorSummary(errors)}
<h1>Maps</h1>
<section aria-labelledby="own"><h2 id="own">Your maps</h2>
${own.length > 0 ? renderMapTable(own, "Who reads it", describeReaders) : html`<p class="quiet">There are none yet. Make the first one below.</p>`}
</section>
${others.length > 0 && html`<section aria-labelledby="others"><h2 id="others">Maps of others</h2>${renderMapTable(others, "Owner", (map) => isolateName(ownerDisplayName(map)))}</section>`}
<section aria-labelledby="new"><h2 id="new">New map</h2>
<form method="post" action="/maps" class="stack" novalidate>
  ${visit.formToken()}
  ${renderField({ name: "name", label: "Name", value: name, autocomplete: "off" }, errors)}
  ${renderPrivateCheckbox(errors.size > 0 ? visit.form.has("private") : true)}
  <button>Create the map</button>
</form></section>`;
  return { kind: "page", status: errors.size > 0 ? 422 : 200, title: pageTitle("Maps", errors), body };
}

function renderMapTable(maps: readonly StoredMap[], label: string, fact: (map: StoredMap) => Html | string): Html {
  const rows = maps.map(
    (map) => html`<tr>
<th scope="row"><a href="/maps/${map.id}">${isolateName(map.name)}</a></th>
<td class="number" data-label="Features">${formatNumber(map.features)}</td>
<td class="short" data-label="${label}">${fact(map)}</td>
</tr>`,
  );
  return html`<table class="cards">
<thead><tr><th scope="col">Name</th><th scope="col" class="number">Features</th><th scope="col">${label}</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

async function createMap(visit: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { name, errors } = readName(visit.form, "map");
  if (errors.size > 0) return renderMapList(visit, name, errors);
  const id = await makeMap(visit.site.store, { name, private: visit.form.has("private") }, auditContextOf(visit));
  return redirectTo(`/maps/${id}`, "The map was created.");
}
