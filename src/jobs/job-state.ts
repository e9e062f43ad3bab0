/** What is known of a job from one run to the next: what it wrote from which sources, and how its runs went. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { fault } from "../errors.js";
import { systemReason } from "../io/source.js";
import { ownFolder } from "../sync/state-folder.js";
import type { Mark } from "./fingerprint.js";
import type { RunReport } from "./run-report.js";

/** An output that a step has written. */
export interface Written {
  /** Of everything that the step says (`settingsHash`). */
  readonly settings: string;
  /** Null where nobody can tell whether they change. */
  readonly sources: readonly Mark[] | null;
  /** Every file that it became, with its `stampOf`. */
  readonly files: readonly { readonly path: string; readonly stamp: string }[];
}

/** So many runs are kept: more than a year of nights. */
const mostRuns = 400;

const schema = `
  CREATE TABLE IF NOT EXISTS written (step TEXT NOT NULL, output TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (step, output)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS run (number INTEGER PRIMARY KEY, report TEXT NOT NULL);`;

/** The folder of a job, by its file. @throws output-failed */
export function jobFolder(root: string, file: string): string {
  const digest = createHash("sha256")
    .update(realpathSync(resolve(file)))
    .digest("hex");
  return ownFolder(join(root, "jobs", digest.slice(0, 24)));
}

export class JobState implements Disposable {
  private constructor(private readonly database: Database) {}

  /** The caller has the lock of the job. @param folder `jobFolder` @throws output-failed */
  static async open(folder: string): Promise<JobState> {
    const path = join(folder, "job.db");
    try {
      const { default: Sqlite } = await import("better-sqlite3");
      const database = new Sqlite(path);
      database.pragma("synchronous = FULL");
      database.exec(schema);
      return new JobState(database);
    } catch (error) {
      const reason = `${systemReason(error)}; without it every source is converted anew: remove it where it is damaged`;
      throw fault("output-failed", { output: path, reason }, error);
    }
  }

  written(step: string, output: string): Written | null {
    const row = this.database.prepare("SELECT value FROM written WHERE step = ? AND output = ?").pluck();
    const text = row.get(step, resolve(output)) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as Written);
  }

  wrote(step: string, output: string, written: Written): void {
    const put = this.database.prepare("INSERT OR REPLACE INTO written VALUES (?, ?, ?)");
    put.run(step, resolve(output), JSON.stringify(written));
  }

  keep(report: RunReport): void {
    this.database.prepare("INSERT INTO run (report) VALUES (?)").run(JSON.stringify(report));
    this.database.prepare("DELETE FROM run WHERE number <= (SELECT max(number) FROM run) - ?").run(mostRuns);
  }

  /** The latest ones, in the order of their time. */
  runs(most: number): RunReport[] {
    const texts = this.database.prepare("SELECT report FROM run ORDER BY number DESC LIMIT ?").pluck().all(most);
    return (texts as string[]).map((text) => JSON.parse(text) as RunReport).reverse();
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}
