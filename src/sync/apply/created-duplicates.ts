/**
 * Where a service gives no entity tags, another writer can create what a run creates at the same time. So after its
 * creates a run reads the map again and looks for its keys: of features with one key that say exactly the same, the
 * one with the lowest id stays. Whoever creates one reads the map after it, and nobody deletes the lowest; so, however many do this at
 * once, one of them stays, and the last one to look leaves no other.
 */
import type { Statement } from "better-sqlite3";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import { maxFeaturesPerRequest } from "../../remote/wire.js";
import { jitteredPause } from "../jittered-pause.js";
import { findDuplicateKeys, groupByContent } from "../keys/duplicate-keys.js";
import { type PlannedCreate, readCreates } from "../plan/plan-creates.js";
import type { ApplyRun } from "./apply-run.js";
import { type DeleteOutcome, deleteBatch, resolveDeletes, type UncertainDelete } from "./delete-batch.js";
import { MapReread } from "./map-reread.js";

/** So often a map is read again that others change all the time. */
const maxReads = 10;
/** So often it is looked for twins: more come only while others create some. */
const maxRounds = 10;
/** Keys that an error names. */
const maxNamedKeys = 3;

/** The map after a run's creates and updates; what other writers have created as well is there once, where that can be. */
export async function readWithoutDuplicates(run: ApplyRun): Promise<MapReread> {
  let reading = await readStableMap(run);
  try {
    if (!mayHaveDuplicates(run)) return reading;
    let hasWaited = false;
    let areRefused = false;
    const keys = new Set<string>();
    for (let round = 0; ; round++) {
      const twins = await CreatedDuplicates.find(reading, run);
      if (twins === null) return checkKeysPresent(keys, reading, run);
      const { own, others } = twins.count();
      run.duplicatesError = twins.createDuplicatesError(run);
      if (own + others === 0 || round === maxRounds || areRefused) return checkKeysPresent(keys, reading, run);
      // Who created the others removes them, unless it had looked before this run created its own.
      const waits: boolean = own === 0 && !hasWaited;
      hasWaited ||= waits;
      const removed = waits ? nothingDeleted : await deleteDuplicates(twins, own > 0, keys, run);
      if (waits || removed.uncertain.some(({ failed }) => failed === null)) await run.waitSettleTime();
      const next = await readStableMap(run);
      const { deleted, refused } = await resolveDeletes(removed.uncertain, next, run);
      await reading[Symbol.asyncDispose]();
      reading = next;
      run.removedDuplicates += removed.deleted + deleted;
      if (own > 0) run.counts.created -= removed.deleted + deleted;
      areRefused = refused.size > 0;
      run.duplicatesError = null;
    }
  } catch (error) {
    await reading[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * The reading, where it has every key that features were removed of. The one that was to stay can be gone by then, as
 * who created it can have removed it: then the run is to begin anew.
 * @throws map-changed
 */
function checkKeysPresent(
  keys: ReadonlySet<string>,
  reading: MapReread,
  { etagChain, header: { service, map } }: ApplyRun,
): MapReread {
  const find = reading.workspace.database.prepare("SELECT 1 FROM map WHERE key = ?");
  for (const key of keys) {
    if (find.get(key) !== undefined) continue;
    etagChain.markLost();
    throw createError("map-changed", { service, map });
  }
  return reading;
}

const nothingDeleted: DeleteOutcome = { deleted: 0, uncertain: [] };

/** Writes without a condition, of features that have a key. */
const mayHaveDuplicates = ({ etagChain, plan: { header, counts } }: ApplyRun): boolean =>
  !etagChain.isActive &&
  header.key?.by === "property" &&
  counts.create + (updatesByRecreating(header) ? counts.update : 0) > 0;

const updatesByRecreating = ({ settings }: ApplyRun["header"]): boolean => settings.updateWith === "delete-create";

/** A map that others write to is read when they have paused. */
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

/** Features that have a key which the run created something with, and say the same as another one with a lower id. */
class CreatedDuplicates {
  private constructor(private readonly workspace: Workspace) {}

  /** @returns null where no key of the run is there twice */
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

  /** Those that go: what the run created, and what others did. */
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

  /** What to say of them where they stay. */
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

/** In groups of those that are at hand. */
async function* readCreatedKeys(run: ApplyRun): AsyncGenerator<readonly string[]> {
  const textsOf = (keys: readonly PlannedCreate["key"][]) => keys.flatMap((key) => (key === null ? [] : [String(key)]));
  for await (const creates of readCreates(run.plan)) yield textsOf(creates.map(({ key }) => key));
  if (updatesByRecreating(run.header)) for await (const { key } of run.plan.actions(["update"])) yield textsOf([key]);
}

/** @param ownOnly leaves what others created @param keys takes those of what is removed */
async function deleteDuplicates(
  twins: CreatedDuplicates,
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
  for (const { id, key, isOwn } of twins.findRemovable()) {
    if (ownOnly && !isOwn) continue;
    keys.add(key);
    if (batch.push(id) === maxFeaturesPerRequest) await send();
  }
  await send();
  return { deleted, uncertain };
}
