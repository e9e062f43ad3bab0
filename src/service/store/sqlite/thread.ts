/**
 * Entry point of a store thread with its own connection: one writes, the others read concurrently (write-ahead log).
 * SQLite is synchronous and would block the main thread of the service.
 */
import { parentPort, workerData } from "node:worker_threads";
import { isDiskFull } from "../../../errors/disk-full.js";
import { createError, toPlainError } from "../../../errors.js";
import type { PageRequest, SpoolRequest } from "../contract.js";
import { indexKeysOfField } from "../key-fields.js";
import { write } from "../write.js";
import { accountReadMethods, accountWriteMethods } from "./accounts.js";
import { BatchSizer } from "./batch-sizer.js";
import { type Connection, connect } from "./connection.js";
import { deleteRemovedMapRows } from "./deferred-deletion.js";
import { FileIdentity } from "./file-identity.js";
import { maintenanceMethods } from "./maintenance.js";
import { mapReadMethods, mapWriteMethods } from "./maps.js";
import { packOutcome } from "./packed-outcome.js";
import { type PackedRequest, unpackRequest } from "./packed-request.js";
import { readPage } from "./pages.js";
import type { ThreadMethod, ThreadOptions, ThreadReply, ThreadRequest } from "./protocol.js";
import { spoolPage } from "./spool.js";
import { createWriteTransaction } from "./write-transaction.js";

const threadOptions = workerData as ThreadOptions;
const { path, role } = threadOptions;
const port = parentPort!;

type MethodTable = Readonly<Record<string, (...values: never[]) => unknown>>;

const readerMethods = (db: Connection): MethodTable => ({
  ...accountReadMethods(db),
  ...mapReadMethods(db),
  page: (request: PageRequest) => readPage(db, request),
  spool: (request: SpoolRequest, file: number) => spoolPage(db, request, file),
  ping: () => void db.get("SELECT count(*) FROM sqlite_schema"),
});

/** A write that uses a field for the first time indexes only so many features; batches outside of writes do the rest. */
const maxIndexedByWrite = 2000;

const writerMethods = (db: Connection, batchSizer: BatchSizer): MethodTable => {
  const tx = createWriteTransaction(db, () => Math.min(maxIndexedByWrite, batchSizer.features));
  const indexing = createWriteTransaction(db, () => batchSizer.features);
  return {
    ...accountWriteMethods(db),
    ...mapWriteMethods(db),
    ...maintenanceMethods(db),
    readKeys: (map: string, field: string) => indexKeysOfField(indexing, map, field),
    reserveSpace: () => void db.run("INSERT INTO room VALUES (randomblob(?))", reservedBytes),
    releaseSpace: () => void db.run("DELETE FROM room"),
    write: async (request: PackedRequest) => packOutcome(await write(tx, unpackRequest(request))),
  };
};

/** A smaller write may fit on a disk that is full for most others. */
const reservedBytes = 2 << 20;
/** Error codes of SQLite and the system with external causes; all others are bugs. */
const externalErrorCodes =
  /^SQLITE_(BUSY|LOCKED|IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM|AUTH|NOMEM|PROTOCOL)|^E[A-Z]+$/;

function toStoreError(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (isDiskFull(code)) return createError("store-full", { store: path }, error);
  if (!externalErrorCodes.test(code)) return error;
  return createError("store-unavailable", { store: path, reason: (error as Error).message }, error);
}

async function inTransaction(db: Connection, file: FileIdentity, work: () => unknown): Promise<unknown> {
  // The write-ahead log may be at the path that belongs to the new file, so nothing may be appended to it.
  file.check();
  db.run("BEGIN IMMEDIATE");
  try {
    const answer = await work();
    db.run("COMMIT");
    file.check();
    return answer;
  } catch (error) {
    // Some errors have already ended the transaction.
    if (db.database.inTransaction) db.run("ROLLBACK");
    throw error;
  }
}

const reply = (message: ThreadReply, transferred: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, transferred);

/** Transfers the text of a page without a copy. */
const transferListOf = (answer: unknown): ArrayBuffer[] => {
  const text = typeof answer === "object" && answer !== null && "text" in answer ? answer.text : null;
  return text instanceof Uint8Array && text.length > 0 ? [text.buffer as ArrayBuffer] : [];
};

type CallMethod = (method: ThreadMethod, values: readonly unknown[]) => Promise<unknown>;

function createCallMethod(db: Connection, file: FileIdentity): CallMethod {
  if (threadOptions.role !== "writer") {
    const methods = readerMethods(db);
    return async (method, values) => {
      file.check();
      return methods[method]!(...(values as never[]));
    };
  }
  const batchSizer = new BatchSizer(threadOptions.keyBatchSize);
  const methods = writerMethods(db, batchSizer);
  return async (method, values) => {
    const started = performance.now();
    const answer = await inTransaction(db, file, () => methods[method]!(...(values as never[])));
    if (method === "readKeys") batchSizer.record(performance.now() - started);
    return answer;
  };
}

let db: Connection | undefined;
let databaseFile: FileIdentity | undefined;
let callMethod: CallMethod | undefined;

function open(): void {
  try {
    db = connect(path, role);
    databaseFile = new FileIdentity(path);
    callMethod = createCallMethod(db, databaseFile);
    reply({ open: true });
    if (role === "writer") deleteRowsInBackground();
  } catch (error) {
    reply({ open: false, error: toPlainError(toStoreError(error)) });
  }
}

async function handle(request: ThreadRequest): Promise<void> {
  if ("open" in request) return open();
  if ("close" in request) {
    db?.close();
    db = undefined;
    port.close();
    return;
  }
  const { id, method, values } = request;
  try {
    const found = await callMethod!(method, values);
    reply({ id, result: found }, transferListOf(found));
    if (methodsThatLeaveRows.has(method)) deleteRowsInBackground();
  } catch (error) {
    reply({ id, error: toPlainError(toStoreError(error)) });
  }
}

// Requests run one at a time: a write consists of many statements that must not be interleaved.
let queueTail: Promise<void> = Promise.resolve();
const enqueue = (work: () => Promise<void>): void => {
  queueTail = queueTail.then(work);
};
port.on("message", (request: ThreadRequest) => enqueue(() => handle(request)));

/** Methods after which rows of removed maps or fields may remain. */
const methodsThatLeaveRows: ReadonlySet<ThreadMethod> = new Set<ThreadMethod>(["deleteMap", "purge"]);

/** Deletes rows of removed maps in batches, between requests. Continues after a restart if interrupted. */
function deleteRowsInBackground(): void {
  enqueue(async () => {
    const open = db;
    if (!open || !databaseFile) return;
    const more = await inTransaction(open, databaseFile, () => deleteRemovedMapRows(open)).catch(() => false);
    // Requests that have arrived run first.
    if (more) setImmediate(deleteRowsInBackground);
  });
}
