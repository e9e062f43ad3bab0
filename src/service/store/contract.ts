/**
 * The contract of a store. SQLite and PostgreSQL implement it and return the same results for the same calls, byte for
 * byte.
 *
 * All arguments and results are plain data, so that a store may run in another thread. Times are milliseconds since
 * 1970, passed by the caller for testability. Ids of maps, accounts and features are lowercase UUIDs. Secrets are
 * passed as SHA-256 hashes.
 *
 * A store that cannot be reached throws the problem `store-unavailable`. Missing objects are null.
 */

import { tokenLifetimeSeconds } from "../../remote/wire.js";

// ---- accounts and credentials --------------------------------------------------------------------------------------

export interface Account {
  readonly id: string;
  /** As entered; comparisons ignore case. */
  readonly email: string;
  /** Shown to other accounts instead of the email address; empty if not set (`displayName`). */
  readonly name: string;
  /** In the PHC string format: `$argon2id$v=19$…`. */
  readonly passwordHash: string;
  readonly created: number;
}

/** A client id and secret, created on the profile page (Map Features Service Interface, 5). */
export interface Credential {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly clientId: string;
  readonly created: number;
  readonly lastUsed: number | null;
  readonly revoked: number | null;
}

/** The authenticated sender of a request. */
export interface Bearer {
  readonly account: string;
  readonly email: string;
  readonly credential: string;
  readonly expires: number;
}

export interface Session {
  readonly account: string;
  readonly email: string;
  readonly created: number;
  readonly expires: number;
}

export interface AuditEntry {
  readonly at: number;
  /** Null if unknown, for example after a failed login. */
  readonly account: string | null;
  readonly map: string | null;
  /** `login`, `login-failed`, `credential-created`, `features-written` … */
  readonly action: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly address: string | null;
}

export interface AccountStore {
  /** Returns false if the email address is taken. */
  addAccount(account: Account): Promise<boolean>;
  accountByEmail(email: string): Promise<Account | null>;
  accountById(id: string): Promise<Account | null>;
  accounts(): Promise<readonly Account[]>;
  setAccountName(change: { account: string; name: string }): Promise<void>;
  /** Also ends the sessions of the account. */
  setPassword(change: { account: string; passwordHash: string }): Promise<void>;

  addCredential(credential: Credential & { secretHash: Uint8Array }): Promise<void>;
  credentialByClientId(clientId: string): Promise<(Credential & { secretHash: Uint8Array }) | null>;
  /** Newest first. */
  credentials(account: string): Promise<readonly Credential[]>;
  /** Also revokes its tokens. Returns false if the account has no such active credential. */
  revokeCredential(change: { account: string; credential: string; now: number }): Promise<boolean>;

  addToken(token: { hash: Uint8Array; credential: string; created: number; expires: number }): Promise<void>;
  /** RFC 7009: succeeds whether or not the token exists. Only revokes a token of this client. */
  revokeToken(token: { hash: Uint8Array; clientId: string }): Promise<void>;

  addSession(session: { hash: Uint8Array; account: string; created: number; expires: number }): Promise<void>;
  /** Null if the session has expired. */
  session(lookup: { hash: Uint8Array; now: number }): Promise<Session | null>;
  /** Extends a session in use; does nothing if it does not exist. */
  extendSession(change: { hash: Uint8Array; expires: number }): Promise<void>;
  endSession(hash: Uint8Array): Promise<void>;

  /** Sets the token of the link that creates the first account, and replaces an earlier one. */
  setSetupToken(token: { hash: Uint8Array; expires: number }): Promise<void>;
  /** Whether `useSetupToken` would return true. */
  canUseSetupToken(token: { hash: Uint8Array; now: number }): Promise<boolean>;
  /** Returns true once, for the current token, before it expires and while there is no account. */
  useSetupToken(token: { hash: Uint8Array; now: number }): Promise<boolean>;

  /**
   * Counts a failed attempt under each name, in a window that starts with its first attempt. Returns the greatest
   * count, and when its window ends.
   */
  countAttempt(attempt: {
    names: readonly string[];
    now: number;
    window: number;
  }): Promise<{ count: number; until: number }>;
  forgetAttempts(names: readonly string[]): Promise<void>;

  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  auditEntries(query: { map?: string; account?: string; limit: number }): Promise<readonly AuditEntry[]>;
}

// ---- maps -----------------------------------------------------------------------------------------------------------

export interface StoredMap {
  readonly id: string;
  readonly owner: string;
  readonly ownerEmail: string;
  /** `Account.name` of the owner. */
  readonly ownerName: string;
  readonly name: string;
  readonly private: boolean;
  readonly created: number;
  /** Number of features. */
  readonly features: number;
  /** 0 for a new map; incremented by each write that changes something, including the map itself. */
  readonly revision: number;
  /** Identifies this state, even after a restored database reaches the same revision again (`createMapVersion`). */
  readonly version: string;
}

export type NewMap = Pick<StoredMap, "id" | "owner" | "name" | "private" | "created"> & {
  /** Maximum number of maps of the account. */
  readonly limit?: number | undefined;
};

export interface MapListRequest {
  readonly account: string;
  /** Maps of the account, public maps of other accounts, or both. */
  readonly scope: "own" | "others" | "readable";
  /** Maximum number of maps; unlimited by default. */
  readonly size?: number;
  /** Number of maps to skip. */
  readonly skip?: number;
  /** Only maps after this position, whether or not a map with this name and id exists. */
  readonly after?: Pick<StoredMap, "name" | "id"> | undefined;
}

export interface MapStore {
  /**
   * Returns false if the owner has `limit` maps or more. Concurrent calls may exceed the limit by their number.
   * @param map `limit` is unlimited by default
   */
  addMap(map: NewMap): Promise<boolean>;
  map(id: string): Promise<StoredMap | null>;
  /** By name, then id. */
  maps(query: MapListRequest): Promise<readonly StoredMap[]>;
  changeMap(change: { id: string; name?: string; private?: boolean }): Promise<StoredMap | null>;
  /** Also deletes its features. Returns false if the map does not exist. */
  deleteMap(id: string): Promise<boolean>;
  /**
   * The owner of a valid token, and the map: one call, since each request needs both. A token that expires later than
   * `maxTokenLifetimeMs` from now was issued by a clock that was ahead, and is not valid.
   */
  access(query: { tokenHash: Uint8Array; map: string | null; now: number }): Promise<AccessResult>;
}

/** By how much the clocks of processes may differ. */
export const clockToleranceMs = 60_000;

/** How long after now a valid token may expire at most. */
export const maxTokenLifetimeMs = tokenLifetimeSeconds * 1000 + clockToleranceMs;

export interface AccessResult {
  readonly bearer: Bearer | null;
  readonly map: StoredMap | null;
}

// ---- features -------------------------------------------------------------------------------------------------------

/** A page without the texts of its features. */
export interface PageMetadata {
  readonly count: number;
  /** Bytes of the text. */
  readonly bytes: number;
  /** `after: first - 1` requests the same page again; null if the page is empty. */
  readonly first: number | null;
  /** Value of `after` for the next page; null if the page is empty. */
  readonly last: number | null;
  /** Whether more features follow. */
  readonly more: boolean;
  /** Of the map at the same moment. */
  readonly revision: number;
  readonly version: string;
}

/**
 * A page of features by creation time. `text` is UTF-8: JSON objects with `type`, `id`, `geometry` and `properties` in
 * this order, separated by commas. It is empty if it would exceed `maxBytes` of the request.
 */
export interface FeaturePage extends PageMetadata {
  readonly text: Uint8Array;
}

/** A page by its number, from 1 on, or the features after the position that an earlier page returned as `last`. */
export type PageRequest = {
  readonly map: string;
  readonly size: number;
  /** Maximum bytes of the text, unlimited by default; use `spool` for larger pages. */
  readonly maxBytes?: number;
} & ({ readonly page: number; readonly after?: undefined } | { readonly after: number; readonly page?: undefined });

/** The features after a position, and the maximum bytes of their text. */
export type SpoolRequest = Readonly<Record<"size" | "after" | "maxBytes", number>> & { readonly map: string };

/**
 * - `create`: creates all features (POST);
 * - `upsert`: replaces features with a known key, creates the others (POST with `remoteField`);
 * - `synchronize`: like `upsert`, and deletes all other features (PUT);
 * - `update`: merges properties, replaces a geometry that is given (PATCH);
 * - `delete`.
 */
export type WriteKind = "create" | "upsert" | "synchronize" | "update" | "delete";

/** The write of one validated feature; its texts are JSON in stored form. */
export interface WriteItem {
  /** Index in the request, for `path`. */
  readonly index: number;
  /** The id in the request, in lower case; null if there is none. */
  readonly id: string | null;
  /** `digestRemoteKey` of the key, if the write matches by a remote field. */
  readonly key: string | null;
  /** JSON; undefined keeps the geometry (`update`). */
  readonly geometry?: string;
  /** JSON object; for `update`, the changes to merge: null removes a property. */
  readonly properties?: string;
  /** Why the feature cannot be written: its identifier still protects the stored feature from deletion. */
  readonly failure?: FeatureFailure;
}

export interface FeatureFailure {
  /** Path below the feature: `geometry.coordinates[1]`; "" for the feature itself. */
  readonly path: string;
  readonly message: string;
}

export interface WriteRequest {
  readonly map: string;
  readonly kind: WriteKind;
  /** Name of the property that `key` was taken from; null to match by id. */
  readonly remoteField: string | null;
  /** For `update`: how to handle properties that are null; `remove` by default. */
  readonly nulls?: "remove" | "set";
  readonly items: readonly WriteItem[];
  /** Applies all changes or none (RFC 7240, `handling=strict`). */
  readonly strict: boolean;
  /** Accepted versions of the map (If-Match); null accepts any. */
  readonly versions: readonly string[] | null;
  /**
   * Returns the stored outcome for a repeated request (Idempotency-Key): `scope` is the account, `fingerprint` a
   * SHA-256 of method, URL and body.
   */
  readonly idempotency: { readonly scope: string; readonly key: string; readonly fingerprint: Uint8Array } | null;
  readonly now: number;
  /** Entry for the audit log if anything changes; counts are added to its detail. */
  readonly audit: Pick<AuditEntry, "account" | "action" | "address">;
}

export interface WrittenFeature {
  readonly index: number;
  readonly id: string;
  readonly what: "created" | "updated" | "deleted";
}

/** The written features, as in the response. */
export interface WriteResultJson {
  /** A JSON array of objects. */
  readonly json: string;
  readonly count: number;
  /** Number of created features. */
  readonly created: number;
}

export interface FailedFeature extends FeatureFailure {
  readonly index: number;
  /** Id of the stored feature, else the id in the request, else the nil UUID. */
  readonly id: string;
}

export type WriteOutcome =
  /** Applied, unless all features failed; in the order of the request. */
  | {
      readonly kind: "done";
      readonly success: readonly WrittenFeature[];
      /** The same as JSON, if the store serializes it in its own thread. */
      readonly text?: WriteResultJson;
      readonly failed: readonly FailedFeature[];
      /** Number of features that a full synchronization deleted. */
      readonly deleted: number;
      readonly revision: number;
      readonly version: string;
      /**
       * The remote field whose index was dropped because the request named a ninth: the least recently used. The next
       * write that uses it indexes its keys again.
       */
      readonly droppedField?: string;
      /** Whether the outcome is that of an earlier request with the same Idempotency-Key. */
      readonly replayed: boolean;
    }
  /** `strict`, and some features failed: nothing was applied. */
  | { readonly kind: "refused"; readonly failed: readonly FailedFeature[] }
  | { readonly kind: "other-version"; readonly version: string }
  | { readonly kind: "key-used-otherwise" }
  | { readonly kind: "key-in-flight" }
  /** The map was deleted in the meantime. */
  | { readonly kind: "no-map" };

export interface FeatureStore {
  /**
   * Null if the map does not exist. The cost of a page does not depend on its position.
   * @throws the problem bad-query if its features are too large together
   */
  page(request: PageRequest): Promise<FeaturePage | null>;
  /**
   * Writes the text of a page to a file in chunks, all from one state of the map. Writes nothing if the text exceeds
   * `maxBytes`, or if the page is empty. Null if the map does not exist.
   * @param file file descriptor, open in this process
   * @throws the problem disk-full if the disk is full
   */
  spool(request: SpoolRequest, file: number): Promise<PageMetadata | null>;
  /** Runs in one transaction; writes to a map are serialized. The outcome is durable when it is returned. */
  write(request: WriteRequest): Promise<WriteOutcome>;
}

/** Identifies a client that reads a map by page numbers. */
export interface PaginationSession {
  readonly map: string;
  readonly size: number;
  readonly credential: string;
  /** Distinguishes tokens of the credential: the expiry time. */
  readonly token: number;
}

/** End of a full page. */
export interface PaginationCursor {
  /** Token of the session. */
  readonly token: number;
  /** Position of the last feature. */
  readonly after: number;
  /** Version of the map when the page was read. */
  readonly version: string;
  /** Whether the page was the one of its number in that version. */
  readonly isExact: boolean;
  readonly at: number;
}

/** Cursors of recently read pages; a store may drop them. */
export interface PaginationCursorStore {
  /** Ends of a page number, saved after `since`, in sessions with any token of the credential. */
  findCursors(query: { session: PaginationSession; page: number; since: number }): Promise<readonly PaginationCursor[]>;
  /**
   * Saves the end of a page; null for the last page. Among sessions with the same token, also drops the furthest end of
   * the page two before, since the client has read the page in between; after the last page, also that of the page
   * before.
   */
  saveCursor(change: {
    session: PaginationSession;
    page: number;
    end: PaginationCursor | null;
    now: number;
  }): Promise<void>;
}

// ---- the store ------------------------------------------------------------------------------------------------------

export interface Store extends AccountStore, MapStore, FeatureStore, PaginationCursorStore, AsyncDisposable {
  /** Name for logs: "sqlite", "postgresql". */
  readonly name: string;
  /** Throws if the store does not respond. */
  ping(): Promise<void>;
  /** Removes expired tokens, sessions, attempts, and outcomes of idempotent requests (24 hours). */
  purge(now: number): Promise<void>;
  /** Removes a batch of audit log entries from before a time; returns whether more may remain. */
  purgeAudit(before: number): Promise<boolean>;
}

/** Lifetime of the outcome of an idempotent request, in milliseconds. */
export const idempotencyLifetimeMs = 24 * 3600 * 1000;
