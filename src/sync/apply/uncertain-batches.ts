import { Workspace } from "../../compare/workspace.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import type { RemoteKey, WireFailure, WireSuccess } from "../../remote/wire.js";
import type { Database } from "../../sqlite/index.js";
import { parseAction } from "../plan/parse-action.js";
import type { ApplyRun, WriteAction } from "./apply-run.js";
import type { BatchItem, WriteBatch } from "./batches.js";
import { MapReread } from "./map-reread.js";

type AnsweredOutcome = Extract<WriteOutcome, { readonly kind: "answered" }>;

interface BatchRow {
  readonly batch: number;
  readonly entry: number;
  readonly idempotency: string;
  /** 1 if there was no response. */
  readonly doubt: 0 | 1;
  readonly answer: string;
}
interface ItemRow {
  readonly place: number;
  readonly ordinal: number;
  readonly action: string;
  readonly text: string;
  readonly seen: 0 | 1;
}

/** A batch that may not have been fully applied, and what is known about it. */
export interface UncertainBatch {
  readonly batch: WriteBatch;
  /** Number in the journal. */
  readonly entry: number;
  /** True if there was no response; otherwise the response reported failures or too few successes. */
  readonly isUnanswered: boolean;
  readonly failed: readonly WireFailure[];
  /** Successes that the response reported. */
  readonly success: readonly WireSuccess[];
  /** Indexes, from 0, of features that the map does not have as sent. */
  readonly missingIndexes: readonly number[];
}

const tableDefinitions = `
  CREATE TABLE uncertain_batch (
    batch INTEGER PRIMARY KEY, entry INTEGER NOT NULL, idempotency TEXT NOT NULL, doubt INTEGER NOT NULL, unsent INTEGER NOT NULL,
    answer TEXT NOT NULL);
  CREATE TABLE uncertain_item (
    batch INTEGER NOT NULL, place INTEGER NOT NULL, ordinal INTEGER NOT NULL, key TEXT, id TEXT, digest TEXT NOT NULL,
    action TEXT NOT NULL, text TEXT NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (batch, place)) WITHOUT ROWID`;

/** Conditions under which a sent feature counts as present on the map. */
const presenceSql = {
  /** A feature has its key. */
  create: "EXISTS (SELECT 1 FROM map WHERE map.key = uncertain_item.key)",
  /** The feature has the sent content. */
  update: "EXISTS (SELECT 1 FROM map WHERE map.id = uncertain_item.id AND map.digest = uncertain_item.digest)",
} as const;

/**
 * Batches to settle by rereading the map. They are stored on disk, since all batches of a run can be uncertain. After
 * `rereadMap` they report which of their features the map lacks.
 */
export class UncertainBatches implements AsyncDisposable {
  private readonly database: Database;
  /** Entity tag of the map after `rereadMap`. */
  etag: string | null = null;
  private batchCount = 0;
  private unansweredCount = 0;

  private constructor(
    private readonly run: ApplyRun,
    private readonly kind: "create" | "update",
    private readonly workspace: Workspace,
  ) {
    this.database = workspace.database;
    this.database.exec(tableDefinitions);
  }

  static async create(run: ApplyRun, kind: "create" | "update"): Promise<UncertainBatches> {
    return new UncertainBatches(run, kind, await Workspace.create(run.context.spool));
  }

  get isEmpty(): boolean {
    return this.batchCount === 0;
  }

  /** Whether some had no response: their requests may still be in progress. */
  get hasUnanswered(): boolean {
    return this.unansweredCount > 0;
  }

  /** Whether some had a response, which did not confirm all features. */
  get hasAnswered(): boolean {
    return this.unansweredCount < this.batchCount;
  }

  /**
   * @param answer null if there was no response @param unsent the request was never sent, so the missing response
   * leaves no doubt
   */
  add({ items, idempotencyKey }: WriteBatch, entry: number, answer: AnsweredOutcome | null, unsent = false): void {
    const batch = this.batchCount++;
    if (!answer) this.unansweredCount += 1;
    const addBatch = this.database.prepare("INSERT INTO uncertain_batch VALUES (?, ?, ?, ?, ?, ?)");
    const addItem = this.database.prepare("INSERT INTO uncertain_item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const updated = new Set(this.kind === "update" ? answer?.success.map(({ id }) => id) : []);
    this.workspace.transaction(() => {
      addBatch.run(
        batch,
        entry,
        idempotencyKey,
        answer ? 0 : 1,
        unsent ? 1 : 0,
        JSON.stringify({ failed: answer?.failed ?? [], success: answer?.success ?? [] }),
      );
      items.forEach(({ action, key: own, text, ordinal }, place) => {
        const id = "id" in action ? action.id : null;
        const key = own === null ? null : String(own);
        const digest = this.run.digestOf(action.feature);
        const seen = id !== null && updated.has(id) ? 1 : 0;
        addItem.run(batch, place, ordinal, key, id, digest, stringifyExactly(action), text, seen);
      });
    });
  }

  /**
   * Reads the map and marks the features that it has; a feature that it had once counts as applied. @returns the number
   * of features that it lacks although they were sent and no response rejected them
   */
  async rereadMap(): Promise<number> {
    const { snapshot } = await MapReread.read(this.run, this.workspace);
    this.etag = snapshot.etag;
    this.database.exec(`UPDATE uncertain_item SET seen = 1 WHERE seen = 0 AND ${presenceSql[this.kind]}`);
    const missing = `SELECT count(*) FROM uncertain_item JOIN uncertain_batch USING (batch) WHERE seen = 0 AND NOT unsent`;
    const rejected = "SELECT total(json_array_length(answer, '$.failed')) FROM uncertain_batch";
    return Math.max(0, this.database.prepare(`SELECT (${missing}) - (${rejected})`).pluck().get() as number);
  }

  /** Ids that responses reported as created, and that the map lacks, after `rereadMap`; for batches of creates. */
  findUnseenIds(): readonly string[] {
    if (this.kind === "update") return [];
    return this.database
      .prepare(
        `SELECT json_extract(success.value, '$.id') FROM uncertain_batch, json_each(answer, '$.success') AS success
         WHERE NOT EXISTS (SELECT 1 FROM map WHERE map.id IN (json_extract(success.value, '$.id'),
           lower(json_extract(success.value, '$.id')), upper(json_extract(success.value, '$.id'))))`,
      )
      .pluck()
      .all() as string[];
  }

  /** Number of features from sent batches that the map has, after `rereadMap`. */
  get presentCount(): number {
    return this.database
      .prepare("SELECT count(*) FROM uncertain_item JOIN uncertain_batch USING (batch) WHERE seen AND NOT unsent")
      .pluck()
      .get() as number;
  }

  /** Number of features on the map with one of the keys, after `rereadMap`. */
  countKeys(keys: readonly (RemoteKey | null)[]): number {
    const texts = JSON.stringify(keys.map((key) => (key === null ? null : String(key))));
    return this.database
      .prepare("SELECT count(*) FROM map WHERE key IN (SELECT value FROM json_each(?))")
      .pluck()
      .get(texts) as number;
  }

  /** Digest of the feature with an id, after `rereadMap`; null if the map has no such feature. */
  findDigest(id: string): string | null {
    return (this.database.prepare("SELECT digest FROM map WHERE id = ?").pluck().get(id) as string | undefined) ?? null;
  }

  /** Ids of the map's features with the keys of a batch, after `rereadMap`. */
  findCreatedIds({ batch: { items } }: UncertainBatch): readonly string[] {
    const idOf = this.database.prepare("SELECT id FROM map WHERE key = ?").pluck();
    return items.flatMap(({ key }) => (key === null ? [] : (idOf.all(String(key)) as string[])));
  }

  /** Iterates over the batches in the order of `add`; one is in memory at a time. */
  *[Symbol.iterator](): Generator<UncertainBatch> {
    const next = this.database.prepare("SELECT * FROM uncertain_batch WHERE batch = ?");
    const itemsOf = this.database.prepare(
      "SELECT place, ordinal, action, text, seen FROM uncertain_item WHERE batch = ? ORDER BY place",
    );
    for (let number = 0; number < this.batchCount; number++) {
      const { entry, idempotency, doubt, answer } = next.get(number) as BatchRow;
      const rows = itemsOf.all(number) as ItemRow[];
      yield {
        batch: { items: rows.map(toBatchItem), idempotencyKey: idempotency },
        entry,
        isUnanswered: doubt === 1,
        ...(JSON.parse(answer) as Pick<UncertainBatch, "failed" | "success">),
        missingIndexes: rows.filter(({ seen }) => seen === 0).map(({ place }) => place),
      };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await MapReread.discard(this.workspace);
  }
}

function toBatchItem({ action: written, text, ordinal }: ItemRow): BatchItem {
  const action = parseAction(written) as WriteAction;
  return { action, key: action.key, text, ordinal };
}
