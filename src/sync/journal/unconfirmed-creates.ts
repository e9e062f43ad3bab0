/**
 * Features that a service reported as created, and that no reading of the map has confirmed: the run was interrupted, or
 * the map did not show them when it was read again. The service may answer from a copy that lags behind, so a run that
 * creates what the map lacks could create them twice.
 *
 * Before a run creates features, a record in the map's state folder names its backup, which lists the ids that the service
 * assigns. It is removed when the map has shown them and, if features are matched by id, a run of the same job has matched
 * them with its input.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import type { Database } from "../../sqlite/index.js";
import type { OpenPlan, PlanHeader } from "../plan/plan.js";
import { readCreates } from "../plan/plan-creates.js";
import type { UnmatchedCreate } from "../state/created-feature-matcher.js";
import type { ReadonlySyncRun } from "../sync-run.js";
import { shortDigest } from "./backup.js";
import { type IntendedCreate, isIdList, readCreationEntries, readIntendedCreates } from "./backup-reader.js";

type Scope = PlanHeader["settings"]["scope"];

/**
 * How long such features stop runs: longer than caches and replicas usually lag behind, and less than an hour, so that
 * hourly jobs go on.
 */
const waitingMs = 45 * 60 * 1000;

/** How long a record is kept for matching what it lists with the input of the same job. */
const keptMs = 30 * 24 * 60 * 60 * 1000;

interface CreatesRecord {
  readonly scope: Scope;
  /** Path of the backup of the run: absolute, or in the file relative to the state folder if it is there. */
  readonly backup: string;
  /** Ids that the backup does not list: of features that were deleted and created again. */
  readonly recreated: readonly string[];
  /** How the run matches features; by id, its job has yet to learn their ids. */
  readonly matchedBy: "id" | "property";
  /** The map has shown the features, or was changed by another client since. */
  readonly isConfirmed?: boolean;
}

const prefix = "unconfirmed-creates-";

function recordPath(stateFolder: string, backup: string): string {
  const hash = createHash("sha256").update(resolve(backup)).digest("hex").slice(0, 12);
  return join(stateFolder, `${prefix}${hash}.json`);
}

/** Records that a run is about to create features; later also which ones it recreated. @throws output-failed */
export function recordCreates(
  stateFolder: string,
  { key, settings }: Pick<PlanHeader, "key" | "settings">,
  backup: string,
  recreated: readonly string[] = [],
): void {
  const matchedBy = key?.by === "id" ? "id" : "property";
  writeRecord(recordPath(stateFolder, backup), {
    ...{ scope: settings.scope, backup: resolve(backup), recreated, matchedBy },
  });
}

function writeRecord(path: string, record: CreatesRecord): void {
  try {
    const inside = relative(dirname(path), record.backup);
    // Remains valid if the state folder is moved.
    const backup = inside.startsWith("..") || isAbsolute(inside) ? record.backup : inside;
    writeFileSync(`${path}.new`, JSON.stringify({ ...record, backup }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  }
}

/** The map has shown what the run with this backup created, and the state knows it; or another run has undone it. */
export const forgetCreates = (stateFolder: string, backup: string): void =>
  rmSync(recordPath(stateFolder, backup), { force: true });

/** Another client is known to have changed the map since: what it lacks was deleted. @throws output-failed */
export function settleCreates(stateFolder: string, backup: string): void {
  const path = recordPath(stateFolder, backup);
  const record = readRecord(path, stateFolder);
  if (record?.matchedBy === "id") writeRecord(path, { ...record, isConfirmed: true });
  else forgetCreates(stateFolder, backup);
}

/** Features of two different values of a property are never the same. */
const mayOverlap = (one: Scope, other: Scope): boolean =>
  one === null || other === null || one.property !== other.property || one.value === other.value;

interface SeenRecord {
  readonly path: string;
  /** Null if it is damaged. */
  readonly record: CreatesRecord | null;
  /** What the map does not show, and until when runs wait for it (ISO 8601, UTC); null if they do not. */
  readonly missing: { readonly features: number; readonly id: string; readonly until: string } | null;
}

/** The records that concern a run, after it has read the map. */
export interface CreatesRecords {
  /**
   * Stops a run whose plan creates what a record lists, if the map does not show it, or shows it in a form that cannot be
   * matched. @param unmatched features of the map that the records list and this run matches with nothing
   * @throws creates-not-shown, creates-not-matched
   */
  check(plan: OpenPlan, unmatched?: () => Iterable<UnmatchedCreate>): Promise<void>;
  /** Removes what is no longer needed. @param areMatched whether the run has matched all that the map shows */
  settle(areMatched: boolean): void;
}

/**
 * Reads the records, and lists what the map shows of them in the table `confirmed` of the workspace, and in `created_as`
 * the keys of those that were to be matched by an id of their own, with the short digests of what was sent.
 * @param workspace with the map as read
 * @param isCurrent whether the reading is certainly current, so that what it lacks was deleted; absent in runs that send
 * nothing
 * @param undone path of a backup with which the plan undoes a run, whose features it must see
 */
export async function readCreatesRecords(
  { stateFolder, client }: Pick<ReadonlySyncRun, "stateFolder" | "client">,
  scope: Scope,
  { database }: Workspace,
  {
    isCurrent = async () => false,
    undone,
  }: { readonly isCurrent?: () => Promise<boolean>; readonly undone?: string } = {},
): Promise<CreatesRecords> {
  database.exec(`
    DROP TABLE IF EXISTS temp.confirmed;
    CREATE TEMP TABLE confirmed (id TEXT PRIMARY KEY) WITHOUT ROWID;
    DROP TABLE IF EXISTS temp.created_as;
    CREATE TEMP TABLE created_as (key TEXT NOT NULL, digest TEXT NOT NULL)`);
  // Responses and pages may write a UUID in different case.
  const shownId = database.prepare("SELECT id FROM map WHERE id IN (@id, lower(@id), upper(@id)) LIMIT 1").pluck();
  const insert = database.prepare("INSERT OR IGNORE INTO confirmed VALUES (?)");
  const insertKey = database.prepare("INSERT INTO created_as VALUES (?, ?)");
  const seen: SeenRecord[] = [];
  for (const path of recordsIn(stateFolder)) {
    const record = readRecord(path, stateFolder);
    if (record && !mayOverlap(record.scope, scope)) continue;
    if (!record) {
      seen.push({ path, record, missing: null });
      continue;
    }
    let features = 0;
    let last = "";
    for await (const ids of idsOf(record))
      for (const id of ids) {
        const shown = shownId.get({ id });
        if (shown !== undefined) insert.run(shown);
        else {
          features += 1;
          last = id;
        }
      }
    if (record.matchedBy === "id")
      for await (const { key, digest } of intendedCreatesOf(record))
        if (key !== null) insertKey.run(String(key), digest);
    const until = new Date(waitingMs + lastChange(path, record));
    const isWaiting = features > 0 && !record.isConfirmed && until.getTime() > Date.now();
    seen.push({ path, record, missing: isWaiting ? { features, id: last, until: until.toISOString() } : null });
  }
  return {
    async check(plan, unmatched = () => []) {
      const names = { service: client.url, map: client.id };
      for (const { path, record, missing } of seen) {
        if (!record || (!missing && record.matchedBy !== "id")) continue;
        const isAgain = await createsAgain(plan, record, database);
        if (missing && (isAgain || record.backup === undone) && !(await isCurrent()))
          throw createError("creates-not-shown", { ...names, ...missing, path });
        if (!isAgain) continue;
        // What the map shows as it was sent is not one of them: the input has fewer of it now.
        const isSent = database.prepare("SELECT 1 FROM intended WHERE digest = ?");
        const altered = [...unmatched()].filter(({ digest }) => isSent.get(digest) === undefined);
        if (altered.length === 0) continue;
        throw createError("creates-not-matched", { ...names, features: altered.length, id: altered[0]!.id, path });
      }
    },
    settle(areMatched) {
      for (const { path, record, missing } of seen) {
        if (missing) continue;
        const isNeeded = record?.matchedBy === "id" && !areMatched && lastChange(path, record) + keptMs > Date.now();
        if (!isNeeded) rmSync(path, { force: true });
        else if (!record.isConfirmed) writeRecord(path, { ...record, isConfirmed: true });
      }
    },
  };
}

/** Whether a plan creates what the run of a record intended to create, by key or content; or may do so, if it recreated. */
async function createsAgain(plan: OpenPlan, record: CreatesRecord, database: Database): Promise<boolean> {
  const { create, update } = plan.counts;
  if (plan.header.key === null || create + update === 0) return false;
  if (record.recreated.length > 0) return true;
  if (create === 0) return false;
  database.exec(`
    DROP TABLE IF EXISTS temp.intended;
    CREATE TEMP TABLE intended (key TEXT, digest TEXT NOT NULL);
    CREATE INDEX temp.intended_key ON intended (key);
    CREATE INDEX temp.intended_digest ON intended (digest)`);
  const insert = database.prepare("INSERT INTO intended VALUES (?, ?)");
  for await (const { key, digest } of intendedCreatesOf(record)) insert.run(key === null ? null : String(key), digest);
  const isIntended = database.prepare("SELECT 1 FROM intended WHERE key = ? OR digest = ? LIMIT 1");
  for await (const creates of readCreates(plan))
    for (const { key, agreement } of creates)
      if (isIntended.get(key === null ? null : String(key), shortDigest(agreement?.sent ?? "")) !== undefined)
        return true;
  return false;
}

/** Milliseconds since 1970. The service's last response is the last change of a backup. */
const lastChange = (path: string, { backup }: CreatesRecord): number => Math.max(changeTime(path), changeTime(backup));

const recordsIn = (stateFolder: string): string[] =>
  namesIn(stateFolder)
    .filter((name) => name.startsWith(prefix) && name.endsWith(".json"))
    .map((name) => join(stateFolder, name));

/** None in a folder that does not exist, or that the user may not read: only runs that write nothing get so far. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Null for a damaged record. */
function readRecord(path: string, stateFolder: string): CreatesRecord | null {
  try {
    const record = JSON.parse(readFileSync(path, "utf8")) as Partial<CreatesRecord> | null;
    return typeof record?.backup === "string" && Array.isArray(record.recreated)
      ? { ...(record as CreatesRecord), backup: resolve(stateFolder, record.backup) }
      : null;
  } catch {
    return null;
  }
}

/** Milliseconds since 1970; 0 if there is no such file, or if its time has not come: a clock was wrong. */
function changeTime(path: string): number {
  const time = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return time > Date.now() + 60_000 ? 0 : time;
}

/** In groups. A backup that was moved or damaged since has none, or those before the damage. */
async function* idsOf({ backup, recreated }: CreatesRecord): AsyncGenerator<readonly string[]> {
  yield recreated;
  if (!existsSync(backup)) return;
  try {
    for await (const entry of readCreationEntries(backup)) if (isIdList(entry)) yield entry;
  } catch {
    // The run that wrote it was killed while it did.
  }
}

async function* intendedCreatesOf({ backup }: CreatesRecord): AsyncGenerator<IntendedCreate> {
  if (!existsSync(backup)) return;
  try {
    yield* readIntendedCreates(backup);
  } catch {
    // As above.
  }
}
