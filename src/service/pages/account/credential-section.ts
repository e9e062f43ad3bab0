import type { Credential } from "../../store/contract.js";
import type { SignedInContext } from "../page-context.js";
import { formatTime, isolateName } from "../rendering/format.js";
import { type FieldErrors, renderField } from "../rendering/forms.js";
import { type Html, html } from "../rendering/html.js";

/** Rejected form input, shown again with its errors. */
export interface RejectedInput {
  readonly name?: string;
  readonly displayName?: string;
  readonly errors: FieldErrors;
}

export function renderCredentials(context: SignedInContext, all: readonly Credential[], rejected: RejectedInput): Html {
  const active = all.filter(({ revoked }) => revoked === null);
  const revoked = all.filter((credential) => credential.revoked !== null);
  return html`<section aria-labelledby="credentials"><h2 id="credentials">Credentials</h2>
<p>Programs authenticate with a client id and a secret, and have the same access to your maps as you.</p>
${active.length > 0 ? renderActiveCredentials(active) : html`<p class="quiet">There are none yet.</p>`}
${revoked.length > 0 && renderRevokedCredentials(revoked)}
<form method="post" action="/profile/credentials" class="stack" novalidate>
  ${context.formToken()}
  ${renderField({ name: "name", label: "Name of a new credential", value: rejected.name ?? "", autocomplete: "off", hint: "For example, where it is used." }, rejected.errors)}
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

/** Revoked credentials that are shown, the newest first. */
const maxRevokedRows = 50;

function renderRevokedCredentials(credentials: readonly Credential[]): Html {
  const items = credentials
    .slice(0, maxRevokedRows)
    .map(
      ({ name, clientId, revoked }) =>
        html`<li>${isolateName(name)} <code>${clientId}</code>, revoked ${formatTime(revoked!)}</li>`,
    );
  return html`<details><summary>Revoked (${credentials.length})</summary><ul>${items}</ul></details>`;
}
