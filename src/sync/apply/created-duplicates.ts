/**
 * Removes concurrently created duplicates. If a service sends no entity tags, another writer can create the same
 * features at the same time as a run. So after its creates, a run reads the map again and looks for its keys: of
 * features with the same key and exactly the same content, the one with the lowest id stays. Every writer reads the map
 * after its creates, and none deletes the lowest id; so with any number of concurrent writers one copy stays, and the
 * last one to check leaves no other.
 */

import type { Workspace } from "../../compare/workspace.js";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { maxFeaturesPerRequest } from "../../remote/wire.js";
import type { Statement } from "../../sqlite/index.js";
import { jitteredPause } from "../jittered-pause.js";
import { settleCreates } from "../journal/unconfirmed-creates.js";
import { findDuplicateKeys, groupByContent } from "../keys/duplicate-keys.js";
import { type PlannedCreate, readCreates } from "../plan/plan-creates.js";
import type { ApplyRun } from "./apply-run.js";
import { type DeleteOutcome, deleteBatch, resolveDeletes, type UncertainDelete } from "./delete-batch.js";
import { MapReread } from "./map-reread.js";

/** Maximum attempts to read a map that changes constantly. */
const maxReads = 10;
/** Maximum rounds of duplicate removal: new duplicates appear only while others create some. */
const maxRounds = 10;
/** Maximum keys that an error lists. */
const maxNamedKeys = 3;

/**
 * Reads the map after the creates and updates of a run, and removes features that other writers also created, if
 * possible.
 */
export async function readWithoutDuplicates(run: ApplyRun): Promise<MapReread> {
  let reading = await readStableMap(run);
  try {
    if (!mayHaveDuplicates(run)) return reading;
    let hasWaited = false;
    let wereRefused = false;
    const keys = new Set<string>();
    for (let round = 0; ; round++) {
      const duplicates = await CreatedDuplicates.find(reading, run);
      if (duplicates === null) return checkKeysPresent(keys, reading, run);
      const { own, others } = duplicates.count();
      run.duplicatesError = duplicates.createDuplicatesError(run);
      if (own + others === 0 || round === maxRounds || wereRefused) return checkKeysPresent(keys, reading, run);
      // The writer of the other copies removes them, unless it checked before this run created its own.
      const shouldWait: boolean = own === 0 && !hasWaited;
      hasWaited ||= shouldWait;
      // What the map shows now is not late, and some of it goes.
      if (!shouldWait) settleCreates(run.context.stateFolder, run.context.backupPath);
      const removed = shouldWait ? nothingDeleted : await deleteDuplicates(duplicates, own > 0, keys, run);
      if (shouldWait || removed.uncertain.some(({ failed }) => failed === null)) await run.waitSettleTime();
      const next = await readStableMap(run);
      const { deleted, refused } = await resolveDeletes(removed.uncertain, next, run);
      await reading[Symbol.asyncDispose]();
      reading = next;
      run.removedDuplicates += removed.deleted + deleted;
      if (own > 0) run.counts.created -= removed.deleted + deleted;
      wereRefused = refused.size > 0;
      run.duplicatesError = null;
    }
  } catch (error) {
    await reading[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Verifies that the map still has every key of removed duplicates. The copy that was meant to stay may have been
 * removed by its creator; then the run must start again.
 * @throws map-changed
 */
function checkKeysPresent(keys: ReadonlySet<string>, reading: MapReread, run: ApplyRun): MapReread {
  const find = reading.workspace.database.prepare("SELECT 1 FROM map WHERE key = ?");
  for (const key of keys) if (find.get(key) === undefined) throw run.createConflictError();
  return reading;
}

const nothingDeleted: DeleteOutcome = { deleted: 0, uncertain: [] };

/** Whether the run created features with a property key without a precondition. */
const mayHaveDuplicates = ({ etagChain, plan: { header, counts } }: ApplyRun): boolean =>
  !etagChain.isActive &&
  header.key?.by === "property" &&
  counts.create + (updatesByRecreating(header) ? counts.update : 0) > 0;

const updatesByRecreating = ({ settings }: ApplyRun["header"]): boolean => settings.updateWith === "delete-create";

/** Reads the map; retries after a pause while other clients change it. */
async function readStableMap(run: ApplyRun): Promise<MapReread> {
  for (let reading = 1; ; reading++)
    try {
      return await MapReread.read(run);
    } catch (error) {
      const { code } = asGeoferryError(error);
      if (code !== "remote-changed-during-read" || run.etagChain.isActive || reading >= maxReads) throw error;
      const { settleTime } = run.header.settings;
      await jitteredPause(settleTime, run.context.signal);
    }
}

/** Features whose key the run created, with the same content as another feature with a lower id. */
class CreatedDuplicates {
  private constructor(private readonly workspace: Workspace) {}

  /** @returns null if no key of the run has duplicates */
  static async find({ workspace }: MapReread, run: ApplyRun): Promise<CreatedDuplicates | null> {
    const { database } = workspace;
    const isDoubled = "SELECT 1 FROM map WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1 LIMIT 1";
    if (!database.prepare(isDoubled).get()) return null;
    database.exec(`CREATE TEMP TABLE IF NOT EXISTS own_key (key TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TEMP TABLE IF NOT EXISTS own_id (id TEXT PRIMARY KEY) WITHOUT ROWID`);
    const addKey = database.prepare("INSERT OR IGNORE INTO own_key VALUES (?)");
    const addId = database.prepare("INSERT OR IGNORE INTO own_id VALUES (?)");
    const add = (texts: readonly string[], to: Statement) =>
      workspace.transaction(() => {
        for (const text of texts) to.run(text);
      });
    for await (const keys of readCreatedKeys(run)) add(keys, addKey);
    for await (const ids of run.creationRecorder.readIds()) add(ids, addId);
    return findDuplicateKeys(workspace, ownKeysCondition).next().done ? null : new CreatedDuplicates(workspace);
  }

  /** Counts the removable features created by this run and by others. */
  count(): { readonly own: number; readonly others: number } {
    let own = 0;
    let others = 0;
    for (const { isOwn } of this.findRemovable()) {
      if (isOwn) own += 1;
      else others += 1;
    }
    return { own, others };
  }

  *findRemovable(): Generator<{ readonly id: string; readonly key: string; readonly isOwn: boolean }> {
    const isOwn = this.workspace.database.prepare("SELECT 1 FROM own_id WHERE id = ?");
    for (const repeated of findDuplicateKeys(this.workspace, ownKeysCondition))
      for (const [, ...higher] of groupByContent(repeated))
        for (const { id } of higher) yield { id: id!, key: repeated.key, isOwn: isOwn.get(id) !== undefined };
  }

  /** The error to report if the duplicates stay. */
  createDuplicatesError({ header }: ApplyRun): GeoferryError {
    const { service, map, key, settings } = header;
    const examples: string[] = [];
    let keys = 0;
    for (const { key: value, rows } of findDuplicateKeys(this.workspace, ownKeysCondition))
      if (++keys <= maxNamedKeys) examples.push(`${JSON.stringify(value)} on ${rows.map(({ id }) => id).join(", ")}`);
    const field = key?.by === "property" ? key.name : "id";
    return createError("duplicates-created", { service, map, field, scope: settings.scope, keys, examples });
  }
}

const ownKeysCondition = "key IN (SELECT key FROM own_key)";

/** Yields the keys in groups, as they become available. */
async function* readCreatedKeys(run: ApplyRun): AsyncGenerator<readonly string[]> {
  const textsOf = (keys: readonly PlannedCreate["key"][]) => keys.flatMap((key) => (key === null ? [] : [String(key)]));
  for await (const creates of readCreates(run.plan)) yield textsOf(creates.map(({ key }) => key));
  if (updatesByRecreating(run.header)) for await (const { key } of run.plan.actions(["update"])) yield textsOf([key]);
}

/** @param ownOnly keeps features created by others @param keys receives the keys of removed features */
async function deleteDuplicates(
  duplicates: CreatedDuplicates,
  ownOnly: boolean,
  keys: Set<string>,
  run: ApplyRun,
): Promise<DeleteOutcome> {
  let deleted = 0;
  const uncertain: UncertainDelete[] = [];
  let batch: string[] = [];
  const send = async () => {
    if (batch.length === 0) return;
    run.throwIfAborted();
    const outcome = await deleteBatch(batch, run);
    deleted += outcome.deleted;
    uncertain.push(...outcome.uncertain);
    batch = [];
  };
  for (const { id, key, isOwn } of duplicates.findRemovable()) {
    if (ownOnly && !isOwn) continue;
    keys.add(key);
    if (batch.push(id) === maxFeaturesPerRequest) await send();
  }
  await send();
  return { deleted, uncertain };
}
