/** A person's own page: credentials for programs, the password, and what happened to the account. */
import { changeAccountName, displayName, changePassword as setPassword } from "../../auth/accounts.js";
import { findPasswordProblem, hashPassword, passwordLength } from "../../auth/passwords.js";
import { type HtmlPage, type PageRedirect, type PageRoute, redirectTo, type SignedInContext } from "../page-context.js";
import { renderAuditTable } from "../rendering/audit-table.js";
import { isolateName, pluralize } from "../rendering/format.js";
import { type FieldErrors, findNameProblem, pageTitle, renderErrorSummary, renderField } from "../rendering/forms.js";
import { type Html, html } from "../rendering/html.js";
import { checkPassword } from "./check-password.js";
import { type RejectedInput, renderCredentials } from "./credential-section.js";

export const profileRoutes: readonly PageRoute[] = [
  { method: "GET", url: "/profile", handle: (visit) => renderProfilePage(visit) },
  { method: "POST", url: "/profile/name", handle: changeName },
  { method: "POST", url: "/profile/password", handle: changePassword },
];

/** Newest entries of the account's log that are shown. */
const maxAuditEntries = 20;

export async function renderProfilePage(
  visit: SignedInContext,
  rejected: RejectedInput = { errors: new Map() },
): Promise<HtmlPage> {
  const { site, visitor } = visit;
  const [account, credentials, entries] = await Promise.all([
    site.store.accountById(visitor.account),
    site.store.credentials(visitor.account),
    site.store.auditEntries({ account: visitor.account, limit: maxAuditEntries }),
  ]);
  const body = html`${renderErrorSummary(rejected.errors)}
<h1>Profile</h1>
<p class="lead">Signed in as ${isolateName(visitor.email)}.</p>
${renderCredentials(visit, credentials, rejected)}
${renderNameSection(visit, rejected.displayName ?? account?.name ?? "", rejected.errors)}
${renderPasswordSection(visit, rejected.errors)}
<section aria-labelledby="log"><h2 id="log">Recent activity</h2>
${renderAuditTable(entries, null)}
</section>`;
  const status = rejected.errors.size > 0 ? 422 : 200;
  return { kind: "page", status, title: pageTitle("Profile", rejected.errors), body };
}

function renderNameSection(visit: SignedInContext, name: string, errors: FieldErrors): Html {
  const hint = `Others see it as the owner of your maps that are not private, and never your email address. Without one, they see “${displayName({ id: visit.visitor.account, name: "" })}”.`;
  return html`<section aria-labelledby="change-name"><h2 id="change-name">Display name</h2>
<form method="post" action="/profile/name" class="stack" novalidate>
  ${visit.formToken()}
  ${renderField({ name: "display-name", label: "Display name", value: name, autocomplete: "nickname", hint, optional: true }, errors)}
  <button class="second">Save the name</button>
</form></section>`;
}

async function changeName(visit: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { form, site, visitor, now, address } = visit;
  const name = (form.get("display-name") ?? "").trim();
  const fault = name === "" ? null : findNameProblem(name);
  if (fault !== null) {
    return renderProfilePage(visit, { displayName: name, errors: new Map([["display-name", fault]]) });
  }
  await changeAccountName(site.store, { account: visitor.account, name, now, address });
  return redirectTo("/profile", "The display name was saved.");
}

function renderPasswordSection(visit: SignedInContext, errors: FieldErrors): Html {
  return html`<section aria-labelledby="change-password"><h2 id="change-password">Password</h2>
<form method="post" action="/profile/password" class="stack" novalidate>
  ${visit.formToken()}<input name="username" value="${visit.visitor.email}" autocomplete="username" readonly hidden>
  ${renderField({ name: "current", label: "Current password", type: "password", autocomplete: "current-password" }, errors)}
  ${renderField({ name: "password", label: "New password", type: "password", autocomplete: "new-password", hint: `At least ${passwordLength.least} characters. Other browsers are signed out.` }, errors)}
  <button class="second">Change the password</button>
</form></section>`;
}

async function changePassword(visit: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { form, site, visitor, now, address } = visit;
  const password = form.get("password") ?? "";
  const fault = findPasswordProblem(password, visitor.email);
  if (fault !== null) return renderProfilePage(visit, { errors: new Map([["password", fault]]) });

  const checked = await checkPassword(visit, visitor.email, form.get("current") ?? "");
  if (checked.kind === "wrong") {
    return renderProfilePage(visit, { errors: new Map([["current", "Enter the password that you have now"]]) });
  }
  if (checked.kind === "wait") {
    const message = `Too many attempts: try again in ${pluralize(Math.ceil(checked.seconds / 60), "minute")}`;
    const page = await renderProfilePage(visit, { errors: new Map([["current", message]]) });
    return { ...page, status: 429, retryAfter: checked.seconds };
  }
  const { account } = visitor;
  await setPassword(site.store, { account, passwordHash: await hashPassword(password), now, address });
  await visit.signIn(account);
  return redirectTo("/profile", "The password was changed, and other browsers were signed out.");
}
