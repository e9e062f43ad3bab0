/** The profile page: credentials, display name, password, and recent activity of the account. */
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
  { method: "GET", url: "/profile", handle: (context) => renderProfilePage(context) },
  { method: "POST", url: "/profile/name", handle: changeName },
  { method: "POST", url: "/profile/password", handle: changePassword },
];

/** Number of recent audit entries that are shown. */
const maxAuditEntries = 20;

export async function renderProfilePage(
  context: SignedInContext,
  rejected: RejectedInput = { errors: new Map() },
): Promise<HtmlPage> {
  const { services, user } = context;
  const [account, credentials, entries] = await Promise.all([
    services.store.accountById(user.account),
    services.store.credentials(user.account),
    services.store.auditEntries({ account: user.account, limit: maxAuditEntries }),
  ]);
  const body = html`${renderErrorSummary(rejected.errors)}
<h1>Profile</h1>
<p class="lead">Signed in as ${isolateName(user.email)}.</p>
${renderCredentials(context, credentials, rejected)}
${renderNameSection(context, rejected.displayName ?? account?.name ?? "", rejected.errors)}
${renderPasswordSection(context, rejected.errors)}
<section aria-labelledby="log"><h2 id="log">Recent activity</h2>
${renderAuditTable(entries, null)}
</section>`;
  const status = rejected.errors.size > 0 ? 422 : 200;
  return { kind: "page", status, title: pageTitle("Profile", rejected.errors), body };
}

function renderNameSection(context: SignedInContext, name: string, errors: FieldErrors): Html {
  const hint = `Other accounts see this name as the owner of your public maps; they never see your email address. Without a display name, they see “${displayName({ id: context.user.account, name: "" })}”.`;
  return html`<section aria-labelledby="change-name"><h2 id="change-name">Display name</h2>
<form method="post" action="/profile/name" class="stack" novalidate>
  ${context.formToken()}
  ${renderField({ name: "display-name", label: "Display name", value: name, autocomplete: "nickname", hint, optional: true }, errors)}
  <button class="second">Save the name</button>
</form></section>`;
}

async function changeName(context: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { form, services, user, now, address } = context;
  const name = (form.get("display-name") ?? "").trim();
  const problem = name === "" ? null : findNameProblem(name);
  if (problem !== null) {
    return renderProfilePage(context, { displayName: name, errors: new Map([["display-name", problem]]) });
  }
  await changeAccountName(services.store, { account: user.account, name, now, address });
  return redirectTo("/profile", "The display name was saved.");
}

function renderPasswordSection(context: SignedInContext, errors: FieldErrors): Html {
  return html`<section aria-labelledby="change-password"><h2 id="change-password">Password</h2>
<form method="post" action="/profile/password" class="stack" novalidate>
  ${context.formToken()}<input name="username" value="${context.user.email}" autocomplete="username" readonly hidden>
  ${renderField({ name: "current", label: "Current password", type: "password", autocomplete: "current-password" }, errors)}
  ${renderField({ name: "password", label: "New password", type: "password", autocomplete: "new-password", hint: `At least ${passwordLength.min} characters. Other browsers are signed out.` }, errors)}
  <button class="second">Change the password</button>
</form></section>`;
}

async function changePassword(context: SignedInContext): Promise<HtmlPage | PageRedirect> {
  const { form, services, user, now, address } = context;
  const password = form.get("password") ?? "";
  const problem = findPasswordProblem(password, user.email);
  if (problem !== null) return renderProfilePage(context, { errors: new Map([["password", problem]]) });

  const checked = await checkPassword(context, user.email, form.get("current") ?? "");
  if (checked.kind === "wrong") {
    return renderProfilePage(context, { errors: new Map([["current", "Enter your current password"]]) });
  }
  if (checked.kind === "wait") {
    const message = `Too many attempts: try again in ${pluralize(Math.ceil(checked.seconds / 60), "minute")}`;
    const page = await renderProfilePage(context, { errors: new Map([["current", message]]) });
    return { ...page, status: 429, retryAfter: checked.seconds };
  }
  const { account } = user;
  await setPassword(services.store, { account, passwordHash: await hashPassword(password), now, address });
  await context.signIn(account);
  return redirectTo("/profile", "The password was changed, and other browsers were signed out.");
}
