import type { AuditEntry } from "../../store/contract.js";
import { formatNumber, formatTime, isolateName } from "./format.js";
import { type Html, html } from "./html.js";

/** Names of actions; other actions show the words of their code. */
const actionTexts: Readonly<Record<string, string>> = {
  login: "Signed in",
  "login-failed": "Failed to sign in",
};

function formatAction(action: string): string {
  const words = actionTexts[action] ?? action.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "created 5, deleted 2, private": values that are null, zero, empty or false are omitted. */
function formatDetail(detail: AuditEntry["detail"]): string {
  const parts = Object.entries(detail).filter(
    ([, value]) => value !== null && value !== 0 && value !== "" && value !== false,
  );
  return parts
    .map(([name, value]) =>
      value === true
        ? splitCamelCase(name)
        : `${splitCamelCase(name)} ${typeof value === "number" ? formatNumber(value) : value}`,
    )
    .join(", ");
}

/** `clientId` → "client id" */
const splitCamelCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * Entries of the audit log, newest first. `emails` maps account ids to addresses; null hides the column, if all entries
 * are the user's own.
 */
export function renderAuditTable(entries: readonly AuditEntry[], emails: ReadonlyMap<string, string> | null): Html {
  if (entries.length === 0) return html`<p class="quiet">Nothing yet.</p>`;
  const rows = entries.map(
    ({ at, account, action, detail, address }) => html`<tr>
<th scope="row">${formatTime(at)}</th>
<td class="short" data-label="What">${formatAction(action)}</td>
<td data-label="Details"><bdi>${formatDetail(detail)}</bdi></td>
${emails && html`<td data-label="By">${account === null ? "unknown" : isolateName(emails.get(account) ?? "a removed account")}</td>`}
<td data-label="From">${address}</td>
</tr>`,
  );
  return html`<table class="cards"><caption class="unseen">Newest first</caption>
<thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Details</th>${emails && html`<th scope="col">By</th>`}<th scope="col">From</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}
