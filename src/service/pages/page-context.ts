/** A request to a page, and what a page answers. Nothing here knows the server that carries both. */
import type { AttemptLimiter } from "../auth/attempt-limiter.js";
import type { SessionLimits } from "../auth/sessions.js";
import type { PageBody, PageBodyReader } from "../features/page-bodies.js";
import type { AuditContext } from "../maps/map-changes.js";
import type { Store } from "../store/contract.js";
import type { PageAssets } from "./assets.js";
import type { Notice } from "./notice.js";
import type { Html } from "./rendering/html.js";

/** What all pages share. */
export interface PageServices {
  readonly store: Store;
  readonly bodies: PageBodyReader;
  readonly assets: PageAssets;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Where people reach the service; null where requests tell. */
  readonly publicUrl: string | null;
  readonly sessions: SessionLimits;
  readonly attempts: AttemptLimiter;
}

export interface SignedInUser {
  readonly account: string;
  readonly email: string;
}

export interface PageContext {
  readonly site: PageServices;
  readonly now: number;
  /** Who is signed in. */
  readonly visitor: SignedInUser | null;
  /** Where the service is, without a slash at the end: `https://maps.example.org`. */
  readonly baseUrl: string;
  /** IP address of the browser. */
  readonly address: string;
  /** From the root on, with the query. */
  readonly path: string;
  /** Parts of the path: `id` of `/maps/:id`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a form that was sent. */
  readonly form: URLSearchParams;
  /** What the page before left to be said. */
  readonly notice: Notice | null;
  /** The hidden field that every form must have. */
  formToken(): Html;
  signIn(account: string): Promise<void>;
  signOut(): Promise<void>;
}

/** A visit of somebody who is signed in. */
export type SignedInContext = PageContext & { readonly visitor: SignedInUser };

export const auditContextOf = ({ visitor, now, address }: SignedInContext): AuditContext => ({
  account: visitor.account,
  now,
  address,
});

export interface HtmlPage {
  readonly kind: "page";
  /** 200 unless told. */
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
  /** Whether it takes the width of the window: it has a map. */
  readonly wide?: boolean;
  /** What stands in the document's head besides. */
  readonly head?: Html;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** Leads on after a form was sent, so that going back or loading again does not send it twice. */
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

/** One address of the site: for everybody, or only for those who are signed in. */
export type PageRoute =
  | (RouteAddress & { readonly isPublic: true; handle(visit: PageContext): Promise<PageResult> })
  | (RouteAddress & { readonly isPublic?: false; handle(visit: SignedInContext): Promise<PageResult> });

export const redirectTo = (to: string, text?: string): PageRedirect => ({
  kind: "redirect",
  to,
  ...(text !== undefined && { notice: { kind: "done", text } }),
});
