import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { GeometryBuilder, positionRange } from "../../../src/model/index.js";
import { createError, GeoferryError } from "../../../src/plugin/index.js";
import type { Database, SqliteDriver } from "../../../src/sqlite/index.js";
import { WkbReader } from "../../shared/wkb/index.js";
import { findWkbStart, headerBytes } from "../read/geometry-blob.js";

const lockCodes = /^SQLITE_(BUSY|LOCKED)/;

/** Whether another program has locked the database. */
export const isLockError = (error: unknown): boolean =>
  error instanceof Error && lockCodes.test(String((error as { code?: unknown }).code));

/** How long SQLite itself waits for a lock, during which nothing else runs on this thread. */
const busyTimeoutMs = 50;
/** How long a statement is repeated while another program has the lock. */
const maxWaitMs = 5000;
const pollIntervalMs = 50;

/**
 * Runs statements that need a lock, again and again while another program has it; other work of this thread goes on.
 * @throws the error of the lock after five seconds, and the reason of an aborted signal
 */
export async function retryWhileLocked<T>(signal: AbortSignal, work: () => T): Promise<T> {
  for (const end = Date.now() + maxWaitMs; ; ) {
    try {
      return work();
    } catch (error) {
      if (!isLockError(error) || Date.now() >= end) throw error;
    }
    await delay(pollIntervalMs, undefined, { signal });
  }
}

/** Converts SQLite errors to registry errors. */
export function toOutputError(output: string, error: unknown): unknown {
  if (error instanceof GeoferryError || !(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return error;
  if (lockCodes.test(code)) return createError("output-locked", { output }, error);
  return /^SQLITE_|^E[A-Z]+$/.test(code)
    ? createError("output-failed", { output, reason: error.message }, error)
    : error;
}

/** Runs `work`, converting SQLite errors. @throws output-failed, output-locked, unsupported */
export async function runOrFail<T>(output: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toOutputError(output, error);
  }
}

type Side = "minX" | "minY" | "maxX" | "maxY";
const boxSides: readonly Side[] = ["minX", "minY", "maxX", "maxY"];

/** The box of a geometry blob, from its envelope or else its positions; null if empty. */
function blobBox(blob: unknown): Readonly<Record<Side, number>> | null {
  if (!Buffer.isBuffer(blob)) return null;
  const start = findWkbStart(blob, 0, blob.length);
  if (typeof start === "string") return null;
  if (start >= headerBytes + 32) {
    const double = (at: number) => (blob[3]! & 1 ? blob.readDoubleLE(at) : blob.readDoubleBE(at));
    const [minX, maxX, minY, maxY] = [0, 8, 16, 24].map((at) => double(headerBytes + at)) as [
      number,
      number,
      number,
      number,
    ];
    return Number.isNaN(minX) ? null : { minX, minY, maxX, maxY };
  }
  return positionsBox(blob, start);
}

function positionsBox(blob: Buffer, start: number): Readonly<Record<Side, number>> | null {
  const builder = new GeometryBuilder();
  try {
    new WkbReader().read(blob, start, blob.length, builder);
  } catch {
    return null;
  }
  const box = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (let column: ReturnType<GeometryBuilder["finish"]> | null = builder.finish(); column; column = column.members) {
    const to = positionRange(column, column.length - 1)[1];
    for (let k = 0; k < to; k++) {
      box.minX = Math.min(box.minX, column.xy[2 * k]!);
      box.minY = Math.min(box.minY, column.xy[2 * k + 1]!);
      box.maxX = Math.max(box.maxX, column.xy[2 * k]!);
      box.maxY = Math.max(box.maxY, column.xy[2 * k + 1]!);
    }
  }
  return box.minX <= box.maxX ? box : null;
}

/** Registers the functions that R-tree triggers call (Annex F.3, "Minimal runtime SQL functions"). */
function registerSpatialFunctions(database: Database): void {
  const known = { deterministic: true };
  for (const side of boxSides) {
    database.function(
      `ST_${side[0]!.toUpperCase()}${side.slice(1)}`,
      known,
      (blob: unknown) => blobBox(blob)?.[side] ?? null,
    );
  }
  database.function("ST_IsEmpty", known, (blob: unknown) => (blob === null ? null : blobBox(blob) ? 0 : 1));
}

/** NAME_MAX of common file systems. */
const maxFileNameBytes = 255;
const journalSuffix = "-journal";

/** Checks that the name of the rollback journal, `NAME-journal`, is not too long. @throws unsupported */
export function checkJournalName(path: string, output: string): void {
  const most = maxFileNameBytes - journalSuffix.length;
  const bytes = Buffer.byteLength(basename(path));
  if (bytes <= most) return;
  const reason = `its name has ${bytes} bytes; in-place changes allow ${most}, since SQLite creates a journal with a longer name beside it; rename the file`;
  throw createError("unsupported", { source: output, reason });
}

/**
 * Opens a database for writing. Statements that need a lock belong into `retryWhileLocked`.
 * @param Sqlite the native driver, which locks the file, if other processes may use it
 * @throws SqliteError
 */
export function openDatabase(path: string, Sqlite: SqliteDriver): Database {
  const database = new Sqlite(path, { fileMustExist: true, timeout: busyTimeoutMs });
  try {
    database.defaultSafeIntegers(true);
    database.pragma("foreign_keys = OFF");
    registerSpatialFunctions(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
