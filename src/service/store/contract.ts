/**
 * What the service keeps, and what it asks for. One contract, kept by two stores: SQLite and PostgreSQL give the same
 * answers to the same calls, to the byte.
 *
 * Every argument and answer is plain data, so that a store may live in another thread. Times are milliseconds since
 * 1970, told by the caller, so that a test can choose them. Ids of maps, accounts and features are UUIDs in lower
 * case. Secrets come as their SHA-256: a store never sees one.
 *
 * A store that cannot be reached throws `store-unavailable` of the service's problems; what is not there is null.
 */

// ---- people and what they sign in with ------------------------------------------------------------------------------

export interface Account {
  readonly id: string;
  /** As it was typed; accounts are distinguished without regard to case. */
  readonly email: string;
  /** Shown to other accounts in place of the email; empty where none was chosen (`displayName`). */
  readonly name: string;
  /** In the PHC string format: `$argon2id$v=19$…`. */
  readonly passwordHash: string;
  readonly created: number;
}

/** A client id and secret that a person made on the profile page (Map Features Service Interface, 5). */
export interface Credential {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly clientId: string;
  readonly created: number;
  readonly lastUsed: number | null;
  readonly revoked: number | null;
}

/** Who sent a request. */
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
  /** Null where no one is known: a failed login. */
  readonly account: string | null;
  readonly map: string | null;
  /** `login`, `login-failed`, `credential-created`, `features-written` … */
  readonly action: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly address: string | null;
}

export interface AccountStore {
  /** False where there is an account with that email. */
  addAccount(account: Account): Promise<boolean>;
  accountByEmail(email: string): Promise<Account | null>;
  accountById(id: string): Promise<Account | null>;
  accounts(): Promise<readonly Account[]>;
  setAccountName(change: { account: string; name: string }): Promise<void>;
  /** Ends the account's sessions, too. */
  setPassword(change: { account: string; passwordHash: string }): Promise<void>;

  addCredential(credential: Credential & { secretHash: Uint8Array }): Promise<void>;
  credentialByClientId(clientId: string): Promise<(Credential & { secretHash: Uint8Array }) | null>;
  /** Newest first. */
  credentials(account: string): Promise<readonly Credential[]>;
  /** Ends its tokens at once. False where the account has no such credential that is not revoked yet. */
  revokeCredential(change: { account: string; credential: string; now: number }): Promise<boolean>;

  addToken(token: { hash: Uint8Array; credential: string; created: number; expires: number }): Promise<void>;
  /** RFC 7009: no matter whether there was one. Only a token of that client is ended. */
  revokeToken(token: { hash: Uint8Array; clientId: string }): Promise<void>;

  addSession(session: { hash: Uint8Array; account: string; created: number; expires: number }): Promise<void>;
  /** Null once it has expired. */
  session(lookup: { hash: Uint8Array; now: number }): Promise<Session | null>;
  /** Moves its end, as a session that is used lives on; nothing where there is none. */
  extendSession(change: { hash: Uint8Array; expires: number }): Promise<void>;
  endSession(hash: Uint8Array): Promise<void>;

  /** A link that makes the first account: kept until it is used or another takes its place. */
  setSetupToken(token: { hash: Uint8Array; expires: number }): Promise<void>;
  /** True once, for the token that is set, before it expires and while there is no account. */
  useSetupToken(token: { hash: Uint8Array; now: number }): Promise<boolean>;

  /**
   * Counts an attempt under each name and says how many there were in the window that began with the first of them;
   * the greatest count, and when its window ends.
   */
  countAttempt(attempt: {
    names: readonly string[];
    now: number;
    window: number;
  }): Promise<{ count: number; until: number }>;
  forgetAttempts(names: readonly string[]): Promise<void>;

  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  auditEntries(question: { map?: string; account?: string; limit: number }): Promise<readonly AuditEntry[]>;
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
  /** Features on it. */
  readonly features: number;
  /** 0 for a new map; grows by one with every write that changed something, of the map itself too. */
  readonly revision: number;
  /** Names this state, also beside states of a restored database that have the same revision (`createMapVersion`). */
  readonly version: string;
}

export interface MapListRequest {
  readonly account: string;
  readonly readable: boolean;
  /** Not more than so many; all of them where it is not told. */
  readonly size?: number;
  /** How many to step over. */
  readonly skip?: number;
  /** Only those behind the place of a map with that name and id, whether there is one or not. */
  readonly after?: Pick<StoredMap, "name" | "id"> | undefined;
}

export interface MapStore {
  addMap(map: { id: string; owner: string; name: string; private: boolean; created: number }): Promise<void>;
  map(id: string): Promise<StoredMap | null>;
  /** Those of one account, and with `readable` also those of others that are not private; by name, then id. */
  maps(question: MapListRequest): Promise<readonly StoredMap[]>;
  changeMap(change: { id: string; name?: string; private?: boolean }): Promise<StoredMap | null>;
  /** With everything on it. False where there is none. */
  deleteMap(id: string): Promise<boolean>;
  /** Who a token belongs to, unless it has expired or was ended, and the map: both in one question, as every request asks. */
  access(question: { tokenHash: Uint8Array; map: string | null; now: number }): Promise<AccessResult>;
}

export interface AccessResult {
  readonly bearer: Bearer | null;
  readonly map: StoredMap | null;
}

// ---- features -------------------------------------------------------------------------------------------------------

/** A page without the texts of its features. */
export interface PageMetadata {
  readonly count: number;
  /** Of the text. */
  readonly bytes: number;
  /** `after: first - 1` asks for the same page again; null where the page is empty. */
  readonly first: number | null;
  /** For `after`, to go on behind the last feature; null where the page is empty. */
  readonly last: number | null;
  /** Whether there are features behind it. */
  readonly more: boolean;
  /** The map's, at the same moment. */
  readonly revision: number;
  readonly version: string;
}

/**
 * Features of a page, in the order of their creation. `text` is UTF-8: the features as JSON objects with `type`, `id`,
 * `geometry`, `properties` in this order, a comma between two, nothing before or behind. Empty where it has more bytes
 * than the question's `maxBytes`.
 */
export interface FeaturePage extends PageMetadata {
  readonly text: Uint8Array;
}

/** Which features: a page by its number, from 1 on, or those behind a place that an earlier page gave as its `last`. */
export type PageRequest = {
  readonly map: string;
  readonly size: number;
  /** Bytes of the text that comes with the page at most, all of it by default; `spool` writes a larger one to a file. */
  readonly maxBytes?: number;
} & ({ readonly page: number; readonly after?: undefined } | { readonly after: number; readonly page?: undefined });

/** The features behind a place, and the bytes that their text may have. */
export type SpoolRequest = Readonly<Record<"size" | "after" | "maxBytes", number>> & { readonly map: string };

/**
 * - `create`: every feature is new (POST);
 * - `upsert`: those with a known key are replaced, the others created (POST with `remoteField`);
 * - `synchronise`: as upsert, and what is not named is deleted (PUT);
 * - `update`: properties are merged, a geometry that is given is replaced (PATCH);
 * - `delete`.
 */
export type WriteKind = "create" | "upsert" | "synchronise" | "update" | "delete";

/** What a write does with one feature. It was validated: its texts are JSON as it is kept. */
export interface WriteItem {
  /** Its place in the request, for `path`. */
  readonly index: number;
  /** The id that was sent, in lower case; null for none. */
  readonly id: string | null;
  /** `digestRemoteKey` of its key, where the write matches by one. */
  readonly key: string | null;
  /** JSON; for `update` undefined leaves the geometry as it is. */
  readonly geometry?: string;
  /** JSON object; for `update` what is merged into the properties: null removes one. */
  readonly properties?: string;
  /** Why it cannot be written: it only protects what it names from deletion. */
  readonly failure?: FeatureFailure;
}

export interface FeatureFailure {
  /** Below the feature: `geometry.coordinates[1]`; "" for the feature as a whole. */
  readonly path: string;
  readonly message: string;
}

export interface WriteRequest {
  readonly map: string;
  readonly kind: WriteKind;
  /** Name of the property that `key` is of; null where ids match. */
  readonly remoteField: string | null;
  /** For `update`: what becomes of properties that are sent as null; they are removed where this is absent. */
  readonly nulls?: "remove" | "set";
  readonly items: readonly WriteItem[];
  /** Nothing is applied unless everything is (RFC 7240, `handling=strict`). */
  readonly strict: boolean;
  /** The map's version must be one of these (If-Match); null for any. */
  readonly versions: readonly string[] | null;
  /**
   * Answers the same request with the same outcome for a while (Idempotency-Key): `scope` is the account, `fingerprint`
   * a SHA-256 of method, address and body.
   */
  readonly idempotency: { readonly scope: string; readonly key: string; readonly fingerprint: Uint8Array } | null;
  readonly now: number;
  /** Written to the audit log, if anything changed; counts are added to its detail. */
  readonly audit: Pick<AuditEntry, "account" | "action" | "address">;
}

export interface WrittenFeature {
  readonly index: number;
  readonly id: string;
  readonly what: "created" | "updated" | "deleted";
}

/** What an answer tells of features that a write was carried out on. */
export interface WriteResultJson {
  /** A list of objects. */
  readonly json: string;
  readonly count: number;
  /** How many of them were created. */
  readonly created: number;
}

export interface FailedFeature extends FeatureFailure {
  readonly index: number;
  /** Of the feature that it names on the map, else the id that was sent, else the nil UUID. */
  readonly id: string;
}

export type WriteOutcome =
  /** Carried out, or nothing of it where all failed; in the order of the request. */
  | {
      readonly kind: "done";
      readonly success: readonly WrittenFeature[];
      /** The same, where the store has made it in a thread of its own. */
      readonly text?: WriteResultJson;
      readonly failed: readonly FailedFeature[];
      /** By a full synchronisation: features that were not named. */
      readonly deleted: number;
      readonly revision: number;
      readonly version: string;
      /**
       * The remote field that the map no longer looks up, as the request named a ninth: the one that was not used for
       * longest. The next write by it reads its keys again.
       */
      readonly droppedField?: string;
      /** Whether this outcome was kept from an earlier request with the same Idempotency-Key. */
      readonly replayed: boolean;
    }
  /** `strict`, and some failed: nothing was applied. */
  | { readonly kind: "refused"; readonly failed: readonly FailedFeature[] }
  | { readonly kind: "other-version"; readonly version: string }
  | { readonly kind: "key-used-otherwise" }
  | { readonly kind: "key-in-flight" }
  /** Deleted meanwhile. */
  | { readonly kind: "no-map" };

export interface FeatureStore {
  /**
   * Null where there is no such map. A page costs the same at any depth.
   * @throws bad-query of the service's problems where its features are too large together
   */
  page(question: PageRequest): Promise<FeaturePage | null>;
  /**
   * Writes the text of a page to a file, from its beginning, a piece after the other and all of one state; nothing
   * where it has more than `maxBytes` bytes, or no feature. Null where there is no such map.
   * @param file number of an open file of this process
   * @throws disk-full of the service's problems where the file's disk is full
   */
  spool(question: SpoolRequest, file: number): Promise<PageMetadata | null>;
  /** One transaction; writes to one map are serial. What it reported survives the loss of power. */
  write(request: WriteRequest): Promise<WriteOutcome>;
}

/** A client's way through a map, page by page by numbers. */
export interface PaginationSession {
  readonly map: string;
  readonly size: number;
  readonly credential: string;
  /** Tells tokens of the credential apart: the time when it expires. */
  readonly token: number;
}

/** Where a page ended that had as many features as were asked for. */
export interface PaginationCursor {
  /** Of the loop. */
  readonly token: number;
  /** Place of its last feature. */
  readonly after: number;
  /** Of the map when it was read. */
  readonly version: string;
  /** Whether it was the page of its number in that state of the map. */
  readonly isExact: boolean;
  readonly at: number;
}

/** What is known of pages that were read a moment ago; a store may forget it. */
export interface PaginationCursorStore {
  /** Ends of the page of a number, in loops with any token of the credential, that were kept since. */
  findCursors(question: { loop: PaginationSession; page: number; since: number }): Promise<readonly PaginationCursor[]>;
  /**
   * Keeps the end of a page; null where it was the last. Of the loops with the same token, forgets the end that is
   * furthest on of the page before the one before, as a client that asks for a page has the one before; behind the last
   * page, of the one before, too.
   */
  saveCursor(kept: { loop: PaginationSession; page: number; end: PaginationCursor | null; now: number }): Promise<void>;
}

// ---- the whole ------------------------------------------------------------------------------------------------------

export interface Store extends AccountStore, MapStore, FeatureStore, PaginationCursorStore, AsyncDisposable {
  /** What it is, for logs: "sqlite", "postgresql". */
  readonly name: string;
  /** Throws where the store does not answer. */
  ping(): Promise<void>;
  /** Removes what has expired: tokens, sessions, attempts, kept outcomes of idempotent requests (24 hours). */
  purge(now: number): Promise<void>;
  /** Removes some of the audit log's oldest entries, from before a time; answers whether there may be more of them. */
  purgeAudit(before: number): Promise<boolean>;
}

/** How long the outcome of an idempotent request is kept, in milliseconds. */
export const idempotencyLifetimeMs = 24 * 3600 * 1000;
