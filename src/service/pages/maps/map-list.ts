/** The maps that the user can read, and a form to create one. */
import { ownerDisplayName } from "../../auth/accounts.js";
import { createMap as makeMap } from "../../maps/map-changes.js";
import { decodeMapCursor, encodeMapCursor } from "../../maps/map-cursor.js";
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
  { method: "GET", url: "/maps", handle: (context) => renderMapList(context, "", new Map()) },
  { method: "POST", url: "/maps", handle: createMap },
];

/** Rows of each table: any account can make any number of maps that all others see. */
const maxRows = 200;

async function renderMapList(context: SignedInContext, name: string, errors: FieldErrors): Promise<HtmlPage> {
  const own = await readRows(context, "own");
  const others = await readRows(context, "others");
  const body = html`${renderErrorSummary(errors)}
<h1>Maps</h1>
<section aria-labelledby="own"><h2 id="own">Your maps</h2>
${own.maps.length > 0 ? renderMapTable(own.maps, "Readable by", describeReaders) : html`<p class="quiet">There are none yet. Create the first one below.</p>`}
${renderNextLink(own.next, "your maps")}
</section>
${others.maps.length > 0 && html`<section aria-labelledby="others"><h2 id="others">Maps of others</h2>${renderMapTable(others.maps, "Owner", (map) => isolateName(ownerDisplayName(map)))}${renderNextLink(others.next, "maps of others")}</section>`}
<section aria-labelledby="new"><h2 id="new">New map</h2>
<form method="post" action="/maps" class="stack" novalidate>
  ${context.formToken()}
  ${renderField({ name: "name", label: "Name", value: name, autocomplete: "off" }, errors)}
  ${renderPrivateCheckbox(errors.size > 0 ? context.form.has("private") : true)}
  <button>Create the map</button>
</form></section>`;
  return { kind: "page", status: errors.size > 0 ? 422 : 200, title: pageTitle("Maps", errors), body };
}

/** Reads the rows after the cursor in the query parameter of the same name, and the address of the following ones. */
async function readRows(
  { services, user, query }: SignedInContext,
  scope: "own" | "others",
): Promise<{ readonly maps: readonly StoredMap[]; readonly next: string | null }> {
  const after = decodeMapCursor(query.get(scope) ?? "");
  const request = { account: user.account, scope, size: maxRows + 1, ...(after && { after }) };
  const found = await services.store.maps(request);
  const maps = found.slice(0, maxRows);
  if (found.length <= maxRows) return { maps, next: null };
  const following = new URLSearchParams(query);
  following.set(scope, encodeMapCursor(maps.at(-1)!));
  return { maps, next: `/maps?${following}` };
}

const renderNextLink = (next: string | null, what: string): Html | false =>
  next !== null && html`<p><a href="${next}">More of ${what}</a></p>`;

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

async function createMap(context: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { name, errors } = readName(context.form, "map");
  if (errors.size > 0) return renderMapList(context, name, errors);
  const { store, mapsPerAccount } = context.services;
  const attributes = { name, private: context.form.has("private") };
  const id = await makeMap(store, attributes, auditContextOf(context), mapsPerAccount);
  if (id === null) {
    const message = `You have ${formatNumber(mapsPerAccount)} maps, the most allowed. Delete one first`;
    return renderMapList(context, name, new Map([["name", message]]));
  }
  return redirectTo(`/maps/${id}`, "The map was created.");
}
