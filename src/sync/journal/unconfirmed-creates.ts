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
import { join, resolve } from "node:path";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import type { PlanHeader } from "../plan/plan.js";
import type { ReadonlySyncRun } from "../sync-run.js";
import { isIdList, readCreationEntries } from "./backup-reader.js";

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
  /** Absolute path of the backup of the run. */
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
    writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
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
  const record = readRecord(path);
  if (record?.matchedBy === "id") writeRecord(path, { ...record, isConfirmed: true });
  else forgetCreates(stateFolder, backup);
}

/** Features of two different values of a property are never the same. */
const mayOverlap = (one: Scope, other: Scope): boolean =>
  one === null || other === null || one.property !== other.property || one.value === other.value;

/** What follows once a run has remembered what it needs. @param areMatched whether it has matched all that the map shows */
export type SettleRecords = (areMatched: boolean) => void;

/**
 * Stops a run that would compare a source or a backup with a map that does not show such features yet. Lists those that
 * it shows in the table `confirmed` of the workspace.
 * @param workspace with the map as read
 * @param isCurrent whether the reading is certainly current, so that what it lacks was deleted; absent in runs that send
 * nothing
 * @throws creates-not-shown
 */
export async function confirmCreates(
  { stateFolder, client }: Pick<ReadonlySyncRun, "stateFolder" | "client">,
  scope: Scope,
  { database }: Workspace,
  isCurrent: () => Promise<boolean> = async () => false,
): Promise<SettleRecords> {
  database.exec(`
    DROP TABLE IF EXISTS temp.confirmed;
    CREATE TEMP TABLE confirmed (id TEXT PRIMARY KEY) WITHOUT ROWID`);
  // Responses and pages may write a UUID in different case.
  const shownId = database.prepare("SELECT id FROM map WHERE id IN (@id, lower(@id), upper(@id)) LIMIT 1").pluck();
  const insert = database.prepare("INSERT OR IGNORE INTO confirmed VALUES (?)");
  const seen: { readonly path: string; readonly record: CreatesRecord | null }[] = [];
  for (const path of recordsIn(stateFolder)) {
    const record = readRecord(path);
    if (record && !mayOverlap(record.scope, scope)) continue;
    seen.push({ path, record });
    if (!record) continue;
    const until = new Date(waitingMs + lastChange(path, record));
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
    const isSettled = features === 0 || record.isConfirmed || until.getTime() <= Date.now();
    if (isSettled || (await isCurrent())) continue;
    const { url: service, id: map } = client;
    throw createError("creates-not-shown", { service, map, features, id: last, until: until.toISOString(), path });
  }
  return (areMatched) => {
    for (const { path, record } of seen) {
      const isNeeded = record?.matchedBy === "id" && !areMatched && lastChange(path, record) + keptMs > Date.now();
      if (!isNeeded) rmSync(path, { force: true });
      else if (!record.isConfirmed) writeRecord(path, { ...record, isConfirmed: true });
    }
  };
}

/** Milliseconds since 1970. The service's last response is the last change of a backup. */
const lastChange = (path: string, { backup }: CreatesRecord): number => Math.max(changeTime(path), changeTime(backup));

const recordsIn = (stateFolder: string): string[] =>
  existsSync(stateFolder)
    ? readdirSync(stateFolder)
        .filter((name) => name.startsWith(prefix) && name.endsWith(".json"))
        .map((name) => join(stateFolder, name))
    : [];

/** Null for a damaged record. */
function readRecord(path: string): CreatesRecord | null {
  try {
    const record = JSON.parse(readFileSync(path, "utf8")) as Partial<CreatesRecord> | null;
    return typeof record?.backup === "string" && Array.isArray(record.recreated) ? (record as CreatesRecord) : null;
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
