/** Requests to pages and their results, independent of the web framework. */
import type { AttemptLimiter } from "../auth/attempt-limiter.js";
import type { SessionLimits } from "../auth/sessions.js";
import type { PageBody, PageBodyReader } from "../features/page-bodies.js";
import type { AuditContext } from "../maps/map-changes.js";
import type { Store } from "../store/contract.js";
import type { PageAssets } from "./assets.js";
import type { Notice } from "./notice.js";
import type { Html } from "./rendering/html.js";

/** Services shared by all pages. */
export interface PageServices {
  readonly store: Store;
  readonly bodies: PageBodyReader;
  readonly assets: PageAssets;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Public URL of the service; null if it is taken from each request. */
  readonly publicUrl: string | null;
  readonly sessions: SessionLimits;
  readonly attempts: AttemptLimiter;
  readonly mapsPerAccount: number;
}

export interface SignedInUser {
  readonly account: string;
  readonly email: string;
}

export interface PageContext {
  readonly services: PageServices;
  readonly now: number;
  /** The signed-in user. */
  readonly user: SignedInUser | null;
  /** URL of the service without a trailing slash: `https://maps.example.org`. */
  readonly baseUrl: string;
  /** IP address of the browser. */
  readonly address: string;
  /** Path from the root, with the query. */
  readonly path: string;
  /** Path parameters: `id` of `/maps/:id`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Fields of the submitted form. */
  readonly form: URLSearchParams;
  /** Message from the previous page. */
  readonly notice: Notice | null;
  /** The hidden CSRF field that each form must contain. */
  formToken(): Html;
  signIn(account: string): Promise<void>;
  signOut(): Promise<void>;
}

/** A request of a signed-in user. */
export type SignedInContext = PageContext & { readonly user: SignedInUser };

export const auditContextOf = ({ user, now, address }: SignedInContext): AuditContext => ({
  account: user.account,
  now,
  address,
});

export interface HtmlPage {
  readonly kind: "page";
  /** 200 by default. */
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
  /** Whether the page takes the full width of the window, to show a map. */
  readonly wide?: boolean;
  /** Additional markup in the document's head. */
  readonly head?: Html;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** Redirects after a form was submitted, so that a reload does not submit it again. */
export interface PageRedirect {
  readonly kind: "redirect";
  readonly to: string;
  readonly notice?: Notice;
}

/** JSON for the map's script. */
export interface FeatureData {
  readonly kind: "data";
  readonly page: PageBody;
}

export type PageResult = HtmlPage | PageRedirect | FeatureData;

interface RouteAddress {
  readonly method: "GET" | "POST";
  readonly url: string;
}

/** A route of the pages: public, or only for signed-in users. */
export type PageRoute =
  | (RouteAddress & { readonly isPublic: true; handle(context: PageContext): Promise<PageResult> })
  | (RouteAddress & { readonly isPublic?: false; handle(context: SignedInContext): Promise<PageResult> });

export const redirectTo = (to: string, text?: string): PageRedirect => ({
  kind: "redirect",
  to,
  ...(text !== undefined && { notice: { kind: "done", text } }),
});
