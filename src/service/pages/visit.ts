/** A request to a page, and what a page answers. Nothing here knows the server that carries both. */
import type { Attempts } from "../auth/attempts.js";
import type { SessionLimits } from "../auth/sessions.js";
import type { PageBodies, PageBody } from "../features/page-bodies.js";
import type { Doing } from "../map-changes.js";
import type { Store } from "../store/contract.js";
import type { Assets } from "./assets.js";
import type { Html } from "./html.js";
import type { Notice } from "./notice.js";

/** What all pages share. */
export interface Site {
  readonly store: Store;
  readonly bodies: PageBodies;
  readonly assets: Assets;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Where people reach the service; null where requests tell. */
  readonly publicUrl: string | null;
  readonly sessions: SessionLimits;
  readonly attempts: Attempts;
}

export interface Visitor {
  readonly account: string;
  readonly email: string;
}

export interface Visit {
  readonly site: Site;
  readonly now: number;
  /** Who is signed in. */
  readonly visitor: Visitor | null;
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
export type VisitOfMember = Visit & { readonly visitor: Visitor };

export const doneBy = ({ visitor, now, address }: VisitOfMember): Doing => ({ account: visitor.account, now, address });

export interface Page {
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
export interface Redirect {
  readonly kind: "redirect";
  readonly to: string;
  readonly notice?: Notice;
}

/** JSON for the map's script. */
export interface Data {
  readonly kind: "data";
  readonly page: PageBody;
}

export type Answer = Page | Redirect | Data;

interface Address {
  readonly method: "GET" | "POST";
  readonly url: string;
}

/** One address of the site: for everybody, or only for those who are signed in. */
export type Route =
  | (Address & { readonly open: true; answer(visit: Visit): Promise<Answer> })
  | (Address & { readonly open?: false; answer(visit: VisitOfMember): Promise<Answer> });

export const redirect = (to: string, text?: string): Redirect => ({
  kind: "redirect",
  to,
  ...(text !== undefined && { notice: { kind: "done", text } }),
});
