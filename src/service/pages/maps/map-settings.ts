/** Name and privacy of a map, and its end. */
import { deleteMap as endMap, changeMap as setFacts } from "../../maps/map-changes.js";
import type { StoredMap } from "../../store/contract.js";
import {
  auditContextOf,
  type HtmlPage,
  type PageRedirect,
  type PageRoute,
  redirectTo,
  type SignedInContext,
} from "../page-context.js";
import { pageNotFound } from "../rendering/error-page.js";
import { isolateName, pluralize } from "../rendering/format.js";
import { type FieldErrors, pageTitle, readName, renderErrorSummary, renderField } from "../rendering/forms.js";
import { type Html, html } from "../rendering/html.js";
import { findOwnMap } from "./map-access.js";

export const mapSettingsRoutes: readonly PageRoute[] = [
  {
    method: "GET",
    url: "/maps/:id/settings",
    handle: async (visit) => renderSettingsPage(visit, await findOwnMap(visit)),
  },
  { method: "POST", url: "/maps/:id/settings", handle: changeMap },
  { method: "GET", url: "/maps/:id/delete", handle: renderDeleteConfirmation },
  { method: "POST", url: "/maps/:id/delete", handle: deleteMap },
];

/** In a form: whether a map is private. */
export const renderPrivateCheckbox = (checked: boolean): Html => html`<div class="tick">
  <input type="checkbox" id="private" name="private" value="yes"${checked && html` checked`} aria-describedby="private-hint">
  <label for="private">Private</label>
  <p class="hint" id="private-hint">Only you can read it. Any other map can be read, but not changed, by every account of this service.</p>
</div>`;

function renderSettingsPage(
  visit: SignedInContext,
  map: StoredMap,
  errors: FieldErrors = new Map(),
  name = map.name,
): HtmlPage {
  const hidden = errors.size > 0 ? visit.form.has("private") : map.private;
  const body = html`${renderErrorSummary(errors)}
<p class="back"><a href="/maps/${map.id}">Back to the map</a></p>
<h1>Settings of ${isolateName(map.name)}</h1>
<form method="post" action="/maps/${map.id}/settings" class="stack" novalidate>
  ${visit.formToken()}
  ${renderField({ name: "name", label: "Name", value: name, autocomplete: "off" }, errors)}
  ${renderPrivateCheckbox(hidden)}
  <button>Save</button>
</form>
<section aria-labelledby="deletion"><h2 id="deletion">Delete</h2>
<p>The map goes with everything on it.</p>
<p><a class="button danger" href="/maps/${map.id}/delete">Delete the map…</a></p></section>`;
  return {
    kind: "page",
    status: errors.size > 0 ? 422 : 200,
    title: pageTitle(`Settings of ${map.name}`, errors),
    body,
  };
}

async function changeMap(visit: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const map = await findOwnMap(visit);
  const { name, errors } = readName(visit.form, "map");
  if (errors.size > 0) return renderSettingsPage(visit, map, errors, name);
  const change = { name, private: visit.form.has("private") };
  if ((await setFacts(visit.site.store, map, change, auditContextOf(visit))) === null) throw pageNotFound();
  return redirectTo(`/maps/${map.id}`, "The settings were saved.");
}

async function renderDeleteConfirmation(visit: SignedInContext): Promise<HtmlPage> {
  const map = await findOwnMap(visit);
  const body = html`<h1>Delete ${isolateName(map.name)}?</h1>
<p>The map goes with ${map.features === 0 ? "everything on it" : html`<strong>${pluralize(map.features, "feature")}</strong>`}, at once and for good. Programs that write to it will fail.</p>
<form method="post" action="/maps/${map.id}/delete" class="choice">
  ${visit.formToken()}<button class="danger">Delete the map</button> <a href="/maps/${map.id}">Keep it</a>
</form>`;
  return { kind: "page", title: `Delete ${map.name}`, body };
}

async function deleteMap(visit: SignedInContext): Promise<PageRedirect> {
  const map = await findOwnMap(visit);
  if (!(await endMap(visit.site.store, map, auditContextOf(visit)))) throw pageNotFound();
  return redirectTo("/maps", `The map ${map.name} was deleted.`);
}
