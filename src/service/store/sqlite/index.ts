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

/** The thread that runs each method. */
const threadByMethod: Readonly<Record<StoreMethod, "reads" | "spools" | "writes">> = {
  accountByEmail: "reads",
  accountById: "reads",
  accounts: "reads",
  credentialByClientId: "reads",
  credentials: "reads",
  session: "reads",
  canUseSetupToken: "reads",
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

/** Maximum size of a batch; `BatchSizer` limits its duration. */
const defaultKeyIndexSettings: KeyIndexSettings = {
  batchSize: 100_000,
  maxWaitMs: defaultKeyIndexWaitMs,
  isExclusive: true,
};

/**
 * Opens a store in a SQLite file, and creates it if necessary. Its folder must exist, on a local disk; several
 * processes may open it. Threads that end unexpectedly are replaced.
 * @throws GeoferryError store-unavailable, store-newer, store-foreign; problems of the service after opening
 */
export async function openSqliteStore(
  path: string,
  { onThreadExit = () => {}, onKeyIndex }: StoreEvents = {},
  keyIndex: KeyIndexSettings = defaultKeyIndexSettings,
): Promise<Store> {
  const writer = new SupervisedThread({ path, role: "writer", keyBatchSize: keyIndex.batchSize }, onThreadExit);
  const first = new SupervisedThread({ path, role: "reader" }, onThreadExit);
  const second = new SupervisedThread({ path, role: "reader" }, onThreadExit);
  const keys = new KeyIndexBuilder(
    keyIndex,
    async (map, field) => (await writer.call("readKeys", [map, field])) as KeyIndexProgress | null,
    onKeyIndex,
  );
  let spooler: Promise<SupervisedThread> | undefined;
  const close = async () => {
    await keys.close();
    // Closed last, to remove the journal files.
    await Promise.all([first.close(), second.close(), spooler?.then((opened) => opened.close())]);
    await writer.close();
  };
  try {
    // The writer creates the database before the others open it read-only.
    await writer.open();
    await Promise.all([first.open(), second.open()]);
  } catch (error) {
    await close();
    throw error;
  }
  /** Whether the last write failed because the disk is full. */
  let isFull = false;
  const askWriter = async (method: ThreadMethod, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await writer.call(method, values);
    } catch (error) {
      if (error instanceof Problem && error.code === "disk-full") isFull = true;
      throw error;
    }
  };
  /** Started with the first large page, since most services never need it. */
  const openSpooler = async (): Promise<SupervisedThread> => {
    const thread = new SupervisedThread({ path, role: "spooler" }, onThreadExit);
    try {
      await thread.open();
      return thread;
    } catch (error) {
      spooler = undefined;
      await thread.close();
      throw error;
    }
  };
  const askSpooler = async (method: StoreMethod, values: readonly unknown[]): Promise<unknown> => {
    spooler ??= openSpooler();
    return (await spooler).call(method, values);
  };
  const reader = () => (second.load < first.load ? second : first);
  const keysInFlight = new InFlightRequests();
  const pageEnds = new MemoryPaginationCursorStore();
  const callers = {
    reads: (method: StoreMethod, values: readonly unknown[]) => reader().call(method, values),
    spools: askSpooler,
    writes: askWriter,
  } as const;
  const methods = Object.entries(threadByMethod).map(([method, thread]) => [
    method,
    (...values: unknown[]) => callers[thread](method as StoreMethod, values),
  ]);
  const storeMethods = Object.fromEntries(methods) as Pick<Store, StoreMethod>;
  return {
    ...storeMethods,
    name: "sqlite",
    findCursors: (query) => pageEnds.findCursors(query),
    saveCursor: (kept) => pageEnds.saveCursor(kept),
    write: (request) =>
      keysInFlight.runExclusive(request, async () => {
        const packedRequest = packRequest(request);
        const attempt = async () => (await askWriter("write", [packedRequest])) as PackedOutcome | KeyIndexPending;
        return unpackOutcome(await keys.write(request, attempt));
      }),
    async page(request) {
      const found = (await reader().call("page", [request])) as FeaturePage | null | "too-large";
      if (found === "too-large") throw pageTooLarge(request.size);
      return found;
    },
    async ping() {
      writer.expectAlive();
      await Promise.all([first.call("ping", []), second.call("ping", [])]);
      if (!isFull) return;
      // A small write may succeed on a disk that is still full for most others, so this writes a large one.
      await writer.call("reserveSpace", []);
      await writer.call("releaseSpace", []);
      isFull = false;
    },
    [Symbol.asyncDispose]: close,
  };
}
