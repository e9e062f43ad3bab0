/** The state of a job between runs, a SQLite database: its outputs with their sources, and the reports of its runs. */
import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { toAbsolute } from "../../io/s3/bucket-address.js";
import { type Database, loadNativeSqlite } from "../../sqlite/index.js";
import { ensurePrivateFile, ensurePrivateFolder } from "../../sync/state/state-folder.js";
import type { Findings } from "../report/findings.js";
import { emptyFindingLists, type RunReport } from "../report/run-report.js";
import type { SourceStat } from "../steps/source-stat.js";

/** An output that a step has written. */
export interface OutputRecord {
  /** Hash of the step's settings (`hashOfSettings`). */
  readonly settings: string;
  /** Null if changes cannot be detected. */
  readonly sources: readonly SourceStat[] | null;
  /** Its files with their stamps (`readOutputStamp`). */
  readonly files: readonly { readonly path: string; readonly stamp: string }[];
  /** Absent in records of earlier versions. */
  readonly findings?: Findings;
  /** Its source no longer exists, and this was reported. */
  readonly isStale?: true;
  /** Of a dispatched output: a run has reported that its outcome is unknown. */
  readonly isReported?: true;
  /** Number of rejected features in records of earlier versions. */
  readonly rejected?: number;
}

type Table = "output_record" | "pending_commit" | "dispatched_output";

/** More than a year of nightly runs. */
const maxKeptRuns = 400;

const schemaVersion = 3;

const schema = `
  CREATE TABLE IF NOT EXISTS output_record (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pending_commit (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS dispatched_output (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS run (number INTEGER PRIMARY KEY, report TEXT NOT NULL);
  PRAGMA user_version = ${schemaVersion};`;

/** SQL condition for reports of successful runs. */
const successCondition = "json_extract(report, '$.result') IN ('done', 'unchanged')";

/** The state folder of a job, named after a hash of the job file's path. @throws output-failed */
export function jobFolder(root: string, file: string): string {
  const digest = createHash("sha256")
    .update(realpathSync(resolve(file)))
    .digest("hex");
  return ensurePrivateFolder(join(root, "jobs", digest.slice(0, 24)));
}

/** Tables and JSON members of versions 1 and 2. Within JSON strings quotes are escaped, so only members match. */
const renamedTables = { written: "output_record", begun: "pending_commit", handed: "dispatched_output" } as const;
const renamedMembers = [
  ['"began":', '"startedAt":'],
  ['"tries":', '"attempts":'],
  ['"gaps":', '"skippedRanges":'],
  ['"changes":', '"regressions":'],
  ['"code":"gap"', '"code":"skipped-range"'],
  ['"what":"gap"', '"what":"skippedRange"'],
] as const;

/** Creates the tables, and copies those of an earlier version. */
function migrate(database: Database): void {
  const rename = (column: string) =>
    renamedMembers.reduce((sql, [from, to]) => `replace(${sql}, '${from}', '${to}')`, column);
  database.transaction(() => {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
    database.exec(schema);
    for (const [from, to] of Object.entries(renamedTables))
      if (tables.includes(from))
        database.exec(`INSERT INTO ${to} SELECT step, output, ${rename("value")} FROM ${from}; DROP TABLE ${from};`);
    database.exec(`UPDATE run SET report = ${rename("report")}`);
  })();
}

export class JobState implements Disposable {
  private constructor(
    private readonly database: Database,
    private readonly path: string,
  ) {}

  /**
   * The caller has the lock of the job.
   * @param folder `jobFolder`
   * @throws job-state-damaged, job-state-newer, output-failed
   */
  static async open(folder: string): Promise<JobState> {
    const path = join(folder, "job.db");
    let database: Database | undefined;
    try {
      const Sqlite = loadNativeSqlite();
      database = new Sqlite(ensurePrivateFile(path));
      const version = database.pragma("user_version", { simple: true }) as number;
      if (version > schemaVersion) throw createError("job-state-newer", { path });
      database.pragma("synchronous = FULL");
      if (version < schemaVersion) migrate(database);
      return new JobState(database, path);
    } catch (error) {
      database?.close();
      throw stateUnusableError(path, error);
    }
  }

  readOutput(step: string, output: string): OutputRecord | null {
    return this.readRecord("output_record", step, output);
  }

  saveOutput(step: string, output: string, written: OutputRecord): void {
    this.transaction((database) =>
      database.transaction(() => {
        this.put("output_record", step, output, written);
        this.remove("dispatched_output", step, output);
        this.remove("pending_commit", step, output);
      })(),
    );
  }

  /** All outputs that a step has written, by their absolute names. */
  outputs(step: string): { readonly output: string; readonly record: OutputRecord }[] {
    return this.transaction((database) => {
      const rows = database.prepare("SELECT output, value FROM output_record WHERE step = ? ORDER BY output").all(step);
      return (rows as { output: string; value: string }[]).map(({ output, value }) => ({
        output,
        record: JSON.parse(value) as OutputRecord,
      }));
    });
  }

  /** Forgets an output that was deleted and whose source no longer exists. */
  deleteOutput(step: string, output: string): void {
    this.transaction(() => this.remove("output_record", step, output));
  }

  /** The record of an output whose commit was interrupted. */
  readPendingCommit(step: string, output: string): OutputRecord | null {
    return this.readRecord("pending_commit", step, output);
  }

  /** Call before the files are renamed: if this run is killed, the next one recognizes them as written by the job. */
  savePendingCommit(step: string, output: string, written: OutputRecord): void {
    this.transaction(() => this.put("pending_commit", step, output, written));
  }

  /** Call after a failed commit that left the output unchanged. */
  deletePendingCommit(step: string, output: string): void {
    this.transaction(() => this.remove("pending_commit", step, output));
  }

  /** Call before workers write outputs: if this run is killed, the next one recovers their results from the queue. */
  saveDispatched(step: string, outputs: readonly { readonly output: string; readonly record: OutputRecord }[]): void {
    this.transaction((database) =>
      database.transaction(() => {
        for (const { output, record } of outputs) this.put("dispatched_output", step, output, record);
      })(),
    );
  }

  /** Call after the job of an output was removed from the queue before it could write. */
  deleteDispatched(step: string, output: string): void {
    this.transaction(() => this.remove("dispatched_output", step, output));
  }

  readDispatched(step: string, output: string): OutputRecord | null {
    return this.readRecord("dispatched_output", step, output);
  }

  private readRecord(table: Table, step: string, output: string): OutputRecord | null {
    return this.transaction((database) => {
      const row = database.prepare(`SELECT value FROM ${table} WHERE step = ? AND output = ?`).pluck();
      const text = row.get(step, toAbsolute(output)) as string | undefined;
      return text === undefined ? null : (JSON.parse(text) as OutputRecord);
    });
  }

  private put(table: Table, step: string, output: string, written: OutputRecord): void {
    const put = this.database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?)`);
    put.run(step, toAbsolute(output), JSON.stringify(written));
  }

  private remove(table: Table, step: string, output: string): void {
    this.database.prepare(`DELETE FROM ${table} WHERE step = ? AND output = ?`).run(step, toAbsolute(output));
  }

  saveReport(report: RunReport): void {
    const add = (database: Database) => {
      database.prepare("INSERT INTO run (report) VALUES (?)").run(JSON.stringify(stripItemFindings(report)));
      // The latest success is kept, however old it is.
      const late = "number <= (SELECT max(number) FROM run) - ?";
      const success = `(SELECT ifnull(max(number), 0) FROM run WHERE ${successCondition})`;
      database.prepare(`DELETE FROM run WHERE ${late} AND number <> ${success}`).run(maxKeptRuns);
    };
    this.transaction((database) => database.transaction(add)(database));
  }

  /** The latest reports, oldest first. */
  runs(most: number): RunReport[] {
    return this.transaction((database) => {
      const texts = database.prepare("SELECT report FROM run ORDER BY number DESC LIMIT ?").pluck().all(most);
      return (texts as string[]).map((text) => fillMissingMembers(JSON.parse(text) as RunReport)).reverse();
    });
  }

  /** The latest report without failures and rejects, or null. */
  lastSuccess(): RunReport | null {
    return this.transaction((database) => {
      const query = database
        .prepare(`SELECT report FROM run WHERE ${successCondition} ORDER BY number DESC LIMIT 1`)
        .pluck();
      const text = query.get() as string | undefined;
      return text === undefined ? null : (JSON.parse(text) as RunReport);
    });
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  /** @throws job-state-damaged, output-failed */
  private transaction<T>(work: (database: Database) => T): T {
    try {
      return work(this.database);
    } catch (error) {
      throw stateUnusableError(this.path, error);
    }
  }
}

/** Stored reports contain the findings of each step, not those of each file. */
const stripItemFindings = (report: RunReport): RunReport => ({
  ...report,
  steps: report.steps.map((step) => ({
    ...step,
    items: step.items.map((item) => ({ ...item, ...emptyFindingLists })),
  })),
});

/** Adds members that reports of earlier versions lack. */
const fillMissingMembers = (report: RunReport): RunReport => ({
  ...report,
  steps: report.steps.map((step) => ({
    ...emptyFindingLists,
    ...step,
    items: step.items.map((item) => ({ ...emptyFindingLists, ...item })),
  })),
});

/** SQLite errors that mean a damaged file, as opposed to disk and permission errors. */
const databaseDamageCodes = /^SQLITE_(NOTADB|CORRUPT|ERROR|IOERR_SHORT_READ|CONSTRAINT|MISMATCH|FORMAT)/;

function stateUnusableError(path: string, error: unknown): GeoferryError {
  if (error instanceof GeoferryError) return error;
  const { code = "" } = error as { readonly code?: string };
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const reason = isFolder ? "it is a folder" : describeSystemError(error);
  // A SyntaxError means a value that is not JSON.
  if (isFolder || error instanceof SyntaxError || databaseDamageCodes.test(code))
    return createError("job-state-damaged", { path, reason }, error);
  return createError("output-failed", { output: path, reason }, error);
}
