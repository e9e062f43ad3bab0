/**
 * What can be asked of a map of a Map Features Service (Map Features Service Interface, section 4). The client trusts
 * the interface alone; what more a service offers (ETag, Idempotency-Key, `deleted`) is used where it is seen.
 */
import { defaultNetworkSettings, type NetworkSettings } from "../../network-settings.js";
import type { RemoteKey, WireFailure, WireFeature, WireMap, WireSuccess } from "../wire.js";

/** One page of a map, counted from 1 (4.2). */
export interface MapPage {
  readonly features: readonly WireFeature[];
  readonly etag: string | null;
  /** The texts of the features as the service wrote them, in their order; what only they say, none of the features does. */
  texts?(): readonly string[];
}

/** All features that a map shall have: one that is missing will be deleted. Only `completeSet` makes it. */
declare const completeBrand: unique symbol;
export interface CompleteSet {
  readonly [completeBrand]: true;
  /** JSON texts of the features, at most 1000. */
  readonly features: readonly string[];
  /** The property that identifies a feature; null where ids do. */
  readonly remoteField: string | null;
}

/** What came of a write, as far as it is known. */
export type WriteOutcome =
  /** The service answered for each feature. */
  | {
      readonly kind: "answered";
      readonly success: readonly WireSuccess[];
      readonly failed: readonly WireFailure[];
      readonly deleted: number | null;
      /** Of the map after the write, where the service says it. */
      readonly etag: string | null;
      /** Whether the service says that this is the answer to an earlier request with the same Idempotency-Key. */
      readonly replayed: boolean;
    }
  /** The service took nothing of it, for a reason that repeating does not mend. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
      readonly failed: readonly WireFailure[];
    }
  /** Too many bytes (413): nothing was applied. */
  | { readonly kind: "too-large"; readonly reason: string }
  /** The map is not what If-Match says (412): nothing was applied. */
  | { readonly kind: "changed" }
  /** The service has no such operation (404 where the map is there, 405, 501). */
  | { readonly kind: "not-offered"; readonly status: number }
  /** It may have been applied, wholly or in part, or not. */
  | {
      readonly kind: "in-doubt";
      readonly reason: string;
      /** It was held back, and not sent at all. */
      readonly unsent?: true;
    };

/** Identifies features to be deleted (4.6): form 1 by ids, form 2 by the values of a property. */
export type DeleteSelector =
  | { readonly ids: readonly string[] }
  | { readonly remoteField: string; readonly keys: readonly RemoteKey[] };

/** A precondition, where the service gave an ETag of the whole map. */
export interface Condition {
  readonly ifMatch?: string | null;
}

/**
 * One map. Requests that were surely not applied (a refused connection, 401, 429) are sent again by the client itself;
 * reads are repeated on any failure that may pass. The signal ends reads and whatever waits to be sent; a write that is
 * under way is waited for, so that its outcome is known. Every method throws what no repetition can mend; of a write
 * nothing was applied then.
 * @throws remote-unavailable, remote-credentials, remote-forbidden, remote-map-missing, remote-protocol-error, remote-untrusted,
 * interrupted
 */
export interface MapClient {
  /** MAP_ID. */
  readonly id: string;
  /** Base address of the service, for messages. */
  readonly url: string;
  /** `per_page` is 500. @returns null where the map still has this entity tag */
  page(number: number, ifNoneMatch?: string | null): Promise<MapPage | null>;
  /** Features that the service says the map has, beside its pages (an extension); null where it says nothing. */
  pageCount?(): Promise<number | null>;
  /** POST (4.3). @param features JSON texts, at most 1000 @param idempotencyKey the same for the same batch, always, of letters, digits and hyphens */
  create(features: readonly string[], idempotencyKey: string, condition?: Condition): Promise<WriteOutcome>;
  /** PATCH (4.5). @param features JSON texts with `id`, or the property `remoteField`; at most 1000 */
  update(
    features: readonly string[],
    remoteField: string | null,
    idempotencyKey: string,
    condition?: Condition,
  ): Promise<WriteOutcome>;
  /** PUT (4.4). Never in parts. */
  replaceAll(set: CompleteSet, condition?: Condition): Promise<WriteOutcome>;
  /** DELETE (4.6), at most 1000. */
  remove(doomed: DeleteSelector, condition?: Condition): Promise<WriteOutcome>;
}

/** A service that somebody has credentials for. */
export interface ServiceClient {
  readonly url: string;
  /** Requests sent so far, by method; those for tokens by themselves. */
  readonly requestCount: Readonly<Record<"GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "token", number>>;
  map(id: string): MapClient;
  /** An extension of the interface. @returns null where the service has it not */
  maps(): Promise<readonly WireMap[] | null>;
  /** Gets a token, so that wrong credentials are found out. @throws remote-credentials … */
  signIn(): Promise<void>;
}

/** How requests are sent: 60,000 milliseconds without an answer, and 5 retries, are usual. */
export interface Traffic extends Pick<NetworkSettings, "timeout" | "retries"> {
  /** Milliseconds until there is a connection; 10,000. */
  readonly connectTimeout?: number;
  /** Bytes a second that a body carries at least, on average over `timeout`; 1000. */
  readonly minimumRate?: number;
  /** Requests a second, at most; null for unlimited. */
  readonly rate: number | null;
  /** Requests under way at once; 4. */
  readonly concurrency: number;
  /** Milliseconds before something is sent again for the first time, at most; 500, doubled with every time. */
  readonly firstRetryDelay?: number;
}

export const defaultTraffic: Traffic = {
  timeout: defaultNetworkSettings.timeout,
  retries: defaultNetworkSettings.retries,
  rate: null,
  concurrency: 4,
};
