/** Name and privacy of a map, and its deletion. */
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
    handle: async (context) => renderSettingsPage(context, await findOwnMap(context)),
  },
  { method: "POST", url: "/maps/:id/settings", handle: changeMap },
  { method: "GET", url: "/maps/:id/delete", handle: renderDeleteConfirmation },
  { method: "POST", url: "/maps/:id/delete", handle: deleteMap },
];

/** Form field for the privacy of a map. */
export const renderPrivateCheckbox = (checked: boolean): Html => html`<div class="tick">
  <input type="checkbox" id="private" name="private" value="yes"${checked && html` checked`} aria-describedby="private-hint">
  <label for="private">Private</label>
  <p class="hint" id="private-hint">Only you can read a private map. Every account of this service can read, but not change, a public map.</p>
</div>`;

function renderSettingsPage(
  context: SignedInContext,
  map: StoredMap,
  errors: FieldErrors = new Map(),
  name = map.name,
): HtmlPage {
  const hidden = errors.size > 0 ? context.form.has("private") : map.private;
  const body = html`${renderErrorSummary(errors)}
<p class="back"><a href="/maps/${map.id}">Back to the map</a></p>
<h1>Settings of ${isolateName(map.name)}</h1>
<form method="post" action="/maps/${map.id}/settings" class="stack" novalidate>
  ${context.formToken()}
  ${renderField({ name: "name", label: "Name", value: name, autocomplete: "off" }, errors)}
  ${renderPrivateCheckbox(hidden)}
  <button>Save</button>
</form>
<section aria-labelledby="deletion"><h2 id="deletion">Delete</h2>
<p>Deletes the map with all its features.</p>
<p><a class="button danger" href="/maps/${map.id}/delete">Delete the map…</a></p></section>`;
  return {
    kind: "page",
    status: errors.size > 0 ? 422 : 200,
    title: pageTitle(`Settings of ${map.name}`, errors),
    body,
  };
}

async function changeMap(context: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const map = await findOwnMap(context);
  const { name, errors } = readName(context.form, "map");
  if (errors.size > 0) return renderSettingsPage(context, map, errors, name);
  const change = { name, private: context.form.has("private") };
  if ((await setFacts(context.services.store, map, change, auditContextOf(context))) === null) throw pageNotFound();
  return redirectTo(`/maps/${map.id}`, "The settings were saved.");
}

async function renderDeleteConfirmation(context: SignedInContext): Promise<HtmlPage> {
  const map = await findOwnMap(context);
  const body = html`<h1>Delete ${isolateName(map.name)}?</h1>
<p>The map${map.features > 0 && html` with <strong>${pluralize(map.features, "feature")}</strong>`} is deleted immediately. This cannot be undone. Programs that write to it will fail.</p>
<form method="post" action="/maps/${map.id}/delete" class="choice">
  ${context.formToken()}<button class="danger">Delete the map</button> <a href="/maps/${map.id}">Keep it</a>
</form>`;
  return { kind: "page", title: `Delete ${map.name}`, body };
}

async function deleteMap(context: SignedInContext): Promise<PageRedirect> {
  const map = await findOwnMap(context);
  if (!(await endMap(context.services.store, map, auditContextOf(context)))) throw pageNotFound();
  return redirectTo("/maps", `The map ${map.name} was deleted.`);
}
