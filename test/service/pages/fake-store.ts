import type {
  Account,
  AuditEntry,
  Credential,
  Page,
  PageQuestion,
  Store,
  StoredMap,
} from "../../../src/service/store/contract.js";

/** The part of a store that the pages ask, in memory. */
export function fakeStore(): Store & { fill(map: string, features: object[]): void } {
  const key = (hash: Uint8Array) => Buffer.from(hash).toString("hex");
  const accounts = new Map<string, Account>();
  const credentials = new Map<string, Credential>();
  const sessions = new Map<string, { account: string; created: number; expires: number }>();
  const maps = new Map<string, StoredMap>();
  const features = new Map<string, string[]>();
  const attempts = new Map<string, { count: number; until: number }>();
  const log: AuditEntry[] = [];
  let setup: { hash: string; expires: number } | null = null;
  const store = {
    name: "fake",
    fill(map: string, list: object[]) {
      features.set(
        map,
        list.map((one) => JSON.stringify(one)),
      );
      maps.set(map, { ...maps.get(map)!, features: list.length });
    },
    async addAccount(account: Account) {
      if (await store.accountByEmail(account.email)) return false;
      accounts.set(account.id, account);
      return true;
    },
    async accountByEmail(email: string) {
      return [...accounts.values()].find((one) => one.email.toLowerCase() === email.toLowerCase()) ?? null;
    },
    async accountById(id: string) {
      return accounts.get(id) ?? null;
    },
    async accounts() {
      return [...accounts.values()];
    },
    async setPassword({ account, passwordHash }: { account: string; passwordHash: string }) {
      accounts.set(account, { ...accounts.get(account)!, passwordHash });
      for (const [hash, one] of sessions) if (one.account === account) sessions.delete(hash);
    },
    async addCredential(credential: Credential) {
      credentials.set(credential.id, credential);
    },
    async credentials(account: string) {
      return [...credentials.values()].filter((one) => one.account === account).reverse();
    },
    async revokeCredential({ credential, now }: { credential: string; now: number }) {
      credentials.set(credential, { ...credentials.get(credential)!, revoked: now });
      return true;
    },
    async addSession({ hash, ...rest }: { hash: Uint8Array; account: string; created: number; expires: number }) {
      sessions.set(key(hash), rest);
    },
    async session({ hash, now }: { hash: Uint8Array; now: number }) {
      const found = sessions.get(key(hash));
      return found && found.expires > now ? { ...found, email: accounts.get(found.account)!.email } : null;
    },
    async extendSession({ hash, expires }: { hash: Uint8Array; expires: number }) {
      sessions.set(key(hash), { ...sessions.get(key(hash))!, expires });
    },
    async endSession(hash: Uint8Array) {
      sessions.delete(key(hash));
    },
    async setSetupToken({ hash, expires }: { hash: Uint8Array; expires: number }) {
      setup = { hash: key(hash), expires };
    },
    async useSetupToken({ hash, now }: { hash: Uint8Array; now: number }) {
      if (!setup || setup.hash !== key(hash) || setup.expires <= now || accounts.size > 0) return false;
      setup = null;
      return true;
    },
    async countAttempt({ names, now, window }: { names: readonly string[]; now: number; window: number }) {
      const counts = names.map((name) => {
        const old = attempts.get(name);
        const next =
          old && old.until > now ? { count: old.count + 1, until: old.until } : { count: 1, until: now + window };
        attempts.set(name, next);
        return next;
      });
      return counts.reduce((one, other) => (other.count > one.count ? other : one));
    },
    async forgetAttempts(names: readonly string[]) {
      for (const name of names) attempts.delete(name);
    },
    async audit(entry: AuditEntry) {
      log.unshift(entry);
    },
    async auditOf({ map, account, limit }: { map?: string; account?: string; limit: number }) {
      return log
        .filter((one) => (map === undefined || one.map === map) && (account === undefined || one.account === account))
        .slice(0, limit);
    },
    async addMap(map: { id: string; owner: string; name: string; private: boolean; created: number }) {
      maps.set(map.id, { ...map, ownerEmail: accounts.get(map.owner)!.email, features: 0, revision: 0 });
      features.set(map.id, []);
    },
    async map(id: string) {
      return maps.get(id) ?? null;
    },
    async maps({ account, readable }: { account: string; readable: boolean }) {
      return [...maps.values()].filter((one) => one.owner === account || (readable && !one.private));
    },
    async changeMap({ id, ...change }: { id: string; name?: string; private?: boolean }) {
      maps.set(id, { ...maps.get(id)!, ...change });
      return maps.get(id)!;
    },
    async deleteMap(id: string) {
      return maps.delete(id);
    },
    async page({ map, size, page, after }: PageQuestion): Promise<Page | null> {
      const all = features.get(map);
      if (!all) return null;
      const start = after ?? (page! - 1) * size;
      const part = all.slice(start, start + size);
      const last = part.length > 0 ? start + part.length : null;
      return {
        text: Buffer.from(part.join(",")),
        count: part.length,
        last,
        more: start + part.length < all.length,
        revision: 1,
      };
    },
    async [Symbol.asyncDispose]() {},
  };
  return store as unknown as Store & { fill(map: string, features: object[]): void };
}
