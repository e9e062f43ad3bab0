import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Credential, Store } from "../../../../src/service/store/contract.js";
import type { Opening } from "../contract.js";
import { aMap, anAccount, hashOf, noon } from "../subject.js";

const hour = 3600_000;

async function aCredential(store: Store, account: string, fields: Partial<Credential> = {}): Promise<Credential> {
  const id = randomUUID();
  const credential: Credential = {
    id,
    account,
    name: "nightly",
    clientId: `client-${id}`,
    created: noon,
    lastUsed: null,
    revoked: null,
    ...fields,
  };
  await store.addCredential({ ...credential, secretHash: hashOf(`secret of ${id}`) });
  return credential;
}

const aToken = (store: Store, credential: Credential, text: string, created = noon) =>
  store.addToken({ hash: hashOf(text), credential: credential.id, created, expires: created + hour });

export function describePeople(open: Opening): void {
  describe("accounts", () => {
    test("are found by id, and by email in any case; an email has one account", async () => {
      const store = await open();
      const account = {
        id: randomUUID(),
        email: "Zoë@Example.org",
        name: "Zoë",
        passwordHash: "$argon2id$v=19$x",
        created: noon,
      };
      expect(await store.addAccount(account)).toBe(true);
      expect(await store.addAccount({ ...account, id: randomUUID(), email: "ZOË@example.ORG" })).toBe(false);
      expect(await store.accountById(account.id)).toEqual(account);
      expect(await store.accountByEmail("zoë@example.org")).toEqual(account);
      // The same name with the dots of the e as a character of their own.
      expect(await store.accountByEmail("zoe\u0308@example.org")).toEqual(account);
      expect(await store.accountByEmail("zoe@example.org")).toBeNull();
      expect(await store.accountById(randomUUID())).toBeNull();
      expect(await store.accounts()).toEqual([account]);
    });

    test("that are made at once get an email once", async () => {
      const store = await open();
      const account = { email: "ada@example.org", name: "", passwordHash: "$argon2id$", created: noon };
      const made = await Promise.all(
        Array.from({ length: 6 }, () => store.addAccount({ ...account, id: randomUUID() })),
      );
      expect(made.filter((added) => added)).toHaveLength(1);
      expect(await store.accounts()).toHaveLength(1);
    });

    test("get another name, which their maps have at once", async () => {
      const store = await open();
      const [ada, bob] = [await anAccount(store, "ada"), await anAccount(store, "bob")];
      const map = await aMap(store, ada);
      await store.setAccountName({ account: ada, name: "Ada, 測量" });
      expect((await store.accountById(ada))?.name).toBe("Ada, 測量");
      expect((await store.accountById(bob))?.name).toBe("");
      expect((await store.map(map))?.ownerName).toBe("Ada, 測量");
    });

    test("get another password, which ends their sessions and no others", async () => {
      const store = await open();
      const [ada, bob] = [await anAccount(store, "ada"), await anAccount(store, "bob")];
      await store.addSession({ hash: hashOf("a"), account: ada, created: noon, expires: noon + hour });
      await store.addSession({ hash: hashOf("b"), account: bob, created: noon, expires: noon + hour });
      await store.setPassword({ account: ada, passwordHash: "$argon2id$other" });
      expect((await store.accountById(ada))?.passwordHash).toBe("$argon2id$other");
      expect(await store.session({ hash: hashOf("a"), now: noon })).toBeNull();
      expect(await store.session({ hash: hashOf("b"), now: noon })).not.toBeNull();
    });
  });

  describe("credentials", () => {
    test("come newest first, without their secrets", async () => {
      const store = await open();
      const ada = await anAccount(store);
      const old = await aCredential(store, ada, { created: noon - 1, name: "old" });
      const young = await aCredential(store, ada, { created: noon + 1, name: "young" });
      const same = await aCredential(store, ada, { created: noon + 1, name: "added later" });
      expect(await store.credentials(ada)).toEqual([same, young, old]);
      expect(await store.credentials(await anAccount(store, "bob"))).toEqual([]);
    });

    test("are found by client id, with the hash of the secret", async () => {
      const store = await open();
      const credential = await aCredential(store, await anAccount(store));
      const found = await store.credentialByClientId(credential.clientId);
      expect({ ...found, secretHash: Buffer.from(found!.secretHash) }).toEqual({
        ...credential,
        secretHash: hashOf(`secret of ${credential.id}`),
      });
      expect(await store.credentialByClientId("client-unknown")).toBeNull();
    });

    test("tell when a token was last made with them", async () => {
      const store = await open();
      const credential = await aCredential(store, await anAccount(store));
      await aToken(store, credential, "first", noon + 5);
      await aToken(store, credential, "late", noon + 9);
      expect((await store.credentialByClientId(credential.clientId))?.lastUsed).toBe(noon + 9);
    });

    test("are revoked once, by their owner, and their tokens end with them", async () => {
      const store = await open();
      const [ada, bob] = [await anAccount(store, "ada"), await anAccount(store, "bob")];
      const [one, other] = [await aCredential(store, ada), await aCredential(store, ada)];
      await aToken(store, one, "one");
      await aToken(store, other, "other");
      const revoke = { account: ada, credential: one.id, now: noon + 7 };
      expect(await store.revokeCredential({ ...revoke, account: bob })).toBe(false);
      expect(await store.revokeCredential(revoke)).toBe(true);
      expect(await store.revokeCredential({ ...revoke, now: noon + 8 })).toBe(false);
      expect((await store.credentialByClientId(one.clientId))?.revoked).toBe(noon + 7);
      const bearer = async (text: string) =>
        (await store.access({ tokenHash: hashOf(text), map: null, now: noon })).bearer;
      expect(await bearer("one")).toBeNull();
      expect((await bearer("other"))?.credential).toBe(other.id);
      // One that was on its way when the credential was revoked.
      await aToken(store, one, "late");
      expect(await bearer("late")).toBeNull();
    });
  });

  describe("tokens", () => {
    test("say who sent a request, and to which map, until they expire", async () => {
      const store = await open();
      const ada = await anAccount(store);
      const credential = await aCredential(store, ada);
      const map = await aMap(store, ada);
      await aToken(store, credential, "token");
      const access = (now: number, of: string | null = map) =>
        store.access({ tokenHash: hashOf("token"), map: of, now });
      const bearer = { account: ada, email: "ada@example.org", credential: credential.id, expires: noon + hour };
      expect(await access(noon)).toEqual({ bearer, map: await store.map(map) });
      expect((await access(noon + hour - 1)).bearer).toEqual(bearer);
      expect(await access(noon + hour)).toEqual({ bearer: null, map: await store.map(map) });
      expect(await access(noon, null)).toEqual({ bearer, map: null });
      expect(await access(noon, randomUUID())).toEqual({ bearer, map: null });
      expect(await store.access({ tokenHash: hashOf("other"), map: null, now: noon })).toEqual({
        bearer: null,
        map: null,
      });
    });

    test("are ended by the client that has them alone (RFC 7009, 2.1)", async () => {
      const store = await open();
      const ada = await anAccount(store);
      const [mine, other] = [await aCredential(store, ada), await aCredential(store, ada)];
      await aToken(store, mine, "token");
      const known = async () => (await store.access({ tokenHash: hashOf("token"), map: null, now: noon })).bearer;
      await store.revokeToken({ hash: hashOf("token"), clientId: other.clientId });
      expect(await known()).not.toBeNull();
      await store.revokeToken({ hash: hashOf("unknown"), clientId: mine.clientId });
      await store.revokeToken({ hash: hashOf("token"), clientId: mine.clientId });
      expect(await known()).toBeNull();
    });
  });

  describe("sessions", () => {
    test("last until they expire or end, and can be prolonged", async () => {
      const store = await open();
      const ada = await anAccount(store);
      const hash = hashOf("session");
      const session = { account: ada, email: "ada@example.org", created: noon, expires: noon + hour };
      await store.addSession({ hash, account: ada, created: noon, expires: noon + hour });
      expect(await store.session({ hash, now: noon + hour - 1 })).toEqual(session);
      expect(await store.session({ hash, now: noon + hour })).toBeNull();
      await store.extendSession({ hash, expires: noon + 2 * hour });
      await store.extendSession({ hash: hashOf("unknown"), expires: noon + 2 * hour });
      expect(await store.session({ hash, now: noon + hour })).toEqual({ ...session, expires: noon + 2 * hour });
      await store.endSession(hash);
      await store.endSession(hash);
      expect(await store.session({ hash, now: noon })).toBeNull();
    });
  });

  describe("the link of the first start", () => {
    test("serves once", async () => {
      const store = await open();
      await store.setSetupToken({ hash: hashOf("setup"), expires: noon + hour });
      expect(await store.useSetupToken({ hash: hashOf("guess"), now: noon })).toBe(false);
      expect(await store.useSetupToken({ hash: hashOf("setup"), now: noon })).toBe(true);
      expect(await store.useSetupToken({ hash: hashOf("setup"), now: noon })).toBe(false);
    });

    test("serves neither once it has expired, nor when another took its place, nor when there is an account", async () => {
      const store = await open();
      await store.setSetupToken({ hash: hashOf("first"), expires: noon + hour });
      expect(await store.useSetupToken({ hash: hashOf("first"), now: noon + hour })).toBe(false);
      await store.setSetupToken({ hash: hashOf("second"), expires: noon + hour });
      expect(await store.useSetupToken({ hash: hashOf("first"), now: noon })).toBe(false);
      await anAccount(store);
      expect(await store.useSetupToken({ hash: hashOf("second"), now: noon })).toBe(false);
    });
  });

  describe("attempts", () => {
    test("are counted by name in a window from the first; the greatest count is told", async () => {
      const store = await open();
      const attempt = (names: string[], now: number) => store.countAttempt({ names, now, window: 100 });
      expect(await attempt(["client a", "from 1"], noon)).toEqual({ count: 1, until: noon + 100 });
      expect(await attempt(["client b", "from 1"], noon + 10)).toEqual({ count: 2, until: noon + 100 });
      expect(await attempt(["client b", "from 2"], noon + 20)).toEqual({ count: 2, until: noon + 110 });
      expect(await attempt(["client a", "from 1"], noon + 99)).toEqual({ count: 3, until: noon + 100 });
      // The window of "from 1" is over, that of "client b" is not.
      expect(await attempt(["client b", "from 1"], noon + 100)).toEqual({ count: 3, until: noon + 110 });
      expect(await attempt(["from 1"], noon + 101)).toEqual({ count: 2, until: noon + 200 });
    });

    test("are counted in a window of the usual length after the clock was set back", async () => {
      const store = await open();
      const day = 24 * 3600 * 1000;
      const attempt = (now: number) => store.countAttempt({ names: ["a"], now, window: 100 });
      await attempt(noon);
      expect(await attempt(noon - day)).toEqual({ count: 1, until: noon - day + 100 });
      expect(await attempt(noon - day + 99)).toEqual({ count: 2, until: noon - day + 100 });
    });

    test("are forgotten after a success", async () => {
      const store = await open();
      const attempt = () => store.countAttempt({ names: ["a"], now: noon, window: 100 });
      await attempt();
      await attempt();
      await store.forgetAttempts(["a", "b"]);
      expect((await attempt()).count).toBe(1);
    });
  });

  describe("the audit log", () => {
    test("tells newest first, of an account, of a map, or of both", async () => {
      const store = await open();
      const [ada, map] = [randomUUID(), randomUUID()];
      const entry = { at: noon, account: ada, map: null, action: "login", detail: {}, address: "::1" };
      const created = { ...entry, at: noon + 1, map, action: "map-created", detail: { name: "Orte", private: false } };
      const failed = {
        ...entry,
        at: noon + 2,
        account: null,
        action: "login-failed",
        detail: { tries: 3, known: null },
      };
      const renamed = { ...entry, at: noon + 3, account: null, map, action: "map-changed" };
      for (const one of [entry, created, failed, renamed]) await store.audit(one);
      expect(await store.auditOf({ limit: 10 })).toEqual([renamed, failed, created, entry]);
      expect(await store.auditOf({ limit: 2 })).toEqual([renamed, failed]);
      expect(await store.auditOf({ account: ada, limit: 10 })).toEqual([created, entry]);
      expect(await store.auditOf({ map, limit: 10 })).toEqual([renamed, created]);
      expect(await store.auditOf({ map, account: ada, limit: 10 })).toEqual([created]);
    });
  });

  describe("upkeep", () => {
    test("removes what has expired and nothing else", async () => {
      const store = await open();
      const ada = await anAccount(store);
      const credential = await aCredential(store, ada);
      await aToken(store, credential, "old", noon - hour);
      await aToken(store, credential, "young", noon);
      await store.addSession({ hash: hashOf("old"), account: ada, created: noon - hour, expires: noon });
      await store.addSession({ hash: hashOf("young"), account: ada, created: noon, expires: noon + 1 });
      await store.countAttempt({ names: ["old"], now: noon - 10, window: 10 });
      await store.countAttempt({ names: ["young"], now: noon - 10, window: 11 });
      await store.purge(noon);
      // Asked as of before the purge: what is not told then is gone.
      const bearer = async (text: string) =>
        (await store.access({ tokenHash: hashOf(text), map: null, now: noon - 1 })).bearer;
      expect(await bearer("old")).toBeNull();
      expect(await bearer("young")).not.toBeNull();
      expect(await store.session({ hash: hashOf("old"), now: noon - 1 })).toBeNull();
      expect(await store.session({ hash: hashOf("young"), now: noon - 1 })).not.toBeNull();
      const again = async (name: string) =>
        (await store.countAttempt({ names: [name], now: noon - 1, window: 10 })).count;
      expect(await again("old")).toBe(1);
      expect(await again("young")).toBe(2);
    });

    test("removes old entries of the audit log in steps, the oldest first", async () => {
      const store = await open();
      const entry = { account: null, map: null, action: "login-failed", detail: {}, address: null };
      for (let i = 0; i < 2005; i++) await store.audit({ ...entry, at: noon + i });
      const left = async () => (await store.auditOf({ limit: 3000 })).map(({ at }) => at - noon);
      expect(await store.purgeAudit(noon + 2003)).toBe(true);
      expect(await left()).toEqual([2004, 2003, 2002, 2001, 2000]);
      expect(await store.purgeAudit(noon + 2003)).toBe(false);
      expect(await left()).toEqual([2004, 2003]);
      expect(await store.purgeAudit(noon)).toBe(false);
      expect(await left()).toEqual([2004, 2003]);
    }, 60_000);

    test("leaves a store that answers", async () => {
      const store = await open();
      await store.purge(noon);
      await expect(store.ping()).resolves.toBeUndefined();
      expect(store.name).toMatch(/^(sqlite|postgresql)$/);
    });
  });
}
