/** A visit, made from a request of the server and the cookies that came with it. */
import type { FastifyRequest } from "fastify";
import { createCsrfToken, isSameOrigin, verifyCsrfToken } from "../auth/csrf.js";
import { currentSession, endSession, isBrowserToken, newBrowserToken, startSession } from "../auth/sessions.js";
import { baseUrl } from "../http/public-url.js";
import { readCookie, serializePageCookie } from "./cookies.js";
import { decryptNotice, encryptNotice, type Notice } from "./notice.js";
import type { PageContext, PageServices, SignedInUser } from "./page-context.js";
import { type Html, html } from "./rendering/html.js";

export class HttpPageContext implements PageContext {
  readonly site: PageServices;
  readonly now: number;
  readonly baseUrl: string;
  readonly address: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly notice: Notice | null;
  visitor: SignedInUser | null = null;
  readonly #request: FastifyRequest;
  readonly #base: URL;
  /** What the browser is known by; a new one is told to it with the answer. */
  #token: string;
  #tokenIsNew: boolean;

  /** Of no one, until `recognise`. */
  constructor(request: FastifyRequest, site: PageServices) {
    this.#request = request;
    this.baseUrl = baseUrl(request, site.publicUrl);
    // A header Host that names no host is no one's own origin: no form will be taken.
    this.#base = new URL(URL.canParse(this.baseUrl) ? this.baseUrl : "http://host.invalid");
    const { cookie: cookies } = request.headers;
    const token = readCookie(cookies, "browser", this.#base);
    this.#tokenIsNew = !isBrowserToken(token);
    this.#token = isBrowserToken(token) ? token : newBrowserToken();
    const sealed = readCookie(cookies, "notice", this.#base);
    this.notice = sealed ? decryptNotice(sealed, this.#token) : null;
    this.site = site;
    this.now = site.now();
    this.address = request.ip;
    this.path = request.url;
    this.parameters = (request.params ?? {}) as Record<string, string>;
    const question = request.url.indexOf("?");
    this.query = new URLSearchParams(question < 0 ? "" : request.url.slice(question));
    this.form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  }

  /** Finds out who is signed in. */
  async restoreSession(): Promise<void> {
    const { site, now } = this;
    if (!this.#tokenIsNew) this.visitor = await currentSession(site.store, this.#token, now, site.sessions);
  }

  formToken(): Html {
    return html`<input type="hidden" name="token-of-form" value="${createCsrfToken(this.#token)}">`;
  }

  /** Whether the form that was sent is one of this site's, made for this browser. */
  isOwnForm(): boolean {
    if (!isSameOrigin(this.#request.headers, this.#base.origin)) return false;
    return verifyCsrfToken(this.#token, this.form.get("token-of-form") ?? "");
  }

  async signIn(account: string): Promise<void> {
    const { site, now } = this;
    const old = this.#token;
    this.#rotateToken(await startSession(site.store, account, now, site.sessions));
    await endSession(site.store, old);
  }

  async signOut(): Promise<void> {
    await endSession(this.site.store, this.#token);
    this.#rotateToken(newBrowserToken());
    this.visitor = null;
  }

  #rotateToken(token: string): void {
    this.#token = token;
    this.#tokenIsNew = true;
  }

  /** What the browser is to keep: what it is known by, if that is new, and the notice for the page after this answer. */
  cookies(next: Notice | null | undefined): string[] {
    const notice =
      next === undefined ? [] : [serializePageCookie("notice", next && encryptNotice(next, this.#token), this.#base)];
    return this.#tokenIsNew ? [serializePageCookie("browser", this.#token, this.#base), ...notice] : notice;
  }
}
