/** The maps that a person can see, and new ones. */
import { ownerDisplayName } from "../auth/accounts.js";
import { createMap as makeMap } from "../map-changes.js";
import type { StoredMap } from "../store/contract.js";
import { errorSummary, type FieldErrors, fieldOf, readName, titleOf } from "./forms.js";
import { type Html, html } from "./html.js";
import { readersOf } from "./map-access.js";
import { privateBox } from "./map-settings.js";
import { doneBy, type Page, type Redirect, type Route, redirect, type VisitOfMember } from "./visit.js";
import { named, numberText } from "./wording.js";

export const mapsRoutes: readonly Route[] = [
  { method: "GET", url: "/maps", answer: (visit) => mapsPage(visit, "", new Map()) },
  { method: "POST", url: "/maps", answer: createMap },
];

async function mapsPage(visit: VisitOfMember, name: string, errors: FieldErrors): Promise<Page> {
  const { account } = visit.visitor;
  const maps = await visit.site.store.maps({ account, readable: true });
  const own = maps.filter(({ owner }) => owner === account);
  const others = maps.filter(({ owner }) => owner !== account);
  const body = html`${errorSummary(errors)}
<h1>Maps</h1>
<section aria-labelledby="own"><h2 id="own">Your maps</h2>
${own.length > 0 ? mapTable(own, "Who reads it", readersOf) : html`<p class="quiet">There are none yet. Make the first one below.</p>`}
</section>
${others.length > 0 && html`<section aria-labelledby="others"><h2 id="others">Maps of others</h2>${mapTable(others, "Owner", (map) => named(ownerDisplayName(map)))}</section>`}
<section aria-labelledby="new"><h2 id="new">New map</h2>
<form method="post" action="/maps" class="stack" novalidate>
  ${visit.formToken()}
  ${fieldOf({ name: "name", label: "Name", value: name, autocomplete: "off" }, errors)}
  ${privateBox(errors.size > 0 ? visit.form.has("private") : true)}
  <button>Create the map</button>
</form></section>`;
  return { kind: "page", status: errors.size > 0 ? 422 : 200, title: titleOf("Maps", errors), body };
}

function mapTable(maps: readonly StoredMap[], label: string, fact: (map: StoredMap) => Html | string): Html {
  const rows = maps.map(
    (map) => html`<tr>
<th scope="row"><a href="/maps/${map.id}">${named(map.name)}</a></th>
<td class="number" data-label="Features">${numberText(map.features)}</td>
<td class="short" data-label="${label}">${fact(map)}</td>
</tr>`,
  );
  return html`<table class="cards">
<thead><tr><th scope="col">Name</th><th scope="col" class="number">Features</th><th scope="col">${label}</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

async function createMap(visit: VisitOfMember): Promise<Page | Redirect> {
  const { name, errors } = readName(visit.form, "map");
  if (errors.size > 0) return mapsPage(visit, name, errors);
  const id = await makeMap(visit.site.store, { name, private: visit.form.has("private") }, doneBy(visit));
  return redirect(`/maps/${id}`, "The map was created.");
}
