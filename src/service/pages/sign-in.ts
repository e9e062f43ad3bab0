import { checkPassword } from "./check-password.js";
import { fieldOf, problem } from "./forms.js";
import { type Html, html } from "./html.js";
import { isSetUp } from "./set-up.js";
import { type Answer, type Page, type Route, redirect, type Visit } from "./visit.js";
import { counted } from "./wording.js";

export const signInRoutes: readonly Route[] = [
  { method: "GET", url: "/sign-in", open: true, answer: showSignIn },
  { method: "POST", url: "/sign-in", open: true, answer: signIn },
  { method: "POST", url: "/sign-out", open: true, answer: signOut },
];

/** Where to sign in, and come back to the page that was asked for. */
export const signInAddress = (path: string): string =>
  path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`;

/** A page of this site: anything else would lead people who just signed in to a stranger. */
const nextOf = (wanted: string | null): string =>
  wanted !== null && /^\/(maps|profile)([/?][\w/?=&.-]*)?$/.test(wanted) ? wanted : "/maps";

async function showSignIn(visit: Visit): Promise<Answer> {
  const next = nextOf(visit.query.get("next"));
  if (visit.visitor !== null) return redirect(next);
  return signInPage(visit, next, "", !(await isSetUp(visit.site.store)) && noAccount);
}

const noAccount = html`<div class="notice"><p>There is no account yet. Whoever runs the service finds the link that makes the first one where it was started.</p></div>`;

async function signIn(visit: Visit): Promise<Answer> {
  const { form, site, now, address } = visit;
  const [email, password] = [(form.get("email") ?? "").trim(), form.get("password") ?? ""];
  const next = nextOf(form.get("next"));
  const checked = await checkPassword(visit, email, password);
  if (checked.kind === "wait") return tooMany(visit, next, email, checked.seconds);
  if (checked.kind === "wrong") return notRight(visit, next, email);
  const { id, passwordHash } = checked.account;
  await site.store.audit({ at: now, account: id, map: null, action: "login", detail: {}, address });
  await visit.signIn(id);
  // A change of the password ends the sessions that there are: one that began just behind it would outlive it.
  if ((await site.store.accountById(id))?.passwordHash !== passwordHash) {
    await visit.signOut();
    return notRight(visit, next, email);
  }
  return redirect(next);
}

function notRight(visit: Visit, next: string, email: string): Page {
  const page = signInPage(visit, next, email, problem("The email address or the password is not right."));
  return { ...page, status: 403, title: `Error: ${page.title}` };
}

async function signOut(visit: Visit): Promise<Answer> {
  await visit.signOut();
  return redirect("/sign-in", "You are signed out.");
}

function tooMany(visit: Visit, next: string, email: string, wait: number): Page {
  const message = `There were too many attempts. Try again in ${counted(Math.ceil(wait / 60), "minute")}.`;
  const page = signInPage(visit, next, email, problem(message));
  return { ...page, status: 429, retryAfter: wait, title: `Error: ${page.title}` };
}

function signInPage(visit: Visit, next: string, email: string, above: Html | false): Page {
  const body = html`${above}
<h1>Sign in</h1>
<form method="post" action="/sign-in" class="stack" novalidate>
  ${visit.formToken()}<input type="hidden" name="next" value="${next}">
  ${fieldOf({ name: "email", label: "Email address", type: "email", value: email, autocomplete: "username" }, new Map())}
  ${fieldOf({ name: "password", label: "Password", type: "password", autocomplete: "current-password" }, new Map())}
  <button>Sign in</button>
</form>`;
  return { kind: "page", title: "Sign in", body };
}
