/** The one-time link that creates the first account. */
import { createAccount } from "../../auth/accounts.js";
import { isEmail } from "../../auth/email.js";
import { findPasswordProblem, hashPassword, passwordLength } from "../../auth/passwords.js";
import { hashSecret, newSecret } from "../../auth/secrets.js";
import type { AccountStore } from "../../store/contract.js";
import { type HtmlPage, type PageContext, type PageResult, type PageRoute, redirectTo } from "../page-context.js";
import { PageError } from "../rendering/error-page.js";
import { type FieldErrors, pageTitle, renderErrorSummary, renderField } from "../rendering/forms.js";
import { html } from "../rendering/html.js";

/** Lifetime of the link in milliseconds; the next start of the service creates a new one. */
const setupLinkLifetimeMs = 24 * 3_600_000;

/** Creates the link and invalidates earlier ones. It works only while there is no account. */
export async function createSetupLink(store: AccountStore, origin: string, now: number): Promise<string> {
  const token = newSecret("setup");
  await store.setSetupToken({ hash: hashSecret(token), expires: now + setupLinkLifetimeMs });
  return `${origin}/setup?token=${token}`;
}

/** Stores that are known to have an account. Accounts are never removed. */
const storesWithAccounts = new WeakSet<AccountStore>();

/** Whether any account exists. */
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
    "It was already used, is older than a day, or was replaced by a newer link. Restart the service to get a new link; it prints one as long as there is no account.",
  );

async function showSetupPage(context: PageContext): Promise<PageResult> {
  const { now, query, services } = context;
  if (await hasAccounts(services.store)) return redirectTo("/sign-in");
  const token = query.get("token") ?? "";
  if (!(await services.store.canUseSetupToken({ hash: hashSecret(token), now }))) throw setupLinkUnusable();
  return renderSetupPage(context, token, "", new Map());
}

async function completeSetup(context: PageContext): Promise<PageResult> {
  const { form, services, now, address } = context;
  const [token, password] = [form.get("token") ?? "", form.get("password") ?? ""];
  const email = (form.get("email") ?? "").trim();
  const errors = validateSetupForm(email, password, form.get("again") ?? "");
  if (errors.size > 0) return renderSetupPage(context, token, email, errors);
  if (!(await services.store.useSetupToken({ hash: hashSecret(token), now }))) throw setupLinkUnusable();
  const account = await createAccount(services.store, {
    email,
    passwordHash: await hashPassword(password),
    now,
    address,
  });
  if (account === null) throw setupLinkUnusable();
  await context.signIn(account.id);
  return redirectTo(
    "/profile",
    "The account was created, and you are signed in. Next, create a map, or a credential for a program.",
  );
}

function validateSetupForm(email: string, password: string, again: string): FieldErrors {
  const errors = new Map<string, string>();
  if (!isEmail(email)) errors.set("email", "Enter an email address, like name@example.org");
  const problem = findPasswordProblem(password, email);
  if (problem !== null) errors.set("password", problem);
  else if (again !== password) errors.set("again", "Enter the same password in both fields");
  return errors;
}

function renderSetupPage(context: PageContext, token: string, email: string, errors: FieldErrors): HtmlPage {
  const body = html`${renderErrorSummary(errors)}
<h1>Set up this service</h1>
<p class="lead">The first account. Others can be added with <code>geoferry admin user add</code>.</p>
<form method="post" action="/setup" class="stack" novalidate>
  ${context.formToken()}<input type="hidden" name="token" value="${token}">
  ${renderField({ name: "email", label: "Email address", type: "email", value: email, autocomplete: "username" }, errors)}
  ${renderField({ name: "password", label: "Password", type: "password", autocomplete: "new-password", hint: `At least ${passwordLength.min} characters; a few words make a good one.` }, errors)}
  ${renderField({ name: "again", label: "Repeat the password", type: "password", autocomplete: "new-password" }, errors)}
  <button>Create the account</button>
</form>`;
  const status = errors.size > 0 ? 422 : 200;
  return { kind: "page", status, title: pageTitle("Set up", errors), body };
}
