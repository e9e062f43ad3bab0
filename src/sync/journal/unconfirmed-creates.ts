/**
 * Features that a service reported as created, and that no reading of the map has confirmed: the run was interrupted, or
 * the map did not show them when it was read again. The service may answer from a copy that lags behind, so a run that
 * creates what the map lacks could create them twice.
 *
 * Before a run creates features, a record in the map's state folder names its backup, which lists the ids that the service
 * assigns. It is removed when the map has shown them. Runs with different scopes have records of their own.
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

interface CreatesRecord {
  readonly scope: Scope;
  /** Absolute path of the backup of the run. */
  readonly backup: string;
  /** Ids that the backup does not list: of features that were deleted and created again. */
  readonly recreated: readonly string[];
}

const prefix = "unconfirmed-creates-";

function recordPath(stateFolder: string, scope: Scope): string {
  const hash = createHash("sha256").update(JSON.stringify(scope && [scope.property, scope.value]));
  return join(stateFolder, `${prefix}${hash.digest("hex").slice(0, 12)}.json`);
}

/** Records that a run is about to create features; later also which ones it recreated. @throws output-failed */
export function recordCreates(
  stateFolder: string,
  scope: Scope,
  backup: string,
  recreated: readonly string[] = [],
): void {
  const path = recordPath(stateFolder, scope);
  const record: CreatesRecord = { scope, backup: resolve(backup), recreated };
  try {
    writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  }
}

/** The map has shown what the run created, or is known to have been changed by another client since. */
export const forgetCreates = (stateFolder: string, scope: Scope): void =>
  rmSync(recordPath(stateFolder, scope), { force: true });

/** Features of two different values of a property are never the same. */
const mayOverlap = (one: Scope, other: Scope): boolean =>
  one === null || other === null || one.property !== other.property || one.value === other.value;

/**
 * Stops a run that would compare a source or a backup with a map that does not show such features yet. Lists those that
 * it shows in the table `confirmed` of the workspace.
 * @param workspace with the map as read
 * @returns removes the records, once a run has remembered what it needs
 * @throws creates-not-shown
 */
export async function confirmCreates(
  { stateFolder, client }: Pick<ReadonlySyncRun, "stateFolder" | "client">,
  scope: Scope,
  { database }: Workspace,
): Promise<() => void> {
  database.exec(`
    DROP TABLE IF EXISTS temp.confirmed;
    CREATE TEMP TABLE confirmed (id TEXT PRIMARY KEY) WITHOUT ROWID`);
  const isShown = database.prepare("SELECT 1 FROM map WHERE id = ?");
  const insert = database.prepare("INSERT OR IGNORE INTO confirmed VALUES (?)");
  const paths = recordsIn(stateFolder);
  for (const path of paths) {
    const record = readRecord(path);
    if (!record || !mayOverlap(record.scope, scope)) continue;
    const until = new Date(waitingMs + Math.max(...[path, record.backup].map(changeTime)));
    let features = 0;
    let last = "";
    for await (const ids of idsOf(record))
      for (const id of ids)
        if (isShown.get(id) !== undefined) insert.run(id);
        else {
          features += 1;
          last = id;
        }
    if (features === 0 || until.getTime() <= Date.now()) continue;
    const { url: service, id: map } = client;
    throw createError("creates-not-shown", { service, map, features, id: last, until: until.toISOString(), path });
  }
  return () => {
    for (const path of paths) {
      const record = readRecord(path);
      if (!record || mayOverlap(record.scope, scope)) rmSync(path, { force: true });
    }
  };
}

const recordsIn = (stateFolder: string): string[] =>
  existsSync(stateFolder)
    ? readdirSync(stateFolder)
        .filter((name) => name.startsWith(prefix) && name.endsWith(".json"))
        .map((name) => join(stateFolder, name))
    : [];

/** Null for a damaged record. */
function readRecord(path: string): CreatesRecord | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as CreatesRecord;
  } catch {
    return null;
  }
}

/** Milliseconds since 1970; 0 if there is no such file. The service's last response is the last change of a backup. */
const changeTime = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

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
