import { Problem } from "../../http/problems.js";
import type { FeaturePage, Store } from "../contract.js";
import { InFlightRequests } from "../in-flight-requests.js";
import {
  defaultKeyIndexWaitMs,
  KeyIndexBuilder,
  type KeyIndexPending,
  type KeyIndexProgress,
  type KeyIndexSettings,
} from "../key-index-builder.js";
import { pageTooLarge } from "../page-limit.js";
import { MemoryPaginationCursorStore } from "../pagination-cursors.js";
import type { StoreEvents } from "../store-events.js";
import { type PackedOutcome, unpackOutcome } from "./packed-outcome.js";
import { packRequest } from "./packed-request.js";
import type { ThreadMethod } from "./protocol.js";
import type { StoreMethod } from "./store-methods.js";
import { SupervisedThread } from "./supervised-thread.js";

/** Which thread a question goes to. */
const threadByMethod: Readonly<Record<StoreMethod, "reads" | "spools" | "writes">> = {
  accountByEmail: "reads",
  accountById: "reads",
  accounts: "reads",
  credentialByClientId: "reads",
  credentials: "reads",
  session: "reads",
  auditEntries: "reads",
  map: "reads",
  maps: "reads",
  access: "reads",
  page: "reads",
  spool: "spools",
  ping: "reads",
  addAccount: "writes",
  setAccountName: "writes",
  setPassword: "writes",
  addCredential: "writes",
  revokeCredential: "writes",
  addToken: "writes",
  revokeToken: "writes",
  addSession: "writes",
  extendSession: "writes",
  endSession: "writes",
  setSetupToken: "writes",
  useSetupToken: "writes",
  countAttempt: "writes",
  forgetAttempts: "writes",
  audit: "writes",
  addMap: "writes",
  changeMap: "writes",
  deleteMap: "writes",
  write: "writes",
  purge: "writes",
  purgeAudit: "writes",
};

/** A step is as long as others may wait (`BatchSizer`), and no more than this. */
const defaultKeyIndexSettings: KeyIndexSettings = {
  batchSize: 100_000,
  maxWaitMs: defaultKeyIndexWaitMs,
  isExclusive: true,
};

/**
 * A store in one SQLite file, made where there is none. Its folder must be there and on a disk of this machine; several
 * processes may have it open. A thread that ends is replaced.
 * @throws GeoferryError store-unavailable, store-newer, store-foreign; once it is open, the service's problems
 */
export async function openSqliteStore(
  path: string,
  { onThreadExit: report = () => {}, onKeyIndex }: StoreEvents = {},
  reading: KeyIndexSettings = defaultKeyIndexSettings,
): Promise<Store> {
  const writer = new SupervisedThread({ path, role: "writer", keyBatchSize: reading.batchSize }, report);
  const first = new SupervisedThread({ path, role: "reader" }, report);
  const second = new SupervisedThread({ path, role: "reader" }, report);
  const keys = new KeyIndexBuilder(
    reading,
    async (map, field) => (await writer.call("readKeys", [map, field])) as KeyIndexProgress | null,
    onKeyIndex,
  );
  let spooler: Promise<SupervisedThread> | undefined;
  const close = async () => {
    await keys.close();
    // The last to go, so that it takes the journal along.
    await Promise.all([first.close(), second.close(), spooler?.then((opened) => opened.close())]);
    await writer.close();
  };
  try {
    // It makes the database, which the others only read.
    await writer.open();
    await Promise.all([first.open(), second.open()]);
  } catch (error) {
    await close();
    throw error;
  }
  /** Whether the last write failed for want of room on the disk. */
  let isFull = false;
  const askWriter = async (question: ThreadMethod, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await writer.call(question, values);
    } catch (error) {
      if (error instanceof Problem && error.code === "disk-full") isFull = true;
      throw error;
    }
  };
  /** Most services never need it: it is there from the first large page on. */
  const openSpooler = async (): Promise<SupervisedThread> => {
    const member = new SupervisedThread({ path, role: "spooler" }, report);
    try {
      await member.open();
      return member;
    } catch (error) {
      spooler = undefined;
      await member.close();
      throw error;
    }
  };
  const askSpooler = async (question: StoreMethod, values: readonly unknown[]): Promise<unknown> => {
    spooler ??= openSpooler();
    return (await spooler).call(question, values);
  };
  const reader = () => (second.load < first.load ? second : first);
  const keysInFlight = new InFlightRequests();
  const pageEnds = new MemoryPaginationCursorStore();
  const askers = {
    reads: (question: StoreMethod, values: readonly unknown[]) => reader().call(question, values),
    spools: askSpooler,
    writes: askWriter,
  } as const;
  const questions = Object.entries(threadByMethod).map(([question, side]) => [
    question,
    (...values: unknown[]) => askers[side](question as StoreMethod, values),
  ]);
  const asked = Object.fromEntries(questions) as Pick<Store, StoreMethod>;
  return {
    ...asked,
    name: "sqlite",
    findCursors: (question) => pageEnds.findCursors(question),
    saveCursor: (kept) => pageEnds.saveCursor(kept),
    write: (request) =>
      keysInFlight.runExclusive(request, async () => {
        const packed = packRequest(request);
        const ask = async () => (await askWriter("write", [packed])) as PackedOutcome | KeyIndexPending;
        return unpackOutcome(await keys.write(request, ask));
      }),
    async page(question) {
      const found = (await reader().call("page", [question])) as FeaturePage | null | "too-large";
      if (found === "too-large") throw pageTooLarge(question.size);
      return found;
    },
    async ping() {
      writer.expectAlive();
      await Promise.all([first.call("ping", []), second.call("ping", [])]);
      if (!isFull) return;
      // The next thing that is written may be small: that it succeeds is no sign of room for others.
      await writer.call("takeRoom", []);
      await writer.call("giveRoom", []);
      isFull = false;
    },
    [Symbol.asyncDispose]: close,
  };
}
