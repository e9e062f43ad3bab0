/** Implements `PageContext` for a request and its cookies. */
import type { FastifyRequest } from "fastify";
import { createCsrfToken, isSameOrigin, verifyCsrfToken } from "../auth/csrf.js";
import { currentSession, endSession, isBrowserToken, newBrowserToken, startSession } from "../auth/sessions.js";
import { baseUrl } from "../http/public-url.js";
import { readCookie, serializePageCookie } from "./cookies.js";
import { decryptNotice, encryptNotice, type Notice } from "./notice.js";
import type { PageContext, PageServices, SignedInUser } from "./page-context.js";
import { type Html, html } from "./rendering/html.js";

export class HttpPageContext implements PageContext {
  readonly services: PageServices;
  readonly now: number;
  readonly baseUrl: string;
  readonly address: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly notice: Notice | null;
  user: SignedInUser | null = null;
  readonly #request: FastifyRequest;
  readonly #base: URL;
  /** The browser token; a new one is set with the response. */
  #token: string;
  #tokenIsNew: boolean;

  /** Not signed in before `restoreSession`. */
  constructor(request: FastifyRequest, services: PageServices) {
    this.#request = request;
    this.baseUrl = baseUrl(request, services.publicUrl);
    // An invalid Host header matches no origin, so that all forms are rejected.
    this.#base = new URL(URL.canParse(this.baseUrl) ? this.baseUrl : "http://host.invalid");
    const { cookie: cookies } = request.headers;
    const token = readCookie(cookies, "browser", this.#base);
    this.#tokenIsNew = !isBrowserToken(token);
    this.#token = isBrowserToken(token) ? token : newBrowserToken();
    const sealed = readCookie(cookies, "notice", this.#base);
    this.notice = sealed ? decryptNotice(sealed, this.#token) : null;
    this.services = services;
    this.now = services.now();
    this.address = request.ip;
    this.path = request.url;
    this.parameters = (request.params ?? {}) as Record<string, string>;
    const question = request.url.indexOf("?");
    this.query = new URLSearchParams(question < 0 ? "" : request.url.slice(question));
    this.form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  }

  /** Looks up the signed-in user. */
  async restoreSession(): Promise<void> {
    const { services, now } = this;
    if (!this.#tokenIsNew) this.user = await currentSession(services.store, this.#token, now, services.sessions);
  }

  formToken(): Html {
    return html`<input type="hidden" name="token-of-form" value="${createCsrfToken(this.#token)}">`;
  }

  /** Whether the form was created by this site for this browser. */
  isOwnForm(): boolean {
    if (!isSameOrigin(this.#request.headers, this.#base.origin)) return false;
    return verifyCsrfToken(this.#token, this.form.get("token-of-form") ?? "");
  }

  async signIn(account: string): Promise<void> {
    const { services, now } = this;
    const old = this.#token;
    this.#rotateToken(await startSession(services.store, account, now, services.sessions));
    await endSession(services.store, old);
  }

  async signOut(): Promise<void> {
    await endSession(this.services.store, this.#token);
    this.#rotateToken(newBrowserToken());
    this.user = null;
  }

  #rotateToken(token: string): void {
    this.#token = token;
    this.#tokenIsNew = true;
  }

  /** Cookies of the response: the browser token if it is new, and the notice for the next page. */
  cookies(next: Notice | null | undefined): string[] {
    const notice =
      next === undefined ? [] : [serializePageCookie("notice", next && encryptNotice(next, this.#token), this.#base)];
    return this.#tokenIsNew ? [serializePageCookie("browser", this.#token, this.#base), ...notice] : notice;
  }
}
