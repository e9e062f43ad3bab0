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

/** URL of the sign-in page, which then redirects back to `path`. */
export const signInAddress = (path: string): string =>
  path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`;

/** Accepts only pages of this site, to prevent open redirects. */
const safeNextPath = (next: string | null): string =>
  next !== null && /^\/(maps|profile)([/?][\w/?=&.-]*)?$/.test(next) ? next : "/maps";

async function showSignInPage(context: PageContext): Promise<PageResult> {
  const next = safeNextPath(context.query.get("next"));
  if (context.user !== null) return redirectTo(next);
  return renderSignInPage(context, next, "", !(await hasAccounts(context.services.store)) && noAccountNotice);
}

const noAccountNotice = html`<div class="notice"><p>There is no account yet. To create the first one, open the link that <code>geoferry serve</code> printed when it started.</p></div>`;

async function signIn(context: PageContext): Promise<PageResult> {
  const { form, services, now, address } = context;
  const [email, password] = [(form.get("email") ?? "").trim(), form.get("password") ?? ""];
  const next = safeNextPath(form.get("next"));
  const checked = await checkPassword(context, email, password);
  if (checked.kind === "wait") return renderTooManyAttempts(context, next, email, checked.seconds);
  if (checked.kind === "wrong") return renderWrongCredentials(context, next, email);
  const { id, passwordHash } = checked.account;
  await services.store.audit({ at: now, account: id, map: null, action: "login", detail: {}, address });
  await context.signIn(id);
  // A password change ends existing sessions; a session that starts at the same moment would survive it.
  if ((await services.store.accountById(id))?.passwordHash !== passwordHash) {
    await context.signOut();
    return renderWrongCredentials(context, next, email);
  }
  return redirectTo(next);
}

function renderWrongCredentials(context: PageContext, next: string, email: string): HtmlPage {
  const page = renderSignInPage(context, next, email, renderFormError("The email address or the password is wrong."));
  return { ...page, status: 403, title: `Error: ${page.title}` };
}

async function signOut(context: PageContext): Promise<PageResult> {
  await context.signOut();
  return redirectTo("/sign-in", "You are signed out.");
}

function renderTooManyAttempts(context: PageContext, next: string, email: string, wait: number): HtmlPage {
  const message = `Too many attempts. Try again in ${pluralize(Math.ceil(wait / 60), "minute")}.`;
  const page = renderSignInPage(context, next, email, renderFormError(message));
  return { ...page, status: 429, retryAfter: wait, title: `Error: ${page.title}` };
}

function renderSignInPage(context: PageContext, next: string, email: string, above: Html | false): HtmlPage {
  const body = html`${above}
<h1>Sign in</h1>
<form method="post" action="/sign-in" class="stack" novalidate>
  ${context.formToken()}<input type="hidden" name="next" value="${next}">
  ${renderField({ name: "email", label: "Email address", type: "email", value: email, autocomplete: "username" }, new Map())}
  ${renderField({ name: "password", label: "Password", type: "password", autocomplete: "current-password" }, new Map())}
  <button>Sign in</button>
</form>`;
  return { kind: "page", title: "Sign in", body };
}
