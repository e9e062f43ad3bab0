/** The one-time link that makes the first account. */

import { createAccount } from "../auth/accounts.js";
import { hashPassword, passwordFault, passwordLength } from "../auth/passwords.js";
import { hashSecret, newSecret } from "../auth/secrets.js";
import { isEmail } from "../email.js";
import type { PeopleStore } from "../store/contract.js";
import { PageFault } from "./faults.js";
import { errorSummary, type FieldErrors, fieldOf, titleOf } from "./forms.js";
import { html } from "./html.js";
import { type Answer, type Page, type Route, redirect, type Visit } from "./visit.js";

/** How long the link can be used, in milliseconds; the next start of the service makes another. */
const linkLifetime = 24 * 3_600_000;

/** Makes the link, which takes the place of an earlier one. Only while there is no account does it lead anywhere. */
export async function newSetupLink(store: PeopleStore, origin: string, now: number): Promise<string> {
  const token = newSecret("setup");
  await store.setSetupToken({ hash: hashSecret(token), expires: now + linkLifetime });
  return `${origin}/setup?token=${token}`;
}

/** Stores that have an account; it stays so. */
const inUse = new WeakSet<PeopleStore>();

/** Whether there is an account at all. */
export async function isSetUp(store: PeopleStore): Promise<boolean> {
  if (!inUse.has(store) && (await store.accounts()).length > 0) inUse.add(store);
  return inUse.has(store);
}

export const setupRoutes: readonly Route[] = [
  { method: "GET", url: "/setup", open: true, answer: showSetup },
  { method: "POST", url: "/setup", open: true, answer: setUp },
];

const unusable = (): PageFault =>
  new PageFault(
    404,
    "This link cannot be used",
    "It was used before, is older than a day, or another took its place. Start the service again: it prints a new link as long as there is no account.",
  );

async function showSetup(visit: Visit): Promise<Answer> {
  if (await isSetUp(visit.site.store)) return redirect("/sign-in");
  const token = visit.query.get("token") ?? "";
  if (token === "") throw unusable();
  return setupPage(visit, token, "", new Map());
}

async function setUp(visit: Visit): Promise<Answer> {
  const { form, site, now, address } = visit;
  const [token, password] = [form.get("token") ?? "", form.get("password") ?? ""];
  const email = (form.get("email") ?? "").trim();
  const errors = faultsOf(email, password, form.get("again") ?? "");
  if (errors.size > 0) return setupPage(visit, token, email, errors);
  if (!(await site.store.useSetupToken({ hash: hashSecret(token), now }))) throw unusable();
  const account = await createAccount(site.store, { email, passwordHash: await hashPassword(password), now, address });
  if (account === null) throw unusable();
  await visit.signIn(account.id);
  return redirect(
    "/profile",
    "The account was created, and you are signed in. Next, create a credential for your programs, or a map.",
  );
}

function faultsOf(email: string, password: string, again: string): FieldErrors {
  const errors = new Map<string, string>();
  if (!isEmail(email)) errors.set("email", "Enter an email address, like name@example.org");
  const fault = passwordFault(password, email);
  if (fault !== null) errors.set("password", fault);
  else if (again !== password) errors.set("again", "Enter the same password in both fields");
  return errors;
}

function setupPage(visit: Visit, token: string, email: string, errors: FieldErrors): Page {
  const body = html`${errorSummary(errors)}
<h1>Set up this service</h1>
<p class="lead">The first account. Others can be added with <code>geoferry admin user add</code>.</p>
<form method="post" action="/setup" class="stack" novalidate>
  ${visit.formToken()}<input type="hidden" name="token" value="${token}">
  ${fieldOf({ name: "email", label: "Email address", type: "email", value: email, autocomplete: "username" }, errors)}
  ${fieldOf({ name: "password", label: "Password", type: "password", autocomplete: "new-password", hint: `At least ${passwordLength.least} characters; a few words make a good one.` }, errors)}
  ${fieldOf({ name: "again", label: "Password, once more", type: "password", autocomplete: "new-password" }, errors)}
  <button>Create the account</button>
</form>`;
  const status = errors.size > 0 ? 422 : 200;
  return { kind: "page", status, title: titleOf("Set up", errors), body };
}
