/** Client ids and secrets, which programs get their tokens with (Map Features Service Interface, 5). */
import { revokeCredential as endCredential, createCredential as makeCredential } from "../../auth/credentials.js";
import type { Credential } from "../../store/contract.js";
import { type HtmlPage, type PageRedirect, type PageRoute, redirectTo, type SignedInContext } from "../page-context.js";
import { pageNotFound } from "../rendering/error-page.js";
import { formatTime, isolateName } from "../rendering/format.js";
import { readName } from "../rendering/forms.js";
import { html } from "../rendering/html.js";
import { renderProfilePage } from "./profile.js";

export const credentialRoutes: readonly PageRoute[] = [
  { method: "POST", url: "/profile/credentials", handle: createCredential },
  { method: "GET", url: "/profile/credentials/:id/revoke", handle: confirmRevocation },
  { method: "POST", url: "/profile/credentials/:id/revoke", handle: revokeCredential },
];

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
