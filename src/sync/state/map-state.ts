/**
 * State of a map between runs: digests of features that were equal on both sides, the behavior of the service, and the
 * new ids of restored features. If it is missing or damaged, everything is compared again, and a restore stops where it
 * would need the ids.
 */
import { createHash } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalValue } from "../../canonical/canonical-json.js";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { journalSuffixes } from "../../io/output/temporary-names.js";
import { type Database, loadNativeSqlite, type Statement } from "../../sqlite/index.js";
import { normalizeId } from "../diff/current-rows.js";
import { ensurePrivateFile } from "./state-folder.js";

/** Digests of a feature that was equal on both sides. */
export interface BaselineDigests {
  /** Digest of the source feature when it was sent, hexadecimal. */
  readonly sent: string;
  /** Digest of the map feature afterwards. */
  readonly held: string;
  /** Whether the features are equal with `replaceProperties`, too: the map feature has no properties of its own. */
  readonly isWhole: boolean;
}

/** Digests by `BaselineEntry.name` (plan.ts). */
export interface Baseline {
  /** Whether there are no entries. */
  readonly isEmpty: boolean;
  getDigests(name: string): BaselineDigests | null;
  /** Whether a run has sent this feature, and read this one back, even if `getDigests` does not confirm it yet. */
  isKnownResult(entry: Pick<NewBaselineEntry, "name" | "sent">, held: string): boolean;
  /** The id that the service assigned to a feature without an id, or with one unknown to the map. */
  getAssignedId(name: string): string | null;
}

export interface NewBaselineEntry extends BaselineDigests {
  readonly name: string;
  /** Value for `getAssignedId`; null if it equals the name or is not needed. */
  readonly assignedId: string | null;
  /**
   * Whether the map returned what was sent, apart from rounding and similar changes. Otherwise another client may have
   * changed it: the entry counts once the same data was sent and returned again.
   */
  readonly isConfirmed: boolean;
}

/** State after a run that left map and source equal for its mode. */
export interface SyncedState {
  /** Entity tag of the whole map. */
  readonly etag: string | null;
  /** Fingerprint of the source. */
  readonly source: string;
}

export interface OpenedState {
  readonly state: MapState;
  /** Notice for the user that an older file could not be used. */
  readonly notice: string | null;
}

/** "gfst" as a big-endian integer; identifies the file type, also for `file`. */
const applicationId = 0x67667374;
const schemaVersion = 2;
/** Maximum number of stored baselines: jobs with other keys or scopes have separate ones. */
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

/** Hash of settings, independent of member order, hexadecimal. */
export const hashOfSettings = (settings: object): string =>
  createHash("sha256").update(canonicalValue(settings)).digest("hex");

/** Read-only access to the state of a map. */
export interface ReadonlyMapState extends Disposable {
  getNote(name: string): string | null;
  /** The id that the last restore of a feature gave it; null if none did. */
  getNewId(id: string): string | null;
  openBaseline(basis: string, idBasis?: string): Baseline;
}

const emptyBaseline: Baseline = {
  isEmpty: true,
  getDigests: () => null,
  isKnownResult: () => false,
  getAssignedId: () => null,
};
const emptyState: ReadonlyMapState = {
  getNote: () => null,
  getNewId: () => null,
  openBaseline: () => emptyBaseline,
  [Symbol.dispose]: () => {},
};

/**
 * Opens the state in the folder of a map for reading, possibly while another run writes it. Returns an empty state if
 * there is none, or if it is unusable.
 */
export async function openStateReadonly(folder: string): Promise<ReadonlyMapState> {
  const path = join(folder, "state.db");
  if (!existsSync(path)) return emptyState;
  const Sqlite = loadNativeSqlite();
  let database: Database | undefined;
  try {
    database = new Sqlite(path, { readonly: true });
    const openedDatabase = database;
    if (!hasApplicationId(openedDatabase) || openedDatabase.pragma("user_version", { simple: true }) !== schemaVersion)
      throw new Error("incompatible state");
    const number = openedDatabase.prepare("SELECT number FROM basis WHERE hash = ?").pluck();
    return {
      getNote: (name) => selectNote(openedDatabase, name),
      getNewId: hasNewIds(openedDatabase) ? (id) => selectNewId(openedDatabase, id) : () => null,
      openBaseline(basis, idBasis = basis) {
        const [entries, ids] = [basis, idBasis].map((hash) => (number.get(hash) as number | undefined) ?? noBasis);
        return new StoredBaseline(openedDatabase, entries!, ids!);
      },
      [Symbol.dispose]: () => openedDatabase.close(),
    };
  } catch {
    database?.close();
    return emptyState;
  }
}

/** The number of no basis. */
const noBasis = 0;

const hasApplicationId = (database: Database): boolean =>
  database.pragma("application_id", { simple: true }) === applicationId;

const selectNote = (database: Database, name: string): string | null =>
  (database.prepare("SELECT value FROM note WHERE name = ?").pluck().get(name) as string | undefined) ?? null;

/** Added without a new version of the schema, since earlier versions of geoferry can use a state that has it. */
const newIdsSql = "CREATE TABLE IF NOT EXISTS renewed (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID";

const hasNewIds = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'renewed'").get() !== undefined;

const selectNewId = (database: Database, id: string): string | null =>
  (database.prepare("SELECT new FROM renewed WHERE old = ?").pluck().get(normalizeId(id)) as string | undefined) ??
  null;

export class MapState implements ReadonlyMapState {
  private constructor(private readonly database: Database) {}

  /**
   * Opens or creates the state in the folder of a map; the caller holds the map lock. Moves aside a state that is
   * damaged or written by another version of geoferry.
   * @throws output-failed
   */
  static async open(folder: string): Promise<OpenedState> {
    const path = join(folder, "state.db");
    try {
      const Sqlite = loadNativeSqlite();
      const found = openDatabase(new Sqlite(ensurePrivateFile(path)));
      if (typeof found !== "string") return { state: new MapState(found), notice: null };
      const renamedPath = `${path}.set-aside`;
      moveAside(path, renamedPath);
      const newDatabase = openDatabase(new Sqlite(ensurePrivateFile(path)));
      if (typeof newDatabase === "string") throw new Error(newDatabase);
      const notice = `${path}: ${found}; it was renamed to ${renamedPath}, and all features are compared again`;
      return { state: new MapState(newDatabase), notice };
    } catch (error) {
      throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
    }
  }

  /** A remembered fact about the map: its key, or how its service updates. */
  getNote(name: string): string | null {
    return selectNote(this.database, name);
  }

  setNote(name: string, value: string): void {
    this.database.prepare("INSERT OR REPLACE INTO note VALUES (?, ?)").run(name, value);
  }

  getNewId(id: string): string | null {
    return selectNewId(this.database, id);
  }

  /** Remembers the new ids of restored features, by their old ones. */
  setNewIds(ids: ReadonlyMap<string, string>): void {
    const insert = this.database.prepare("INSERT OR REPLACE INTO renewed VALUES (?, ?)");
    this.database.transaction(() => {
      for (const [old, current] of ids) insert.run(normalizeId(old), current);
    })();
  }

  /**
   * The baseline for one way of comparing (`hashOfSettings` of everything that affects digests and keys).
   * @param idBasis hash of everything that affects which ids the service assigned; the same as `basis` by default
   */
  openBaseline(basis: string, idBasis = basis): StoredBaseline {
    const numbers = [...new Set([basis, idBasis])].map((hash) => this.useBasis(hash));
    this.pruneBaselines();
    return new StoredBaseline(this.database, numbers[0]!, numbers.at(-1)!);
  }

  private useBasis(hash: string): number {
    const used = Date.now();
    this.database
      .prepare("INSERT INTO basis (hash, used) VALUES (@hash, @used) ON CONFLICT (hash) DO UPDATE SET used = @used")
      .run({ hash, used });
    return this.database.prepare("SELECT number FROM basis WHERE hash = ?").pluck().get(hash) as number;
  }

  /** The last state with these settings (`hashOfSettings`) in which both sides were equal; null if there is none. */
  getSyncedState(settings: string): SyncedState | null {
    const row = this.database.prepare("SELECT etag, source FROM settled WHERE settings = ?").get(settings);
    return (row as SyncedState | undefined) ?? null;
  }

  /** Stores the state; null records that the sides are no longer equal. */
  setSyncedState(settings: string, syncedState: SyncedState | null): void {
    this.database.prepare("DELETE FROM settled WHERE settings = ?").run(settings);
    if (syncedState === null) return;
    const { etag, source } = syncedState;
    this.database.prepare("INSERT INTO settled VALUES (?, ?, ?, ?)").run(settings, etag, source, Date.now());
    const expired = `SELECT settings FROM settled ORDER BY used DESC LIMIT -1 OFFSET ${maxBaselines}`;
    this.database.exec(`DELETE FROM settled WHERE settings IN (${expired})`);
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  private pruneBaselines(): void {
    const expired = `SELECT number FROM basis ORDER BY used DESC, number DESC LIMIT -1 OFFSET ${maxBaselines}`;
    this.database.exec(
      `DELETE FROM agreed WHERE basis IN (${expired}); DELETE FROM basis WHERE number IN (${expired});`,
    );
  }
}

/** Values of `sure`: an unconfirmed entry, and confirmed ones (`isWhole`). */
const confirmation = { none: 0, partial: 1, whole: 2 } as const;

const selectDigestsSql =
  "SELECT lower(hex(sent)) AS sent, lower(hex(held)) AS held, sure FROM agreed WHERE basis = ? AND name = ?";

interface DigestsRow {
  readonly sent: string;
  readonly held: string;
  readonly sure: number;
}

/** The baseline for one way of comparing. */
export class StoredBaseline implements Baseline {
  private readonly selectDigests: Statement;
  private readonly selectId: Statement;
  private readonly insertEntry: Statement;
  private readonly deleteEntry: Statement;
  /**
   * Names added to an initially empty baseline: only these may have entries to delete. Null if there are too many to
   * track.
   */
  private trackedNames: Set<string> | null;

  constructor(
    private readonly database: Database,
    private readonly basisNumber: number,
    private readonly idBasisNumber: number,
  ) {
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
    const row = this.selectDigests.get(this.basisNumber, name) as DigestsRow | undefined;
    if (!row || row.sure === confirmation.none) return null;
    return { sent: row.sent, held: row.held, isWhole: row.sure === confirmation.whole };
  }

  isKnownResult({ name, sent }: Pick<NewBaselineEntry, "name" | "sent">, held: string): boolean {
    const row = this.selectDigests.get(this.basisNumber, name) as DigestsRow | undefined;
    return row !== undefined && row.sent === sent && row.held === held;
  }

  getAssignedId(name: string): string | null {
    const select = (basis: number) => this.selectId.get(basis, name) as string | null | undefined;
    return select(this.idBasisNumber) ?? select(this.basisNumber) ?? null;
  }

  /**
   * Stores entries in one transaction; about a thousand per call work well. Features with equal digests need no entry;
   * one is stored to show that the service returns what it is sent.
   */
  saveEntries(entries: readonly NewBaselineEntry[]): void {
    this.database.transaction(() => {
      let isEmpty = this.isEmpty;
      for (const { name, sent, held, isWhole, assignedId, isConfirmed } of entries) {
        if (!isEmpty && assignedId === null && sent === held) {
          if (this.trackedNames === null || this.trackedNames.has(name)) this.deleteEntry.run(this.basisNumber, name);
          continue;
        }
        isEmpty = false;
        const level = isWhole ? confirmation.whole : confirmation.partial;
        const sure = isConfirmed || this.isKnownResult({ name, sent }, held) ? level : confirmation.none;
        this.insertEntry.run(this.basisNumber, name, sent, held, assignedId, sure);
        this.trackName(name);
        if (assignedId !== null && this.idBasisNumber !== this.basisNumber)
          this.insertEntry.run(this.idBasisNumber, name, sent, held, assignedId, sure);
        // Features with an assigned id are found by that id later.
        if (assignedId !== null && assignedId !== name) {
          this.insertEntry.run(this.basisNumber, assignedId, sent, held, null, sure);
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
  // The folder may be on a network file system, where a rollback journal works and a shared write-ahead log does not.
  database.pragma("journal_mode = DELETE");
  database.pragma("synchronous = FULL");
}

/** @returns the database, with tables if it was empty; or the reason why it is unusable, after closing it */
function openDatabase(database: Database): Database | string {
  try {
    configureJournal(database);
    const reason = incompatibility(database);
    if (reason === null) {
      database.exec(newIdsSql);
      return database;
    }
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
  if (version !== schemaVersion)
    return `it was written by ${version > schemaVersion ? "a later" : "an earlier"} version of geoferry`;
  return database.pragma("quick_check(1)", { simple: true }) === "ok" ? null : "it is damaged";
}

function moveAside(path: string, newPath: string): void {
  for (const suffix of ["", ...journalSuffixes]) {
    rmSync(newPath + suffix, { force: true });
    if (existsSync(path + suffix)) renameSync(path + suffix, newPath + suffix);
  }
}
