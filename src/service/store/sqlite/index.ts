import type { Store, WriteOutcome, WriteRequest } from "../contract.js";
import { Member } from "./member.js";
import type { Question } from "./operations.js";
import { packRequest } from "./packed-request.js";

const readers = 2;

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
  const writer = await Member.start({ path, role: "writer" });
  const members = [writer];
  try {
    // Now that the writer has made the database.
    for (let i = 0; i < readers; i++) members.push(await Member.start({ path, role: "reader" }));
  } catch (error) {
    await Promise.all(members.map((member) => member.close()));
    throw error;
  }
  const [first, ...others] = members.slice(1) as [Member, ...Member[]];
  const reader = () => others.reduce((least, member) => (member.load < least.load ? member : least), first);
  const questions = Object.entries(sides).map(([question, side]) => [
    question,
    (...values: unknown[]) => (side === "writes" ? writer : reader()).ask(question as Question, values),
  ]);
  const asked = Object.fromEntries(questions) as Omit<Store, "name" | typeof Symbol.asyncDispose>;
  return {
    ...asked,
    name: "sqlite",
    write: oneAtATime((request) => writer.ask("write", [packRequest(request)]) as Promise<WriteOutcome>),
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member.close()));
    },
  };
}

/** A request whose key is in use waits for nothing: it is told so. */
function oneAtATime(write: Store["write"]): Store["write"] {
  const inFlight = new Set<string>();
  return async (request: WriteRequest) => {
    if (!request.idempotency) return write(request);
    const { scope, key } = request.idempotency;
    const name = JSON.stringify([scope, key]);
    if (inFlight.has(name)) return { kind: "key-in-flight" };
    inFlight.add(name);
    try {
      return await write(request);
    } finally {
      inFlight.delete(name);
    }
  };
}
