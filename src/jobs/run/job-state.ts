/** What is known of a job from one run to the next: what it wrote from which sources, and how its runs went. */
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
  /** Of everything that the step says (`hashOfSettings`). */
  readonly settings: string;
  /** Null where no one can tell whether they change. */
  readonly sources: readonly SourceStat[] | null;
  /** Every file that it became, with its `readFileStamp`. */
  readonly files: readonly { readonly path: string; readonly stamp: string }[];
  /** What was found when it was written; absent where an earlier geoferry wrote it. */
  readonly findings?: Findings;
  /** No source becomes it any more, and that was reported. */
  readonly isStale?: true;
  /** As an earlier geoferry kept it: features that could not be carried. */
  readonly rejected?: number;
}

type Table = "written" | "begun" | "handed";

/** So many runs are kept: more than a year of nights. */
const maxKeptRuns = 400;

/** Of the schema; another's is not understood. */
const schemaVersion = 2;

const schema = `
  CREATE TABLE IF NOT EXISTS written (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS begun (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS handed (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS run (number INTEGER PRIMARY KEY, report TEXT NOT NULL);
  PRAGMA user_version = ${schemaVersion};`;

/** How results that count as success are found in reports. */
const successCondition = "json_extract(report, '$.result') IN ('done', 'unchanged')";

/** The folder of a job, by its file. @throws output-failed */
export function jobFolder(root: string, file: string): string {
  const digest = createHash("sha256")
    .update(realpathSync(resolve(file)))
    .digest("hex");
  return ensurePrivateFolder(join(root, "jobs", digest.slice(0, 24)));
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
      if (version < schemaVersion) database.exec(schema);
      return new JobState(database, path);
    } catch (error) {
      database?.close();
      throw stateUnusableError(path, error);
    }
  }

  readOutput(step: string, output: string): OutputRecord | null {
    return this.readRecord("written", step, output);
  }

  saveOutput(step: string, output: string, written: OutputRecord): void {
    this.transaction((database) =>
      database.transaction(() => {
        this.put("written", step, output, written);
        this.remove("handed", step, output);
        this.remove("begun", step, output);
      })(),
    );
  }

  /** All outputs that a step has written, by their absolute names. */
  outputs(step: string): { readonly output: string; readonly readOutput: OutputRecord }[] {
    return this.transaction((database) => {
      const rows = database.prepare("SELECT output, value FROM written WHERE step = ? ORDER BY output").all(step);
      return (rows as { output: string; value: string }[]).map(({ output, value }) => ({
        output,
        readOutput: JSON.parse(value) as OutputRecord,
      }));
    });
  }

  /** Of an output that somebody has removed, and that no source becomes any more. */
  deleteOutput(step: string, output: string): void {
    this.transaction(() => this.remove("written", step, output));
  }

  /** What an output was about to become when its run died. */
  readPendingCommit(step: string, output: string): OutputRecord | null {
    return this.readRecord("begun", step, output);
  }

  /** Before the files get their names: the next run knows them as the job's own, should this one die. */
  savePendingCommit(step: string, output: string, written: OutputRecord): void {
    this.transaction(() => this.put("begun", step, output, written));
  }

  /** The run lives, and all is as it was. */
  deletePendingCommit(step: string, output: string): void {
    this.transaction(() => this.remove("begun", step, output));
  }

  /** What outputs should become that are written elsewhere: should this run die, the next one asks what became of them. */
  saveDispatched(
    step: string,
    outputs: readonly { readonly output: string; readonly readOutput: OutputRecord }[],
  ): void {
    this.transaction((database) =>
      database.transaction(() => {
        for (const { output, readOutput } of outputs) this.put("handed", step, output, readOutput);
      })(),
    );
  }

  readDispatched(step: string, output: string): OutputRecord | null {
    return this.readRecord("handed", step, output);
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

  keep(report: RunReport): void {
    const add = (database: Database) => {
      database.prepare("INSERT INTO run (report) VALUES (?)").run(JSON.stringify(stripItemFindings(report)));
      // The last that ended well is told of however long ago it was.
      const late = "number <= (SELECT max(number) FROM run) - ?";
      const success = `(SELECT ifnull(max(number), 0) FROM run WHERE ${successCondition})`;
      database.prepare(`DELETE FROM run WHERE ${late} AND number <> ${success}`).run(maxKeptRuns);
    };
    this.transaction((database) => database.transaction(add)(database));
  }

  /** The latest ones, in the order of their time. */
  runs(most: number): RunReport[] {
    return this.transaction((database) => {
      const texts = database.prepare("SELECT report FROM run ORDER BY number DESC LIMIT ?").pluck().all(most);
      return (texts as string[]).map((text) => fillMissingMembers(JSON.parse(text) as RunReport)).reverse();
    });
  }

  /** The latest one without failures and rejects; null where there is none. */
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

/** Of earlier runs the findings of each step are kept, and not those of each of its files. */
const stripItemFindings = (report: RunReport): RunReport => ({
  ...report,
  steps: report.steps.map((step) => ({
    ...step,
    items: step.items.map((item) => ({ ...item, ...emptyFindingLists })),
  })),
});

/** A report with the members that an earlier geoferry did not write. */
const fillMissingMembers = (report: RunReport): RunReport => ({
  ...report,
  steps: report.steps.map((step) => ({
    ...emptyFindingLists,
    ...step,
    items: step.items.map((item) => ({ ...emptyFindingLists, ...item })),
  })),
});

/** What SQLite says of a file that is another than it was, and not of a disk or of rights. */
const databaseDamageCodes = /^SQLITE_(NOTADB|CORRUPT|ERROR|IOERR_SHORT_READ|CONSTRAINT|MISMATCH|FORMAT)/;

function stateUnusableError(path: string, error: unknown): GeoferryError {
  if (error instanceof GeoferryError) return error;
  const { code = "" } = error as { readonly code?: string };
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const reason = isFolder ? "it is a folder" : describeSystemError(error);
  // A value that is no JSON.
  if (isFolder || error instanceof SyntaxError || databaseDamageCodes.test(code))
    return createError("job-state-damaged", { path, reason }, error);
  return createError("output-failed", { output: path, reason }, error);
}
