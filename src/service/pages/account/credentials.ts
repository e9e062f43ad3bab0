/**
 * Creates and revokes client ids and secrets, with which programs request tokens (Map Features Service Interface, 5).
 */
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

/** Credentials of an account that are not revoked: the profile shows all of them. */
const maxActiveCredentials = 200;

async function createCredential(context: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { services, user, now, address } = context;
  const { name, errors } = readName(context.form, "credential");
  if (errors.size > 0) return renderProfilePage(context, { name, errors });
  const active = (await services.store.credentials(user.account)).filter(({ revoked }) => revoked === null);
  if (active.length >= maxActiveCredentials) {
    const message = `There are ${maxActiveCredentials} credentials: revoke one that is not needed any more`;
    return renderProfilePage(context, { name, errors: new Map([["name", message]]) });
  }
  const details = { account: user.account, name, now, address };
  const { credential, clientSecret } = await makeCredential(services.store, details);
  const notice = { kind: "credential", name, clientId: credential.clientId, clientSecret } as const;
  return { kind: "redirect", to: "/profile", notice };
}

async function findOwnCredential(context: SignedInContext): Promise<Credential> {
  const all = await context.services.store.credentials(context.user.account);
  const found = all.find(({ id, revoked }) => id === context.parameters.id && revoked === null);
  if (!found) throw pageNotFound();
  return found;
}

async function confirmRevocation(context: SignedInContext): Promise<HtmlPage> {
  const credential = await findOwnCredential(context);
  const body = html`<h1>Revoke ${isolateName(credential.name)}?</h1>
<p>Programs that use it lose access immediately, even during a transfer. This cannot be undone. If a program still needs access, create a new credential first.</p>
<dl class="facts">
<dt>Client id</dt><dd><code>${credential.clientId}</code></dd>
<dt>Last used</dt><dd>${credential.lastUsed === null ? "never" : formatTime(credential.lastUsed)}</dd>
</dl>
<form method="post" action="/profile/credentials/${credential.id}/revoke" class="choice">
  ${context.formToken()}<button class="danger">Revoke the credential</button> <a href="/profile">Keep it</a>
</form>`;
  return { kind: "page", title: `Revoke ${credential.name}`, body };
}

async function revokeCredential(context: SignedInContext): Promise<PageRedirect> {
  const credential = await findOwnCredential(context);
  await endCredential(context.services.store, credential, context);
  return redirectTo("/profile", `The credential ${credential.name} was revoked.`);
}
