import { type HtmlPage, type PageContext, type PageResult, type PageRoute, redirectTo } from "../page-context.js";
import { pluralize } from "../rendering/format.js";
import { renderField, renderFormError } from "../rendering/forms.js";
import { type Html, html } from "../rendering/html.js";
import { checkPassword } from "./check-password.js";
import { hasAccounts } from "./setup.js";

export const signInRoutes: readonly PageRoute[] = [
  { method: "GET", url: "/sign-in", isPublic: true, handle: showSignInPage },
  { method: "POST", url: "/sign-in", isPublic: true, handle: signIn },
  { method: "POST", url: "/sign-out", isPublic: true, handle: signOut },
];

/** Where to sign in, and come back to the page that was asked for. */
export const signInAddress = (path: string): string =>
  path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`;

/** A page of this site: anything else would lead people who just signed in to a stranger. */
const safeNextPath = (wanted: string | null): string =>
  wanted !== null && /^\/(maps|profile)([/?][\w/?=&.-]*)?$/.test(wanted) ? wanted : "/maps";

async function showSignInPage(visit: PageContext): Promise<PageResult> {
  const next = safeNextPath(visit.query.get("next"));
  if (visit.visitor !== null) return redirectTo(next);
  return renderSignInPage(visit, next, "", !(await hasAccounts(visit.site.store)) && noAccountNotice);
}

const noAccountNotice = html`<div class="notice"><p>There is no account yet. Whoever runs the service finds the link that makes the first one where it was started.</p></div>`;

async function signIn(visit: PageContext): Promise<PageResult> {
  const { form, site, now, address } = visit;
  const [email, password] = [(form.get("email") ?? "").trim(), form.get("password") ?? ""];
  const next = safeNextPath(form.get("next"));
  const checked = await checkPassword(visit, email, password);
  if (checked.kind === "wait") return renderTooManyAttempts(visit, next, email, checked.seconds);
  if (checked.kind === "wrong") return renderWrongCredentials(visit, next, email);
  const { id, passwordHash } = checked.account;
  await site.store.audit({ at: now, account: id, map: null, action: "login", detail: {}, address });
  await visit.signIn(id);
  // A change of the password ends the sessions that there are: one that began just behind it would outlive it.
  if ((await site.store.accountById(id))?.passwordHash !== passwordHash) {
    await visit.signOut();
    return renderWrongCredentials(visit, next, email);
  }
  return redirectTo(next);
}

function renderWrongCredentials(visit: PageContext, next: string, email: string): HtmlPage {
  const page = renderSignInPage(visit, next, email, renderFormError("The email address or the password is not right."));
  return { ...page, status: 403, title: `Error: ${page.title}` };
}

async function signOut(visit: PageContext): Promise<PageResult> {
  await visit.signOut();
  return redirectTo("/sign-in", "You are signed out.");
}

function renderTooManyAttempts(visit: PageContext, next: string, email: string, wait: number): HtmlPage {
  const message = `There were too many attempts. Try again in ${pluralize(Math.ceil(wait / 60), "minute")}.`;
  const page = renderSignInPage(visit, next, email, renderFormError(message));
  return { ...page, status: 429, retryAfter: wait, title: `Error: ${page.title}` };
}

function renderSignInPage(visit: PageContext, next: string, email: string, above: Html | false): HtmlPage {
  const body = html`${above}
<h1>Sign in</h1>
<form method="post" action="/sign-in" class="stack" novalidate>
  ${visit.formToken()}<input type="hidden" name="next" value="${next}">
  ${renderField({ name: "email", label: "Email address", type: "email", value: email, autocomplete: "username" }, new Map())}
  ${renderField({ name: "password", label: "Password", type: "password", autocomplete: "current-password" }, new Map())}
  <button>Sign in</button>
</form>`;
  return { kind: "page", title: "Sign in", body };
}
