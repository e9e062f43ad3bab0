import type { AuditEntry, WriteOutcome } from "./contract.js";
import type { BucketCount } from "./count-buckets.js";

/**
 * The database operations of `write`: reads and bulk changes in one transaction, which the store commits after `write`
 * has succeeded, and rolls back if it throws. `map` is the number returned by `lockMap`; a feature is identified by its
 * `seq`, which increases with creation. Lists may be empty, and have up to a thousand entries.
 */
export interface WriteTransaction {
  /**
   * The stored outcome of an earlier request with this key, if saved after `since`. Locks the key until the transaction
   * ends; returns "in-flight" if another request holds it.
   */
  readOutcome(key: OutcomeKey, since: number): Promise<StoredOutcome | "in-flight" | null>;
  /** Replaces an expired outcome. */
  saveOutcome(key: OutcomeKey, kept: StoredOutcome, now: number): Promise<void>;

  /** Null if the map does not exist. Blocks other writes to the map until the transaction ends. */
  lockMap(id: string): Promise<LockedMap | null>;
  changeMap(map: number, change: Pick<LockedMap, "revision" | "version" | "features" | "next">): Promise<void>;

  /** Matches of each id or digest, oldest first. */
  findByIds(map: number, ids: readonly string[]): Promise<readonly FeatureMatch[]>;
  findByKeys(field: number, digests: readonly string[]): Promise<readonly FeatureMatch[]>;
  readProperties(map: number, seqs: readonly number[]): Promise<readonly StoredProperties[]>;

  insert(map: number, rows: readonly NewFeatureRow[]): Promise<void>;
  /** Returns the number of rows that differ from before. */
  update(map: number, rows: readonly UpdatedFeatureRow[]): Promise<number>;
  /** Also deletes their keys. */
  remove(map: number, seqs: readonly number[]): Promise<void>;
  /**
   * Deletes all features except these, which are in ascending order, with their keys; returns the number of deleted
   * features.
   */
  removeAllBut(map: number, seqs: readonly number[]): Promise<number>;

  /** Adds to counts, which may be negative, and deletes counts of 0. */
  addCounts(map: number, counts: readonly BucketCount[]): Promise<void>;
  forgetCounts(map: number): Promise<void>;

  /** Adds a field whose keys are not yet read. */
  addKeyField(map: number, field: Pick<KeyField, "name" | "used">): Promise<number>;
  /**
   * Reads the keys of a batch of features after `field.read`; saves and returns the last `seq`, or null after the last
   * batch. Existing keys are kept.
   */
  readKeys(map: number, field: Pick<KeyField, "number" | "name" | "read">): Promise<number | null>;
  /** Also deletes its keys. */
  removeKeyField(field: number): Promise<void>;
  markKeyFieldUsed(field: number, used: number): Promise<void>;
  /** Replaces the keys of features in one field; a null digest deletes the key. */
  putKeys(field: number, keys: readonly StoredKey[]): Promise<void>;

  addAudit(entry: AuditEntry): Promise<void>;
}

export interface OutcomeKey {
  readonly scope: string;
  readonly key: string;
}

export interface StoredOutcome {
  readonly fingerprint: Uint8Array;
  readonly outcome: DoneOutcome;
}
/** Stored as JSON, and therefore without byte arrays. */
export type DoneOutcome = Extract<WriteOutcome, { kind: "done" }>;

export interface LockedMap {
  readonly number: number;
  readonly revision: number;
  readonly version: string;
  readonly features: number;
  /** `seq` of the next feature; the first is 1. */
  readonly next: number;
  readonly keyFields: readonly KeyField[];
}

/** A property whose values identify features of a map, looked up by their digests. */
export interface KeyField {
  readonly number: number;
  readonly name: string;
  /** Increases with each use of a field of the map; orders fields by recency. */
  readonly used: number;
  /**
   * The `seq` up to which keys are indexed; null once all are. Keys of written features are saved from the start, at
   * any position.
   */
  readonly read: number | null;
}

/** A match of the id or key at index `of` in the list that was looked up. */
export interface FeatureMatch {
  readonly of: number;
  readonly seq: number;
  readonly id: string;
}

export interface StoredProperties {
  readonly seq: number;
  readonly properties: string;
}

export interface NewFeatureRow extends StoredProperties {
  readonly id: string;
  readonly geometry: string;
}

export interface UpdatedFeatureRow {
  readonly seq: number;
  /** Null keeps the geometry; an empty geometry is the JSON text "null". */
  readonly geometry: string | null;
  /** Null keeps the properties. */
  readonly properties: string | null;
}

export interface StoredKey {
  readonly seq: number;
  /** `digestRemoteKey` of the key. */
  readonly digest: string | null;
}
