/**
 * Where a service gives no entity tags, another writer can create what a run creates at the same time. So after its
 * creates a run reads the map again and looks for its keys: of features with one key that say the same, the one with the
 * lowest id stays. Whoever creates one reads the map after it, and nobody deletes the lowest; so, however many do this at
 * once, one of them stays, and the last one to look leaves no other.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Statement } from "better-sqlite3";
import { asGeoferryError, fault, type GeoferryError } from "../errors.js";
import { featuresPerRequest } from "../remote/wire.js";
import type { Workspace } from "../remote/workspace.js";
import type { ApplyRun } from "./apply-run.js";
import { type DeleteOutcome, deleteBatch, settleDeletes, type UnclearDelete } from "./delete-batch.js";
import { createsOf, type PlannedCreate } from "./plan-creates.js";
import { repeatedKeys, twinsOf } from "./repeated-keys.js";
import { Reading } from "./settle-reading.js";

/** So often a map is read again that others change all the time. */
const mostReadings = 10;
/** So often it is looked for twins: more come only while others create some. */
const mostRounds = 10;
/** Keys that an error names. */
const mostNamed = 3;

/** The map after a run's creates and updates; what other writers have created as well is there once, where that can be. */
export async function readSettled(run: ApplyRun): Promise<Reading> {
  let reading = await steadyReading(run);
  try {
    if (!canBeDoubled(run)) return reading;
    let hasWaited = false;
    let areRefused = false;
    const keys = new Set<string>();
    for (let round = 0; ; round++) {
      const twins = await Twins.of(reading, run);
      if (twins === null) return withEach(keys, reading, run);
      const { own, others } = twins.count();
      run.doubled = twins.doubledKeys(run);
      if (own + others === 0 || round === mostRounds || areRefused) return withEach(keys, reading, run);
      // Who created the others removes them, unless it had looked before this run created its own.
      const waits: boolean = own === 0 && !hasWaited;
      hasWaited ||= waits;
      const removed = waits ? nothing : await removeTwins(twins, own > 0, keys, run);
      if (waits || removed.unclear.some(({ failed }) => failed === null)) await run.quiet();
      const next = await steadyReading(run);
      const { deleted, refused } = await settleDeletes(removed.unclear, next, run);
      await reading[Symbol.asyncDispose]();
      reading = next;
      run.twins += removed.deleted + deleted;
      if (own > 0) run.counts.created -= removed.deleted + deleted;
      areRefused = refused.size > 0;
      run.doubled = null;
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
function withEach(keys: ReadonlySet<string>, reading: Reading, { chain, header: { service, map } }: ApplyRun): Reading {
  const find = reading.workspace.database.prepare("SELECT 1 FROM map WHERE key = ?");
  for (const key of keys) {
    if (find.get(key) !== undefined) continue;
    chain.lose();
    throw fault("map-changed", { service, map });
  }
  return reading;
}

const nothing: DeleteOutcome = { deleted: 0, unclear: [] };

/** Writes without a condition, of features that have a key. */
const canBeDoubled = ({ chain, plan: { header, counts } }: ApplyRun): boolean =>
  !chain.isOn && header.key?.by === "property" && counts.create + (recreates(header) ? counts.update : 0) > 0;

const recreates = ({ settings }: ApplyRun["header"]): boolean => settings.updateWith === "delete-create";

/** A map that others write to is read when they have paused. */
async function steadyReading(run: ApplyRun): Promise<Reading> {
  for (let reading = 1; ; reading++)
    try {
      return await Reading.take(run);
    } catch (error) {
      const { code } = asGeoferryError(error);
      if (code !== "remote-unsteady" || run.chain.isOn || reading >= mostReadings) throw error;
      const { settle } = run.header.settings;
      await pause(settle * (0.5 + Math.random()), undefined, { signal: run.tools.signal }).catch(() => {
        throw run.interruption();
      });
    }
}

/** Features that have a key which the run created something with, and say the same as another one with a lower id. */
class Twins {
  private constructor(private readonly workspace: Workspace) {}

  /** @returns null where no key of the run is there twice */
  static async of({ workspace }: Reading, run: ApplyRun): Promise<Twins | null> {
    const { database } = workspace;
    const isDoubled = "SELECT 1 FROM map WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1 LIMIT 1";
    if (!database.prepare(isDoubled).get()) return null;
    database.exec(`CREATE TEMP TABLE IF NOT EXISTS own_key (key TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TEMP TABLE IF NOT EXISTS own_id (id TEXT PRIMARY KEY) WITHOUT ROWID`);
    const addKey = database.prepare("INSERT OR IGNORE INTO own_key VALUES (?)");
    const addId = database.prepare("INSERT OR IGNORE INTO own_id VALUES (?)");
    const add = (texts: readonly string[], to: Statement) =>
      workspace.together(() => {
        for (const text of texts) to.run(text);
      });
    for await (const keys of createdKeys(run)) add(keys, addKey);
    for await (const ids of run.record.ids()) add(ids, addId);
    return repeatedKeys(workspace, ofRun).next().done ? null : new Twins(workspace);
  }

  /** Those that go: what the run created, and what others did. */
  count(): { readonly own: number; readonly others: number } {
    let own = 0;
    let others = 0;
    for (const { isOwn } of this.doomed()) {
      if (isOwn) own += 1;
      else others += 1;
    }
    return { own, others };
  }

  *doomed(): Generator<{ readonly id: string; readonly key: string; readonly isOwn: boolean }> {
    const isOwn = this.workspace.database.prepare("SELECT 1 FROM own_id WHERE id = ?");
    for (const repeated of repeatedKeys(this.workspace, ofRun))
      for (const [, ...higher] of twinsOf(repeated))
        for (const { id } of higher) yield { id: id!, key: repeated.key, isOwn: isOwn.get(id) !== undefined };
  }

  /** What to say of them where they stay. */
  doubledKeys({ header }: ApplyRun): GeoferryError {
    const { service, map, key, settings } = header;
    const examples: string[] = [];
    let keys = 0;
    for (const { key: value, rows } of repeatedKeys(this.workspace, ofRun))
      if (++keys <= mostNamed) examples.push(`${JSON.stringify(value)} on ${rows.map(({ id }) => id).join(", ")}`);
    const field = key?.by === "property" ? key.name : "id";
    return fault("keys-doubled", { service, map, field, scope: settings.scope, keys, examples });
  }
}

const ofRun = "key IN (SELECT key FROM own_key)";

/** In groups of those that are at hand. */
async function* createdKeys(run: ApplyRun): AsyncGenerator<readonly string[]> {
  const textsOf = (keys: readonly PlannedCreate["key"][]) => keys.flatMap((key) => (key === null ? [] : [String(key)]));
  for await (const creates of createsOf(run.plan)) yield textsOf(creates.map(({ key }) => key));
  if (recreates(run.header)) for await (const { key } of run.plan.actions(["update"])) yield textsOf([key]);
}

/** @param ownOnly leaves what others created @param keys takes those of what is removed */
async function removeTwins(twins: Twins, ownOnly: boolean, keys: Set<string>, run: ApplyRun): Promise<DeleteOutcome> {
  let deleted = 0;
  const unclear: UnclearDelete[] = [];
  let batch: string[] = [];
  const send = async () => {
    if (batch.length === 0) return;
    run.stopIfAsked();
    const outcome = await deleteBatch(batch, run);
    deleted += outcome.deleted;
    unclear.push(...outcome.unclear);
    batch = [];
  };
  for (const { id, key, isOwn } of twins.doomed()) {
    if (ownOnly && !isOwn) continue;
    keys.add(key);
    if (batch.push(id) === featuresPerRequest) await send();
  }
  await send();
  return { deleted, unclear };
}
