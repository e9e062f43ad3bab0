/**
 * The entry of a thread with a connection of its own: one writes, others read beside it (write-ahead log). SQLite
 * answers at once, and would hold up everything else in the thread of the service.
 */

import { parentPort, workerData } from "node:worker_threads";
import { fault, toPlainError } from "../../../errors.js";
import { isNoRoom } from "../../no-room.js";
import type { PageQuestion, SpoolQuestion } from "../contract.js";
import { readKeysOn } from "../key-fields.js";
import { write } from "../write.js";
import { type Connection, connect } from "./connection.js";
import { mapReading, mapWriting } from "./maps.js";
import { packOutcome } from "./packed-outcome.js";
import { type PackedRequest, unpackRequest } from "./packed-request.js";
import { readPage } from "./pages.js";
import { peopleReading, peopleWriting } from "./people.js";
import type { ThreadQuestion, ThreadReply, ThreadRequest, ThreadRole } from "./protocol.js";
import { removeLeavings } from "./removal.js";
import { spoolPage } from "./spool.js";
import { StepSize } from "./step-size.js";
import { upkeep } from "./upkeep.js";
import { writeTransaction } from "./write-transaction.js";

const thread = workerData as ThreadRole;
const { path, role } = thread;
const port = parentPort!;

type Answering = Readonly<Record<string, (...values: never[]) => unknown>>;

const reading = (db: Connection): Answering => ({
  ...peopleReading(db),
  ...mapReading(db),
  page: (question: PageQuestion) => readPage(db, question),
  spool: (question: SpoolQuestion, file: number) => spoolPage(db, question, file),
  ping: () => void db.get("SELECT count(*) FROM sqlite_schema"),
});

const writing = (db: Connection, step: StepSize): Answering => {
  const tx = writeTransaction(db, step);
  return {
    ...peopleWriting(db),
    ...mapWriting(db),
    ...upkeep(db),
    readKeys: (map: string, field: string) => readKeysOn(tx, map, field),
    takeRoom: () => void db.run("INSERT INTO room VALUES (randomblob(?))", bytesOfRoom),
    giveRoom: () => void db.run("DELETE FROM room"),
    write: async (request: PackedRequest) => packOutcome(await write(tx, unpackRequest(request))),
  };
};

/** Less may fit on a disk that has no room for most writes. */
const bytesOfRoom = 2 << 20;
/** What SQLite or the system refuses for reasons outside of the program is told as such; all else is a bug. */
const outside = /^SQLITE_(BUSY|LOCKED|IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM|AUTH|NOMEM|PROTOCOL)|^E[A-Z]+$/;

function told(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "SQLITE_FULL" || isNoRoom(code)) return fault("store-full", { store: path }, error);
  if (!outside.test(code)) return error;
  return fault("store-unavailable", { store: path, reason: (error as Error).message }, error);
}

async function inTransaction(db: Connection, work: () => unknown): Promise<unknown> {
  db.run("BEGIN IMMEDIATE");
  try {
    const answer = await work();
    db.run("COMMIT");
    return answer;
  } catch (error) {
    // Some errors have ended the transaction already.
    if (db.database.inTransaction) db.run("ROLLBACK");
    throw error;
  }
}

const reply = (message: ThreadReply, transferred: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, transferred);

/** The text of a page goes over without a copy. */
const transferable = (answer: unknown): ArrayBuffer[] => {
  const text = typeof answer === "object" && answer !== null && "text" in answer ? answer.text : null;
  return text instanceof Uint8Array && text.length > 0 ? [text.buffer as ArrayBuffer] : [];
};

type Answer = (question: ThreadQuestion, values: readonly unknown[]) => Promise<unknown>;

function answering(db: Connection): Answer {
  if (thread.role !== "writer") {
    const answers = reading(db);
    return async (question, values) => answers[question]!(...(values as never[]));
  }
  const step = new StepSize(thread.keysAtOnce);
  const answers = writing(db, step);
  return async (question, values) => {
    const started = performance.now();
    const answer = await inTransaction(db, () => answers[question]!(...(values as never[])));
    if (question === "readKeys") step.took(performance.now() - started);
    return answer;
  };
}

let db: Connection | undefined;
let answer: Answer | undefined;

function open(): void {
  try {
    db = connect(path, role);
    answer = answering(db);
    reply({ open: true });
    if (role === "writer") tidy();
  } catch (error) {
    reply({ open: false, error: toPlainError(told(error)) });
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
  const { id, question, values } = request;
  try {
    const found = await answer!(question, values);
    reply({ id, answer: found }, transferable(found));
    if (leaving.has(question)) tidy();
  } catch (error) {
    reply({ id, error: toPlainError(told(error)) });
  }
}

// One after the other: a write is many statements, and nothing may come between them.
let last: Promise<void> = Promise.resolve();
const queue = (work: () => Promise<void>): void => {
  last = last.then(work);
};
port.on("message", (request: ThreadRequest) => queue(() => handle(request)));

/** Questions after which there may be leavings: of this process, or of others. */
const leaving: ReadonlySet<ThreadQuestion> = new Set<ThreadQuestion>(["deleteMap", "purge"]);

/** Removes what maps have left, piece by piece, between what is asked. Whatever stops it, it goes on after the next start. */
function tidy(): void {
  queue(async () => {
    const open = db;
    if (!open) return;
    const more = await inTransaction(open, () => removeLeavings(open)).catch(() => false);
    // Requests that have arrived come first.
    if (more) setImmediate(tidy);
  });
}
