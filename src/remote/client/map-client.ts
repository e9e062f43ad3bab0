/**
 * Client interface for the maps of a Map Features Service (Map Features Service Interface, section 4). The client
 * relies only on the interface; it uses optional features of a service (ETag, Idempotency-Key, `deleted`) when
 * responses contain them.
 */
import { defaultNetworkSettings, type NetworkSettings } from "../../network-settings.js";
import type { RemoteKey, WireFailure, WireFeature, WireMap, WireSuccess } from "../wire.js";

/** One page of a map; pages are numbered from 1 (4.2). */
export interface MapPage {
  readonly features: readonly WireFeature[];
  readonly etag: string | null;
  /** The page may begin with features of the page before it, by its tag. */
  readonly continues?: boolean;
  /** Whether the service links to a next page (RFC 8288), however short this one is. */
  readonly hasNext?: boolean;
  /** Verbatim JSON texts of the features, in page order. They keep details that parsing loses. */
  texts?(): readonly string[];
}

/**
 * The complete content of a map: the service deletes every feature that is not in the set. Only `readCompleteSet`
 * creates one.
 */
declare const completeBrand: unique symbol;
export interface CompleteSet {
  readonly [completeBrand]: true;
  /** JSON texts of the features, at most 1000. */
  readonly features: readonly string[];
  /** The property that identifies a feature; null if ids do. */
  readonly remoteField: string | null;
}

/** The outcome of a write, as far as it is known. */
export type WriteOutcome =
  /** The service reported a result for each feature. */
  | {
      readonly kind: "answered";
      readonly success: readonly WireSuccess[];
      readonly failed: readonly WireFailure[];
      readonly deleted: number | null;
      /** Entity tag of the map after the write; null if the service does not send it. */
      readonly etag: string | null;
      /** Whether the service marked this as the stored response to an earlier request with the same Idempotency-Key. */
      readonly replayed: boolean;
    }
  /** The service rejected the whole request; a retry cannot succeed. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
      readonly failed: readonly WireFailure[];
    }
  /** The request body is too large (413). Nothing was applied. */
  | { readonly kind: "too-large"; readonly reason: string }
  /** The If-Match condition failed (412). Nothing was applied. */
  | { readonly kind: "changed" }
  /** The service does not support the operation (405, 501, or 404 although the map exists). */
  | { readonly kind: "not-offered"; readonly status: number }
  /** The request may have been applied in full, in part or not at all. */
  | {
      readonly kind: "in-doubt";
      readonly reason: string;
      /** The request was never sent. */
      readonly unsent?: true;
    };

/** Identifies the features to delete (4.6): form 1 by ids, form 2 by values of a property. */
export type DeleteSelector =
  | { readonly ids: readonly string[] }
  | { readonly remoteField: string; readonly keys: readonly RemoteKey[] };

/** A precondition; requires that the service sent an ETag for the whole map. */
export interface Condition {
  readonly ifMatch?: string | null;
}

export interface ReplaceCondition extends Condition {
  /** Asks the service to apply nothing if a feature fails (RFC 7240, 4.4), which it may ignore. */
  readonly strict?: boolean;
}

/**
 * Client for one map. It retries writes that were certainly not applied (a refused connection, 401, 429), and reads
 * after any transient failure. The signal aborts reads and waiting requests; a write in flight completes so that its
 * outcome is known. Every method throws for permanent failures; a write that throws applied nothing.
 * @throws remote-unavailable, remote-credentials, remote-forbidden, remote-map-missing, remote-protocol-error,
 * remote-untrusted, interrupted
 */
export interface MapClient {
  /** MAP_ID. */
  readonly id: string;
  /** Base URL of the service, for messages. */
  readonly url: string;
  /** Requests 500 features per page. @returns null if the map still has this entity tag */
  page(number: number, ifNoneMatch?: string | null): Promise<MapPage | null>;
  /** Number of features that the map list reports (an extension); null if the service does not report it. */
  pageCount?(): Promise<number | null>;
  /**
   * POST (4.3).
   * @param features JSON texts, at most 1000
   * @param idempotencyKey letters, digits and hyphens; always the same for the same batch
   */
  create(features: readonly string[], idempotencyKey: string, condition?: Condition): Promise<WriteOutcome>;
  /** PATCH (4.5). @param features JSON texts with `id` or the property `remoteField`; at most 1000 */
  update(
    features: readonly string[],
    remoteField: string | null,
    idempotencyKey: string,
    condition?: Condition,
  ): Promise<WriteOutcome>;
  /** PUT (4.4). Always a single request. */
  replaceAll(set: CompleteSet, condition?: ReplaceCondition): Promise<WriteOutcome>;
  /** DELETE (4.6), at most 1000 features. */
  remove(selector: DeleteSelector, condition?: Condition): Promise<WriteOutcome>;
}

/** An authenticated client for a service. */
export interface ServiceClient {
  readonly url: string;
  /** Requests sent so far, by method; token requests are counted separately. */
  readonly requestCount: Readonly<Record<"GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "token", number>>;
  map(id: string): MapClient;
  /** Lists the maps of the account (an extension of the interface). @returns null if the service does not support it */
  maps(): Promise<readonly WireMap[] | null>;
  /** Requests a token to verify the credentials. @throws remote-credentials … */
  signIn(): Promise<void>;
}

/** Network limits. Default: a timeout of 60,000 milliseconds without a response, and 5 retries. */
export interface Traffic extends Pick<NetworkSettings, "timeout" | "retries"> {
  /** Timeout for establishing a connection, in milliseconds; default 10,000. */
  readonly connectTimeout?: number;
  /** Minimum transfer rate of a body in bytes per second, averaged over `timeout`; default 1000. */
  readonly minimumRate?: number;
  /** Maximum requests per second; null for unlimited. */
  readonly rate: number | null;
  /** Maximum concurrent requests; default 4. */
  readonly concurrency: number;
  /** Maximum delay before the first retry, in milliseconds; default 500. It doubles with each retry. */
  readonly firstRetryDelay?: number;
}

export const defaultTraffic: Traffic = {
  timeout: defaultNetworkSettings.timeout,
  retries: defaultNetworkSettings.retries,
  rate: null,
  concurrency: 4,
};
