import { Problem } from "../../problems.js";
import type { Page, Store } from "../contract.js";
import { KeysInFlight } from "../keys-in-flight.js";
import type { StoreNews } from "../news.js";
import { PageEndsInMemory } from "../page-ends.js";
import { pageTooLarge } from "../page-limit.js";
import { type KeyProgress, KeyReader, type KeyReading, type ReadingKeys, usualPatience } from "../reading-keys.js";
import { LastingMember } from "./lasting-member.js";
import type { Question } from "./operations.js";
import { type PackedOutcome, unpackOutcome } from "./packed-outcome.js";
import { packRequest } from "./packed-request.js";
import type { ThreadQuestion } from "./protocol.js";

/** Which thread a question goes to. */
const sides: Readonly<Record<Question, "reads" | "spools" | "writes">> = {
  accountByEmail: "reads",
  accountById: "reads",
  accounts: "reads",
  credentialByClientId: "reads",
  credentials: "reads",
  session: "reads",
  auditOf: "reads",
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

/** A step is as long as others may wait (`StepSize`), and no more than this. */
const usualReading: KeyReading = { atOnce: 100_000, patience: usualPatience, alone: true };

/**
 * A store in one SQLite file, made where there is none. Its folder must be there and on a disk of this machine; several
 * processes may have it open. A thread that ends is replaced.
 * @throws GeoferryError store-unavailable, store-newer, store-foreign; once it is open, the service's problems
 */
export async function openSqliteStore(
  path: string,
  { threadEnded: report = () => {}, keysRead }: StoreNews = {},
  reading: KeyReading = usualReading,
): Promise<Store> {
  const writer = new LastingMember({ path, role: "writer", keysAtOnce: reading.atOnce }, report);
  const first = new LastingMember({ path, role: "reader" }, report);
  const second = new LastingMember({ path, role: "reader" }, report);
  const keys = new KeyReader(
    reading,
    async (map, field) => (await writer.ask("readKeys", [map, field])) as KeyProgress | null,
    keysRead,
  );
  let spooler: Promise<LastingMember> | undefined;
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
  const askWriter = async (question: ThreadQuestion, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await writer.ask(question, values);
    } catch (error) {
      if (error instanceof Problem && error.code === "disk-full") isFull = true;
      throw error;
    }
  };
  /** Most services never need it: it is there from the first large page on. */
  const openSpooler = async (): Promise<LastingMember> => {
    const member = new LastingMember({ path, role: "spooler" }, report);
    try {
      await member.open();
      return member;
    } catch (error) {
      spooler = undefined;
      await member.close();
      throw error;
    }
  };
  const askSpooler = async (question: Question, values: readonly unknown[]): Promise<unknown> => {
    spooler ??= openSpooler();
    return (await spooler).ask(question, values);
  };
  const reader = () => (second.load < first.load ? second : first);
  const keysInFlight = new KeysInFlight();
  const pageEnds = new PageEndsInMemory();
  const askers = {
    reads: (question: Question, values: readonly unknown[]) => reader().ask(question, values),
    spools: askSpooler,
    writes: askWriter,
  } as const;
  const questions = Object.entries(sides).map(([question, side]) => [
    question,
    (...values: unknown[]) => askers[side](question as Question, values),
  ]);
  const asked = Object.fromEntries(questions) as Pick<Store, Question>;
  return {
    ...asked,
    name: "sqlite",
    pageEnds: (question) => pageEnds.pageEnds(question),
    keepPageEnd: (kept) => pageEnds.keepPageEnd(kept),
    write: (request) =>
      keysInFlight.alone(request, async () => {
        const packed = packRequest(request);
        const ask = async () => (await askWriter("write", [packed])) as PackedOutcome | ReadingKeys;
        return unpackOutcome(await keys.write(request, ask));
      }),
    async page(question) {
      const found = (await reader().ask("page", [question])) as Page | null | "too-large";
      if (found === "too-large") throw pageTooLarge(question.size);
      return found;
    },
    async ping() {
      writer.expectAlive();
      await Promise.all([first.ask("ping", []), second.ask("ping", [])]);
      if (!isFull) return;
      // The next thing that is written may be small: that it succeeds is no sign of room for others.
      await writer.ask("takeRoom", []);
      await writer.ask("giveRoom", []);
      isFull = false;
    },
    [Symbol.asyncDispose]: close,
  };
}
