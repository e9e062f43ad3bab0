/** The one-time link that makes the first account. */
import { createAccount } from "../../auth/accounts.js";
import { isEmail } from "../../auth/email.js";
import { findPasswordProblem, hashPassword, passwordLength } from "../../auth/passwords.js";
import { hashSecret, newSecret } from "../../auth/secrets.js";
import type { AccountStore } from "../../store/contract.js";
import { type HtmlPage, type PageContext, type PageResult, type PageRoute, redirectTo } from "../page-context.js";
import { PageError } from "../rendering/error-page.js";
import { type FieldErrors, pageTitle, renderErrorSummary, renderField } from "../rendering/forms.js";
import { html } from "../rendering/html.js";

/** How long the link can be used, in milliseconds; the next start of the service makes another. */
const setupLinkLifetimeMs = 24 * 3_600_000;

/** Makes the link, which takes the place of an earlier one. Only while there is no account does it lead anywhere. */
export async function createSetupLink(store: AccountStore, origin: string, now: number): Promise<string> {
  const token = newSecret("setup");
  await store.setSetupToken({ hash: hashSecret(token), expires: now + setupLinkLifetimeMs });
  return `${origin}/setup?token=${token}`;
}

/** Stores that have an account; it stays so. */
const storesWithAccounts = new WeakSet<AccountStore>();

/** Whether there is an account at all. */
export async function hasAccounts(store: AccountStore): Promise<boolean> {
  if (!storesWithAccounts.has(store) && (await store.accounts()).length > 0) storesWithAccounts.add(store);
  return storesWithAccounts.has(store);
}

export const setupRoutes: readonly PageRoute[] = [
  { method: "GET", url: "/setup", isPublic: true, handle: showSetupPage },
  { method: "POST", url: "/setup", isPublic: true, handle: completeSetup },
];

const setupLinkUnusable = (): PageError =>
  new PageError(
    404,
    "This link cannot be used",
    "It was used before, is older than a day, or another took its place. Start the service again: it prints a new link as long as there is no account.",
  );

async function showSetupPage(visit: PageContext): Promise<PageResult> {
  if (await hasAccounts(visit.site.store)) return redirectTo("/sign-in");
  const token = visit.query.get("token") ?? "";
  if (token === "") throw setupLinkUnusable();
  return renderSetupPage(visit, token, "", new Map());
}

async function completeSetup(visit: PageContext): Promise<PageResult> {
  const { form, site, now, address } = visit;
  const [token, password] = [form.get("token") ?? "", form.get("password") ?? ""];
  const email = (form.get("email") ?? "").trim();
  const errors = validateSetupForm(email, password, form.get("again") ?? "");
  if (errors.size > 0) return renderSetupPage(visit, token, email, errors);
  if (!(await site.store.useSetupToken({ hash: hashSecret(token), now }))) throw setupLinkUnusable();
  const account = await createAccount(site.store, { email, passwordHash: await hashPassword(password), now, address });
  if (account === null) throw setupLinkUnusable();
  await visit.signIn(account.id);
  return redirectTo(
    "/profile",
    "The account was created, and you are signed in. Next, create a credential for your programs, or a map.",
  );
}

function validateSetupForm(email: string, password: string, again: string): FieldErrors {
  const errors = new Map<string, string>();
  if (!isEmail(email)) errors.set("email", "Enter an email address, like name@example.org");
  const fault = findPasswordProblem(password, email);
  if (fault !== null) errors.set("password", fault);
  else if (again !== password) errors.set("again", "Enter the same password in both fields");
  return errors;
}

function renderSetupPage(visit: PageContext, token: string, email: string, errors: FieldErrors): HtmlPage {
  const body = html`${renderErrorSummary(errors)}
<h1>Set up this service</h1>
<p class="lead">The first account. Others can be added with <code>geoferry admin user add</code>.</p>
<form method="post" action="/setup" class="stack" novalidate>
  ${visit.formToken()}<input type="hidden" name="token" value="${token}">
  ${renderField({ name: "email", label: "Email address", type: "email", value: email, autocomplete: "username" }, errors)}
  ${renderField({ name: "password", label: "Password", type: "password", autocomplete: "new-password", hint: `At least ${passwordLength.least} characters; a few words make a good one.` }, errors)}
  ${renderField({ name: "again", label: "Password, once more", type: "password", autocomplete: "new-password" }, errors)}
  <button>Create the account</button>
</form>`;
  const status = errors.size > 0 ? 422 : 200;
  return { kind: "page", status, title: pageTitle("Set up", errors), body };
}
