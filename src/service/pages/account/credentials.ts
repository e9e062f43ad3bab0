/** Client ids and secrets, which programs get their tokens with (Map Features Service Interface, 5). */
import { revokeCredential as endCredential, createCredential as makeCredential } from "../../auth/credentials.js";
import type { Credential } from "../../store/contract.js";
import { type HtmlPage, type PageRedirect, type PageRoute, redirectTo, type SignedInContext } from "../page-context.js";
import { pageNotFound } from "../rendering/error-page.js";
import { formatTime, isolateName } from "../rendering/format.js";
import { readName, renderField } from "../rendering/forms.js";
import { type Html, html } from "../rendering/html.js";
import { type RejectedInput, renderProfilePage } from "./profile.js";

export const credentialRoutes: readonly PageRoute[] = [
  { method: "POST", url: "/profile/credentials", handle: createCredential },
  { method: "GET", url: "/profile/credentials/:id/revoke", handle: confirmRevocation },
  { method: "POST", url: "/profile/credentials/:id/revoke", handle: revokeCredential },
];

export function renderCredentials(visit: SignedInContext, all: readonly Credential[], rejected: RejectedInput): Html {
  const active = all.filter(({ revoked }) => revoked === null);
  const revoked = all.filter((credential) => credential.revoked !== null);
  return html`<section aria-labelledby="credentials"><h2 id="credentials">Credentials</h2>
<p>A program signs in with a client id and a secret, and may do with your maps what you may.</p>
${active.length > 0 ? renderActiveCredentials(active) : html`<p class="quiet">There are none yet.</p>`}
${revoked.length > 0 && renderRevokedCredentials(revoked)}
<form method="post" action="/profile/credentials" class="stack" novalidate>
  ${visit.formToken()}
  ${renderField({ name: "name", label: "Name of a new credential", value: rejected.name ?? "", autocomplete: "off", hint: "To tell it apart: where it is used, for instance." }, rejected.errors)}
  <button>Create a credential</button>
</form>
</section>`;
}

function renderActiveCredentials(credentials: readonly Credential[]): Html {
  const rows = credentials.map(
    ({ id, name, clientId, created, lastUsed }) => html`<tr>
<th scope="row">${isolateName(name)}</th>
<td data-label="Client id"><code>${clientId}</code></td>
<td data-label="Created">${formatTime(created)}</td>
<td data-label="Last used">${lastUsed === null ? "never" : formatTime(lastUsed)}</td>
<td class="action"><a href="/profile/credentials/${id}/revoke" aria-label="Revoke ${name}">Revoke</a></td>
</tr>`,
  );
  return html`<table class="cards"><caption class="unseen">Credentials in use</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Client id</th><th scope="col">Created</th><th scope="col">Last used</th><td></td></tr></thead>
<tbody>${rows}</tbody></table>`;
}

function renderRevokedCredentials(credentials: readonly Credential[]): Html {
  const items = credentials.map(
    ({ name, clientId, revoked }) =>
      html`<li>${isolateName(name)} <code>${clientId}</code>, revoked ${formatTime(revoked!)}</li>`,
  );
  return html`<details><summary>Revoked (${credentials.length})</summary><ul>${items}</ul></details>`;
}

async function createCredential(visit: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { site, visitor, now, address } = visit;
  const { name, errors } = readName(visit.form, "credential");
  if (errors.size > 0) return renderProfilePage(visit, { name, errors });
  const made = { account: visitor.account, name, now, address };
  const { credential, clientSecret } = await makeCredential(site.store, made);
  const notice = { kind: "credential", name, clientId: credential.clientId, clientSecret } as const;
  return { kind: "redirect", to: "/profile", notice };
}

async function findOwnCredential(visit: SignedInContext): Promise<Credential> {
  const all = await visit.site.store.credentials(visit.visitor.account);
  const found = all.find(({ id, revoked }) => id === visit.parameters.id && revoked === null);
  if (!found) throw pageNotFound();
  return found;
}

async function confirmRevocation(visit: SignedInContext): Promise<HtmlPage> {
  const credential = await findOwnCredential(visit);
  const body = html`<h1>Revoke ${isolateName(credential.name)}?</h1>
<p>Programs that use it are shut out at once, in the middle of what they do. It cannot be undone; a new credential takes its place.</p>
<dl class="facts">
<dt>Client id</dt><dd><code>${credential.clientId}</code></dd>
<dt>Last used</dt><dd>${credential.lastUsed === null ? "never" : formatTime(credential.lastUsed)}</dd>
</dl>
<form method="post" action="/profile/credentials/${credential.id}/revoke" class="choice">
  ${visit.formToken()}<button class="danger">Revoke the credential</button> <a href="/profile">Keep it</a>
</form>`;
  return { kind: "page", title: `Revoke ${credential.name}`, body };
}

async function revokeCredential(visit: SignedInContext): Promise<PageRedirect> {
  const credential = await findOwnCredential(visit);
  await endCredential(visit.site.store, credential, visit);
  return redirectTo("/profile", `The credential ${credential.name} was revoked.`);
}
