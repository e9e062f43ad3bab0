import type { AuditEntry, WriteOutcome } from "./contract.js";
import type { BucketCount } from "./count-buckets.js";

/**
 * What `write` asks of a database: plain reads and bulk changes, all in one transaction that the store commits when
 * `write` has answered and rolls back when it threw. `map` is the number that `lockMap` gave; a feature is named by
 * its `seq`, which grows in the order of creation. Lists may be empty, and hold up to a thousand entries.
 */
export interface WriteTransaction {
  /**
   * What an earlier request with this key came to, if it was kept after `since`. No other request may use the key until
   * the transaction ends: "in-flight" where one does.
   */
  readOutcome(key: OutcomeKey, since: number): Promise<StoredOutcome | "in-flight" | null>;
  /** Takes the place of one that is too old. */
  saveOutcome(key: OutcomeKey, kept: StoredOutcome, now: number): Promise<void>;

  /** Null where there is none. No other write to the map begins until the transaction ends. */
  lockMap(id: string): Promise<LockedMap | null>;
  changeMap(map: number, change: Pick<LockedMap, "revision" | "version" | "features" | "next">): Promise<void>;

  /** Oldest first for each id or digest. */
  findByIds(map: number, ids: readonly string[]): Promise<readonly FeatureMatch[]>;
  findByKeys(field: number, digests: readonly string[]): Promise<readonly FeatureMatch[]>;
  readProperties(map: number, seqs: readonly number[]): Promise<readonly StoredProperties[]>;

  insert(map: number, rows: readonly NewFeatureRow[]): Promise<void>;
  /** How many of them were not so before. */
  update(map: number, rows: readonly UpdatedFeatureRow[]): Promise<number>;
  /** With their keys. */
  remove(map: number, seqs: readonly number[]): Promise<void>;
  /** All features of the map but these, which are in ascending order, with their keys; how many there were. */
  removeAllBut(map: number, seqs: readonly number[]): Promise<number>;

  /** Adds to counts, which may be negative; one that comes to 0 goes. */
  addCounts(map: number, counts: readonly BucketCount[]): Promise<void>;
  forgetCounts(map: number): Promise<void>;

  /** Its keys are still to be read. */
  addKeyField(map: number, field: Pick<KeyField, "name" | "used">): Promise<number>;
  /**
   * Reads the keys of the next features behind `field.read`, as many as others may wait for; keeps and answers up to
   * where, null where these were the last. A key that is there already stays.
   */
  readKeys(map: number, field: Pick<KeyField, "number" | "name" | "read">): Promise<number | null>;
  /** With its keys. */
  removeKeyField(field: number): Promise<void>;
  markKeyFieldUsed(field: number, used: number): Promise<void>;
  /** Keys of features in one field, in place of those that they had; null for none. */
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
/** What is kept as JSON, and so has no byte arrays in it. */
export type DoneOutcome = Extract<WriteOutcome, { kind: "done" }>;

export interface LockedMap {
  readonly number: number;
  readonly revision: number;
  readonly version: string;
  readonly features: number;
  /** `seq` of the next feature; of the first one it is 1. */
  readonly next: number;
  readonly keyFields: readonly KeyField[];
}

/** A property whose values identify features of a map: they are looked up by their digests. */
export interface KeyField {
  readonly number: number;
  readonly name: string;
  /** Greater than that of the fields of the map that were used before. */
  readonly used: number;
  /**
   * The `seq` up to which keys of features were read; null once all were. Features that are written have their keys
   * kept from the beginning, wherever they are.
   */
  readonly read: number | null;
}

/** A feature that was found by the id or key at this place of the list that was asked for. */
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
  /** Null leaves it as it is: no geometry is the JSON text "null". */
  readonly geometry: string | null;
  /** Null leaves them as they are. */
  readonly properties: string | null;
}

export interface StoredKey {
  readonly seq: number;
  /** `digestRemoteKey` of the key. */
  readonly digest: string | null;
}
