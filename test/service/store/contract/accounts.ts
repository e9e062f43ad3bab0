import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Credential, Store } from "../../../../src/service/store/contract.js";
import type { OpenStore } from "../contract.js";
import { hashOf, insertAccount, insertMap, testTime } from "../store-fixture.js";

const hour = 3600_000;

async function aCredential(store: Store, account: string, fields: Partial<Credential> = {}): Promise<Credential> {
  const id = randomUUID();
  const credential: Credential = {
    id,
    account,
    name: "nightly",
    clientId: `client-${id}`,
    created: testTime,
    lastUsed: null,
    revoked: null,
    ...fields,
  };
  await store.addCredential({ ...credential, secretHash: hashOf(`secret of ${id}`) });
  return credential;
}

const aToken = (store: Store, credential: Credential, text: string, created = testTime) =>
  store.addToken({ hash: hashOf(text), credential: credential.id, created, expires: created + hour });

export function describeAccounts(open: OpenStore): void {
  describe("accounts", () => {
    test("are found by id, and by email address in any letter case; an address has one account", async () => {
      const store = await open();
      const account = {
        id: randomUUID(),
        email: "Zoë@Example.org",
        name: "Zoë",
        passwordHash: "$argon2id$v=19$x",
        created: testTime,
      };
      expect(await store.addAccount(account)).toBe(true);
      expect(await store.addAccount({ ...account, id: randomUUID(), email: "ZOË@example.ORG" })).toBe(false);
      expect(await store.accountById(account.id)).toEqual(account);
      expect(await store.accountByEmail("zoë@example.org")).toEqual(account);
      // The same name, decomposed.
      expect(await store.accountByEmail("zoe\u0308@example.org")).toEqual(account);
      expect(await store.accountByEmail("zoe@example.org")).toBeNull();
      expect(await store.accountById(randomUUID())).toBeNull();
      expect(await store.accounts()).toEqual([account]);
    });

    test("are created once per email address, also concurrently", async () => {
      const store = await open();
      const account = { email: "ada@example.org", name: "", passwordHash: "$argon2id$", created: testTime };
      const made = await Promise.all(
        Array.from({ length: 6 }, () => store.addAccount({ ...account, id: randomUUID() })),
      );
      expect(made.filter((added) => added)).toHaveLength(1);
      expect(await store.accounts()).toHaveLength(1);
    });

    test("can be renamed, which applies to their maps at once", async () => {
      const store = await open();
      const [ada, bob] = [await insertAccount(store, "ada"), await insertAccount(store, "bob")];
      const map = await insertMap(store, ada);
      await store.setAccountName({ account: ada, name: "Ada, 測量" });
      expect((await store.accountById(ada))?.name).toBe("Ada, 測量");
      expect((await store.accountById(bob))?.name).toBe("");
      expect((await store.map(map))?.ownerName).toBe("Ada, 測量");
    });

    test("can change their password, which ends their own sessions only", async () => {
      const store = await open();
      const [ada, bob] = [await insertAccount(store, "ada"), await insertAccount(store, "bob")];
      await store.addSession({ hash: hashOf("a"), account: ada, created: testTime, expires: testTime + hour });
      await store.addSession({ hash: hashOf("b"), account: bob, created: testTime, expires: testTime + hour });
      await store.setPassword({ account: ada, passwordHash: "$argon2id$other" });
      expect((await store.accountById(ada))?.passwordHash).toBe("$argon2id$other");
      expect(await store.session({ hash: hashOf("a"), now: testTime })).toBeNull();
      expect(await store.session({ hash: hashOf("b"), now: testTime })).not.toBeNull();
    });
  });

  describe("credentials", () => {
    test("are listed newest first, without their secrets", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const old = await aCredential(store, ada, { created: testTime - 1, name: "old" });
      const young = await aCredential(store, ada, { created: testTime + 1, name: "young" });
      const same = await aCredential(store, ada, { created: testTime + 1, name: "added later" });
      expect(await store.credentials(ada)).toEqual([same, young, old]);
      expect(await store.credentials(await insertAccount(store, "bob"))).toEqual([]);
    });

    test("are found by client id, with the hash of the secret", async () => {
      const store = await open();
      const credential = await aCredential(store, await insertAccount(store));
      const found = await store.credentialByClientId(credential.clientId);
      expect({ ...found, secretHash: Buffer.from(found!.secretHash) }).toEqual({
        ...credential,
        secretHash: hashOf(`secret of ${credential.id}`),
      });
      expect(await store.credentialByClientId("client-unknown")).toBeNull();
    });

    test("record when they were last used for a token", async () => {
      const store = await open();
      const credential = await aCredential(store, await insertAccount(store));
      await aToken(store, credential, "first", testTime + 5);
      await aToken(store, credential, "late", testTime + 9);
      expect((await store.credentialByClientId(credential.clientId))?.lastUsed).toBe(testTime + 9);
    });

    test("are revoked once, by their owner, together with their tokens", async () => {
      const store = await open();
      const [ada, bob] = [await insertAccount(store, "ada"), await insertAccount(store, "bob")];
      const [one, other] = [await aCredential(store, ada), await aCredential(store, ada)];
      await aToken(store, one, "one");
      await aToken(store, other, "other");
      const revoke = { account: ada, credential: one.id, now: testTime + 7 };
      expect(await store.revokeCredential({ ...revoke, account: bob })).toBe(false);
      expect(await store.revokeCredential(revoke)).toBe(true);
      expect(await store.revokeCredential({ ...revoke, now: testTime + 8 })).toBe(false);
      expect((await store.credentialByClientId(one.clientId))?.revoked).toBe(testTime + 7);
      const bearer = async (text: string) =>
        (await store.access({ tokenHash: hashOf(text), map: null, now: testTime })).bearer;
      expect(await bearer("one")).toBeNull();
      expect((await bearer("other"))?.credential).toBe(other.id);
      // A token request that was in progress during the revocation.
      await aToken(store, one, "late");
      expect(await bearer("late")).toBeNull();
    });
  });

  describe("tokens", () => {
    test("identify the account of a request and its map, until they expire", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const credential = await aCredential(store, ada);
      const map = await insertMap(store, ada);
      await aToken(store, credential, "token");
      const access = (now: number, of: string | null = map) =>
        store.access({ tokenHash: hashOf("token"), map: of, now });
      const bearer = { account: ada, email: "ada@example.org", credential: credential.id, expires: testTime + hour };
      expect(await access(testTime)).toEqual({ bearer, map: await store.map(map) });
      expect((await access(testTime + hour - 1)).bearer).toEqual(bearer);
      expect(await access(testTime + hour)).toEqual({ bearer: null, map: await store.map(map) });
      expect(await access(testTime, null)).toEqual({ bearer, map: null });
      expect(await access(testTime, randomUUID())).toEqual({ bearer, map: null });
      expect(await store.access({ tokenHash: hashOf("other"), map: null, now: testTime })).toEqual({
        bearer: null,
        map: null,
      });
    });

    test("of a clock that was ahead are not valid once it is corrected", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const credential = await aCredential(store, ada);
      await aToken(store, credential, "token", testTime + 365 * 24 * hour);
      const access = (now: number) => store.access({ tokenHash: hashOf("token"), map: null, now });
      expect((await access(testTime)).bearer).toBeNull();
      expect((await access(testTime + 365 * 24 * hour - 60_000)).bearer).not.toBeNull();
    });

    test("are revoked by their own client only (RFC 7009, 2.1)", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const [mine, other] = [await aCredential(store, ada), await aCredential(store, ada)];
      await aToken(store, mine, "token");
      const known = async () => (await store.access({ tokenHash: hashOf("token"), map: null, now: testTime })).bearer;
      await store.revokeToken({ hash: hashOf("token"), clientId: other.clientId });
      expect(await known()).not.toBeNull();
      await store.revokeToken({ hash: hashOf("unknown"), clientId: mine.clientId });
      await store.revokeToken({ hash: hashOf("token"), clientId: mine.clientId });
      expect(await known()).toBeNull();
    });
  });

  describe("sessions", () => {
    test("last until they expire or end, and can be extended", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const hash = hashOf("session");
      const session = { account: ada, email: "ada@example.org", created: testTime, expires: testTime + hour };
      await store.addSession({ hash, account: ada, created: testTime, expires: testTime + hour });
      expect(await store.session({ hash, now: testTime + hour - 1 })).toEqual(session);
      expect(await store.session({ hash, now: testTime + hour })).toBeNull();
      await store.extendSession({ hash, expires: testTime + 2 * hour });
      await store.extendSession({ hash: hashOf("unknown"), expires: testTime + 2 * hour });
      expect(await store.session({ hash, now: testTime + hour })).toEqual({ ...session, expires: testTime + 2 * hour });
      await store.endSession(hash);
      await store.endSession(hash);
      expect(await store.session({ hash, now: testTime })).toBeNull();
    });
  });

  describe("the setup token", () => {
    test("works once", async () => {
      const store = await open();
      await store.setSetupToken({ hash: hashOf("setup"), expires: testTime + hour });
      const states = () =>
        Promise.all(["guess", "setup"].map((text) => store.canUseSetupToken({ hash: hashOf(text), now: testTime })));
      expect(await states()).toEqual([false, true]);
      expect(await store.canUseSetupToken({ hash: hashOf("setup"), now: testTime + hour })).toBe(false);
      expect(await store.useSetupToken({ hash: hashOf("guess"), now: testTime })).toBe(false);
      expect(await store.useSetupToken({ hash: hashOf("setup"), now: testTime })).toBe(true);
      expect(await store.useSetupToken({ hash: hashOf("setup"), now: testTime })).toBe(false);
      expect(await states()).toEqual([false, false]);
    });

    test("does not work if it has expired, was replaced, or if there is an account", async () => {
      const store = await open();
      await store.setSetupToken({ hash: hashOf("first"), expires: testTime + hour });
      expect(await store.useSetupToken({ hash: hashOf("first"), now: testTime + hour })).toBe(false);
      await store.setSetupToken({ hash: hashOf("second"), expires: testTime + hour });
      expect(await store.useSetupToken({ hash: hashOf("first"), now: testTime })).toBe(false);
      await insertAccount(store);
      expect(await store.useSetupToken({ hash: hashOf("second"), now: testTime })).toBe(false);
    });
  });

  describe("attempts", () => {
    test("are counted by name in a window from the first; the greatest count is returned", async () => {
      const store = await open();
      const attempt = (names: string[], now: number) => store.countAttempt({ names, now, window: 100 });
      expect(await attempt(["client a", "from 1"], testTime)).toEqual({ count: 1, until: testTime + 100 });
      expect(await attempt(["client b", "from 1"], testTime + 10)).toEqual({ count: 2, until: testTime + 100 });
      expect(await attempt(["client b", "from 2"], testTime + 20)).toEqual({ count: 2, until: testTime + 110 });
      expect(await attempt(["client a", "from 1"], testTime + 99)).toEqual({ count: 3, until: testTime + 100 });
      // The window of "from 1" has ended, that of "client b" has not.
      expect(await attempt(["client b", "from 1"], testTime + 100)).toEqual({ count: 3, until: testTime + 110 });
      expect(await attempt(["from 1"], testTime + 101)).toEqual({ count: 2, until: testTime + 200 });
    });

    test("are counted in a window of the usual length after the clock was set back", async () => {
      const store = await open();
      const day = 24 * 3600 * 1000;
      const attempt = (now: number) => store.countAttempt({ names: ["a"], now, window: 100 });
      await attempt(testTime);
      expect(await attempt(testTime - day)).toEqual({ count: 1, until: testTime - day + 100 });
      expect(await attempt(testTime - day + 99)).toEqual({ count: 2, until: testTime - day + 100 });
    });

    test("are forgotten after a success", async () => {
      const store = await open();
      const attempt = () => store.countAttempt({ names: ["a"], now: testTime, window: 100 });
      await attempt();
      await attempt();
      await store.forgetAttempts(["a", "b"]);
      expect((await attempt()).count).toBe(1);
    });
  });

  describe("the audit log", () => {
    test("is listed newest first, by account, by map, or by both", async () => {
      const store = await open();
      const [ada, map] = [randomUUID(), randomUUID()];
      const entry = { at: testTime, account: ada, map: null, action: "login", detail: {}, address: "::1" };
      const created = {
        ...entry,
        at: testTime + 1,
        map,
        action: "map-created",
        detail: { name: "Orte", private: false },
      };
      const failed = {
        ...entry,
        at: testTime + 2,
        account: null,
        action: "login-failed",
        detail: { tries: 3, known: null },
      };
      const renamed = { ...entry, at: testTime + 3, account: null, map, action: "map-changed" };
      for (const one of [entry, created, failed, renamed]) await store.audit(one);
      expect(await store.auditEntries({ limit: 10 })).toEqual([renamed, failed, created, entry]);
      expect(await store.auditEntries({ limit: 2 })).toEqual([renamed, failed]);
      expect(await store.auditEntries({ account: ada, limit: 10 })).toEqual([created, entry]);
      expect(await store.auditEntries({ map, limit: 10 })).toEqual([renamed, created]);
      expect(await store.auditEntries({ map, account: ada, limit: 10 })).toEqual([created]);
    });
  });

  describe("maintenance", () => {
    test("removes expired data only", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const credential = await aCredential(store, ada);
      await aToken(store, credential, "old", testTime - hour);
      await aToken(store, credential, "young", testTime);
      await store.addSession({ hash: hashOf("old"), account: ada, created: testTime - hour, expires: testTime });
      await store.addSession({ hash: hashOf("young"), account: ada, created: testTime, expires: testTime + 1 });
      await store.countAttempt({ names: ["old"], now: testTime - 10, window: 10 });
      await store.countAttempt({ names: ["young"], now: testTime - 10, window: 11 });
      await store.purge(testTime);
      // Queried as of before the purge, so that only removed tokens are missing.
      const bearer = async (text: string) =>
        (await store.access({ tokenHash: hashOf(text), map: null, now: testTime - 1 })).bearer;
      expect(await bearer("old")).toBeNull();
      expect(await bearer("young")).not.toBeNull();
      expect(await store.session({ hash: hashOf("old"), now: testTime - 1 })).toBeNull();
      expect(await store.session({ hash: hashOf("young"), now: testTime - 1 })).not.toBeNull();
      const again = async (name: string) =>
        (await store.countAttempt({ names: [name], now: testTime - 1, window: 10 })).count;
      expect(await again("old")).toBe(1);
      expect(await again("young")).toBe(2);
    });

    test("removes old entries of the audit log in batches, the oldest first", async () => {
      const store = await open();
      const entry = { account: null, map: null, action: "login-failed", detail: {}, address: null };
      for (let i = 0; i < 2005; i++) await store.audit({ ...entry, at: testTime + i });
      const left = async () => (await store.auditEntries({ limit: 3000 })).map(({ at }) => at - testTime);
      expect(await store.purgeAudit(testTime + 2003)).toBe(true);
      expect(await left()).toEqual([2004, 2003, 2002, 2001, 2000]);
      expect(await store.purgeAudit(testTime + 2003)).toBe(false);
      expect(await left()).toEqual([2004, 2003]);
      expect(await store.purgeAudit(testTime)).toBe(false);
      expect(await left()).toEqual([2004, 2003]);
    }, 60_000);

    test("does not fail on an empty store", async () => {
      const store = await open();
      await store.purge(testTime);
      await expect(store.ping()).resolves.toBeUndefined();
      expect(store.name).toMatch(/^(sqlite|postgresql)$/);
    });
  });
}
