import type { Page, Store, WriteOutcome } from "../contract.js";
import { KeysInFlight } from "../keys-in-flight.js";
import { pageTooLarge } from "../page-limit.js";
import { Member } from "./member.js";
import type { Question } from "./operations.js";
import { packRequest } from "./packed-request.js";

/** Which thread a question goes to. */
const sides: Readonly<Record<Question, "reads" | "writes">> = {
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
  ping: "reads",
  addAccount: "writes",
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
};

/**
 * A store in one SQLite file, made where there is none. Its folder must be there and on a disk of this machine; several
 * processes may have it open.
 * @throws GeoferryError store-unavailable, store-newer, store-foreign; once it is open, the service's problems
 */
export async function openSqliteStore(path: string): Promise<Store> {
  const writer = new Member({ path, role: "writer" });
  const first = new Member({ path, role: "reader" });
  const second = new Member({ path, role: "reader" });
  const close = async () => {
    // The last to go, so that it takes the journal along.
    await Promise.all([first.close(), second.close()]);
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
  const reader = () => (second.load < first.load ? second : first);
  const keysInFlight = new KeysInFlight();
  const questions = Object.entries(sides).map(([question, side]) => [
    question,
    (...values: unknown[]) => (side === "writes" ? writer : reader()).ask(question as Question, values),
  ]);
  const asked = Object.fromEntries(questions) as Omit<Store, "name" | typeof Symbol.asyncDispose>;
  return {
    ...asked,
    name: "sqlite",
    write: (request) =>
      keysInFlight.alone(request, () => writer.ask("write", [packRequest(request)]) as Promise<WriteOutcome>),
    async page(question) {
      const found = (await reader().ask("page", [question])) as Page | null | "too-large";
      if (found === "too-large") throw pageTooLarge(question.size);
      return found;
    },
    async ping() {
      writer.expectAlive();
      await Promise.all([first.ask("ping", []), second.ask("ping", [])]);
    },
    [Symbol.asyncDispose]: close,
  };
}
