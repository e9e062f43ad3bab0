/** Name and privacy of a map, and its end. */
import { deleteMap as endMap, changeMap as setFacts } from "../map-changes.js";
import type { StoredMap } from "../store/contract.js";
import { notFound } from "./faults.js";
import { errorSummary, type FieldErrors, fieldOf, readName, titleOf } from "./forms.js";
import { type Html, html } from "./html.js";
import { ownMap } from "./map-access.js";
import { doneBy, type Page, type Redirect, type Route, redirect, type VisitOfMember } from "./visit.js";
import { counted, named } from "./wording.js";

export const mapSettingsRoutes: readonly Route[] = [
  { method: "GET", url: "/maps/:id/settings", answer: async (visit) => settingsPage(visit, await ownMap(visit)) },
  { method: "POST", url: "/maps/:id/settings", answer: changeMap },
  { method: "GET", url: "/maps/:id/delete", answer: confirmDeletion },
  { method: "POST", url: "/maps/:id/delete", answer: deleteMap },
];

/** In a form: whether a map is private. */
export const privateBox = (checked: boolean): Html => html`<div class="tick">
  <input type="checkbox" id="private" name="private" value="yes"${checked && html` checked`} aria-describedby="private-hint">
  <label for="private">Private</label>
  <p class="hint" id="private-hint">Only you can read it. Any other map can be read, but not changed, by every account of this service.</p>
</div>`;

function settingsPage(visit: VisitOfMember, map: StoredMap, errors: FieldErrors = new Map(), name = map.name): Page {
  const hidden = errors.size > 0 ? visit.form.has("private") : map.private;
  const body = html`${errorSummary(errors)}
<p class="back"><a href="/maps/${map.id}">Back to the map</a></p>
<h1>Settings of ${named(map.name)}</h1>
<form method="post" action="/maps/${map.id}/settings" class="stack" novalidate>
  ${visit.formToken()}
  ${fieldOf({ name: "name", label: "Name", value: name, autocomplete: "off" }, errors)}
  ${privateBox(hidden)}
  <button>Save</button>
</form>
<section aria-labelledby="deletion"><h2 id="deletion">Delete</h2>
<p>The map goes with everything on it.</p>
<p><a class="button danger" href="/maps/${map.id}/delete">Delete the map…</a></p></section>`;
  return { kind: "page", status: errors.size > 0 ? 422 : 200, title: titleOf(`Settings of ${map.name}`, errors), body };
}

async function changeMap(visit: VisitOfMember): Promise<Page | Redirect> {
  const map = await ownMap(visit);
  const { name, errors } = readName(visit.form, "map");
  if (errors.size > 0) return settingsPage(visit, map, errors, name);
  const change = { name, private: visit.form.has("private") };
  if ((await setFacts(visit.site.store, map, change, doneBy(visit))) === null) throw notFound();
  return redirect(`/maps/${map.id}`, "The settings were saved.");
}

async function confirmDeletion(visit: VisitOfMember): Promise<Page> {
  const map = await ownMap(visit);
  const body = html`<h1>Delete ${named(map.name)}?</h1>
<p>The map goes with ${map.features === 0 ? "everything on it" : html`<strong>${counted(map.features, "feature")}</strong>`}, at once and for good. Programs that write to it will fail.</p>
<form method="post" action="/maps/${map.id}/delete" class="choice">
  ${visit.formToken()}<button class="danger">Delete the map</button> <a href="/maps/${map.id}">Keep it</a>
</form>`;
  return { kind: "page", title: `Delete ${map.name}`, body };
}

async function deleteMap(visit: VisitOfMember): Promise<Redirect> {
  const map = await ownMap(visit);
  if (!(await endMap(visit.site.store, map, doneBy(visit)))) throw notFound();
  return redirect("/maps", `The map ${map.name} was deleted.`);
}
