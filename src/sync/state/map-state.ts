/**
 * What is known of a map from one run to the next: what both sides agreed on, feature by feature, and how the service
 * behaves. It only spares work: without it, or with a damaged one, everything is compared again.
 */
import { createHash } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Database, Statement } from "better-sqlite3";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { journalSuffixes } from "../../io/output/temporary-names.js";
import { canonicalValue } from "../../remote/snapshot/canonical-feature.js";
import { ensurePrivateFile } from "./state-folder.js";

/** A feature on which both sides agreed. */
export interface BaselineDigests {
  /** Digest of the source's feature when it was sent, hexadecimal. */
  readonly sent: string;
  /** Digest of what the map then had. */
  readonly held: string;
}

/** Features by what `Agreement` (plan.ts) calls them. */
export interface Baseline {
  /** Nothing is known. */
  readonly isEmpty: boolean;
  getDigests(name: string): BaselineDigests | null;
  /** The id that the service gave a feature that came without one, or with one that the map does not know. */
  getAssignedId(name: string): string | null;
}

export interface NewBaselineEntry extends BaselineDigests {
  readonly name: string;
  /** What `givenId` shall say; null where the name says it, or nobody asks. */
  readonly assignedId: string | null;
  /**
   * What was read back is what was sent, but for rounding and the like. Else it may be somebody else's change: it counts
   * once the same was sent again and the same was read back again.
   */
  readonly isConfirmed: boolean;
}

/** A run after which map and source were equal in the sense of its mode. */
export interface SyncedState {
  /** Of the whole map. */
  readonly etag: string | null;
  /** Fingerprint of the source. */
  readonly source: string;
}

export interface OpenedState {
  readonly state: MapState;
  /** Said to people: an older file could not be used. */
  readonly notice: string | null;
}

/** "gfst" as a big-endian integer, so that `file` and we know the file for what it is. */
const applicationId = 0x67667374;
const schemaVersion = 2;
/** So many ways to compare a map are remembered: jobs with other keys or scopes have their own. */
const maxBaselines = 32;
const maxTrackedNames = 10_000;

const schemaSql = `
  CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE basis (number INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, used INTEGER NOT NULL);
  CREATE TABLE agreed (basis INTEGER NOT NULL, name TEXT NOT NULL, sent BLOB NOT NULL, held BLOB NOT NULL, id TEXT,
    sure INTEGER NOT NULL, PRIMARY KEY (basis, name)) WITHOUT ROWID;
  CREATE TABLE settled (settings TEXT PRIMARY KEY, etag TEXT, source TEXT NOT NULL, used INTEGER NOT NULL)
    WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};`;

/** Stands for settings, in whatever order their names are: hexadecimal. */
export const hashOfSettings = (settings: object): string =>
  createHash("sha256").update(canonicalValue(settings)).digest("hex");

/** What is known of a map, as those see it who compare it and write nothing. */
export interface ReadonlyMapState extends Disposable {
  getNote(name: string): string | null;
  openBaseline(basis: string): Baseline;
}

const emptyBaseline: Baseline = { isEmpty: true, getDigests: () => null, getAssignedId: () => null };
const emptyState: ReadonlyMapState = {
  getNote: () => null,
  openBaseline: () => emptyBaseline,
  [Symbol.dispose]: () => {},
};

/**
 * Looks at the state in the folder of a map, which another run may be writing. Nothing is known where there is none, or
 * one that is of no use.
 */
export async function openStateReadonly(folder: string): Promise<ReadonlyMapState> {
  const path = join(folder, "state.db");
  if (!existsSync(path)) return emptyState;
  const { default: Sqlite } = await import("better-sqlite3");
  let database: Database | undefined;
  try {
    database = new Sqlite(path, { readonly: true });
    const seen = database;
    if (!hasApplicationId(seen) || seen.pragma("user_version", { simple: true }) !== schemaVersion)
      throw new Error("another's");
    const number = seen.prepare("SELECT number FROM basis WHERE hash = ?").pluck();
    return {
      getNote: (name) => selectNote(seen, name),
      openBaseline(basis) {
        const found = number.get(basis) as number | undefined;
        return found === undefined ? emptyBaseline : new StoredBaseline(seen, found);
      },
      [Symbol.dispose]: () => seen.close(),
    };
  } catch {
    database?.close();
    return emptyState;
  }
}

const hasApplicationId = (database: Database): boolean =>
  database.pragma("application_id", { simple: true }) === applicationId;

const selectNote = (database: Database, name: string): string | null =>
  (database.prepare("SELECT value FROM note WHERE name = ?").pluck().get(name) as string | undefined) ?? null;

export class MapState implements ReadonlyMapState {
  private constructor(private readonly database: Database) {}

  /**
   * Opens the state in the folder of a map, or begins one. One that is damaged, or of another geoferry, is set aside.
   * The caller has the lock of the map.
   * @throws output-failed
   */
  static async open(folder: string): Promise<OpenedState> {
    const path = join(folder, "state.db");
    try {
      const { default: Sqlite } = await import("better-sqlite3");
      const found = openDatabase(new Sqlite(ensurePrivateFile(path)));
      if (typeof found !== "string") return { state: new MapState(found), notice: null };
      const aside = `${path}.set-aside`;
      moveAside(path, aside);
      const anew = openDatabase(new Sqlite(ensurePrivateFile(path)));
      if (typeof anew === "string") throw new Error(anew);
      const notice = `${path}: ${found}; it was set aside as ${aside}, and everything is compared anew`;
      return { state: new MapState(anew), notice };
    } catch (error) {
      throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
    }
  }

  /** A thing that is remembered of the map: its key, how its service updates. */
  getNote(name: string): string | null {
    return selectNote(this.database, name);
  }

  setNote(name: string, value: string): void {
    this.database.prepare("INSERT OR REPLACE INTO note VALUES (?, ?)").run(name, value);
  }

  /** What was agreed on where sides were compared in this way (`settingsHash` of all that digests and keys depend on). */
  openBaseline(basis: string): StoredBaseline {
    const used = Date.now();
    this.database
      .prepare("INSERT INTO basis (hash, used) VALUES (@basis, @used) ON CONFLICT (hash) DO UPDATE SET used = @used")
      .run({ basis, used });
    this.pruneBaselines();
    const number = this.database.prepare("SELECT number FROM basis WHERE hash = ?").pluck().get(basis) as number;
    return new StoredBaseline(this.database, number);
  }

  /** After which run with these settings (`settingsHash`) both sides were equal; null where none was. */
  getSyncedState(settings: string): SyncedState | null {
    const row = this.database.prepare("SELECT etag, source FROM settled WHERE settings = ?").get(settings);
    return (row as SyncedState | undefined) ?? null;
  }

  /** Remembers it, or with null that they are equal no more. */
  setSyncedState(settings: string, settled: SyncedState | null): void {
    this.database.prepare("DELETE FROM settled WHERE settings = ?").run(settings);
    if (settled === null) return;
    const { etag, source } = settled;
    this.database.prepare("INSERT INTO settled VALUES (?, ?, ?, ?)").run(settings, etag, source, Date.now());
    const late = `SELECT settings FROM settled ORDER BY used DESC LIMIT -1 OFFSET ${maxBaselines}`;
    this.database.exec(`DELETE FROM settled WHERE settings IN (${late})`);
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  private pruneBaselines(): void {
    const late = `SELECT number FROM basis ORDER BY used DESC, number DESC LIMIT -1 OFFSET ${maxBaselines}`;
    this.database.exec(`DELETE FROM agreed WHERE basis IN (${late}); DELETE FROM basis WHERE number IN (${late});`);
  }
}

const selectDigestsSql =
  "SELECT lower(hex(sent)) AS sent, lower(hex(held)) AS held FROM agreed WHERE basis = ? AND name = ?";

/** What was agreed on in one way to compare. */
export class StoredBaseline implements Baseline {
  private readonly selectConfirmed: Statement;
  private readonly selectDigests: Statement;
  private readonly selectId: Statement;
  private readonly insertEntry: Statement;
  private readonly deleteEntry: Statement;
  /** Names that were put here, where there were none before: no others need be dropped. Null where there are too many. */
  private trackedNames: Set<string> | null;

  constructor(
    private readonly database: Database,
    private readonly basisNumber: number,
  ) {
    this.selectConfirmed = database.prepare(`${selectDigestsSql} AND sure = 1`);
    this.selectDigests = database.prepare(selectDigestsSql);
    this.selectId = database.prepare("SELECT id FROM agreed WHERE basis = ? AND name = ?").pluck();
    this.insertEntry = database.prepare("INSERT OR REPLACE INTO agreed VALUES (?, ?, unhex(?), unhex(?), ?, ?)");
    this.deleteEntry = database.prepare("DELETE FROM agreed WHERE basis = ? AND name = ?");
    this.trackedNames = this.isEmpty ? new Set() : null;
  }

  get isEmpty(): boolean {
    return this.database.prepare("SELECT 1 FROM agreed WHERE basis = ? LIMIT 1").get(this.basisNumber) === undefined;
  }

  getDigests(name: string): BaselineDigests | null {
    return (this.selectConfirmed.get(this.basisNumber, name) as BaselineDigests | undefined) ?? null;
  }

  getAssignedId(name: string): string | null {
    return (this.selectId.get(this.basisNumber, name) as string | null | undefined) ?? null;
  }

  /**
   * Keeps what was read back, all or nothing; a thousand a call are a good measure. What is the same on both sides needs
   * no agreement: one is kept to show that the service keeps what it is sent.
   */
  saveEntries(agreements: readonly NewBaselineEntry[]): void {
    this.database.transaction(() => {
      let isEmpty = this.isEmpty;
      for (const { name, sent, held, assignedId, isConfirmed } of agreements) {
        if (!isEmpty && assignedId === null && sent === held) {
          if (this.trackedNames === null || this.trackedNames.has(name)) this.deleteEntry.run(this.basisNumber, name);
          continue;
        }
        isEmpty = false;
        const before = isConfirmed
          ? undefined
          : (this.selectDigests.get(this.basisNumber, name) as BaselineDigests | undefined);
        const isRepeated = before ? before.sent === sent && before.held === held : false;
        const counts = isConfirmed || isRepeated ? 1 : 0;
        this.insertEntry.run(this.basisNumber, name, sent, held, assignedId, counts);
        this.trackName(name);
        // Once it has its id, it is known by that.
        if (assignedId !== null && assignedId !== name) {
          this.insertEntry.run(this.basisNumber, assignedId, sent, held, null, counts);
          this.trackName(assignedId);
        }
      }
    })();
  }

  private trackName(name: string): void {
    if (this.trackedNames?.add(name).size === maxTrackedNames) this.trackedNames = null;
  }
}

function configureJournal(database: Database): void {
  // A folder of the user's may be on another machine: a rollback journal works there, a shared log does not.
  database.pragma("journal_mode = DELETE");
  database.pragma("synchronous = FULL");
}

/** @returns the database, with tables where it was empty; or in words why it is of no use, and then it is closed */
function openDatabase(database: Database): Database | string {
  try {
    configureJournal(database);
    const reason = incompatibility(database);
    if (reason === null) return database;
    database.close();
    return reason;
  } catch (error) {
    database.close();
    if (/^SQLITE_(NOTADB|CORRUPT|FORMAT)/.test((error as { code?: string }).code ?? "")) return "it is damaged";
    throw error;
  }
}

function incompatibility(database: Database): string | null {
  const version = database.pragma("user_version", { simple: true }) as number;
  if (version === 0 && database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined) {
    database.exec(`BEGIN; ${schemaSql} COMMIT;`);
    return null;
  }
  if (!hasApplicationId(database)) return "it is not the state of a map";
  if (version !== schemaVersion) return `${version > schemaVersion ? "a later" : "an earlier"} geoferry wrote it`;
  return database.pragma("quick_check(1)", { simple: true }) === "ok" ? null : "it is damaged";
}

function moveAside(path: string, aside: string): void {
  for (const suffix of ["", ...journalSuffixes]) {
    rmSync(aside + suffix, { force: true });
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
}
