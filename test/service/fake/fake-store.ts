import { hashSecret } from "../../../src/service/auth/secrets.js";
import type { Store, StoredMap, WriteOutcome } from "../../../src/service/store/contract.js";

const owner = "0190a0e0-0000-7000-8000-000000000001";
export const mapId = "0190a0e0-0000-7000-8000-000000000002";

/** Holds one map and one token. */
export function fakeStore(): Store {
  const map: StoredMap = {
    id: mapId,
    owner,
    ownerEmail: "ann@example.org",
    name: "A",
    private: false,
    created: 0,
    features: 0,
    revision: 0,
  };
  const kept: string[] = [];
  const store = {
    name: "fake",
    async access({ tokenHash, map: id }: { tokenHash: Uint8Array; map: string | null }) {
      const good = Buffer.compare(tokenHash, hashSecret("token")) === 0;
      const bearer = good ? { account: owner, email: "ann@example.org", credential: owner, expires: 1e15 } : null;
      return { bearer, map: id === mapId ? { ...map, features: kept.length, revision: kept.length } : null };
    },
    async page() {
      return {
        text: Buffer.from(kept.join(",")),
        count: kept.length,
        last: kept.length,
        more: false,
        revision: kept.length,
      };
    },
    async write({ items }: Parameters<Store["write"]>[0]): Promise<WriteOutcome> {
      const good = items.filter((item) => !item.failure);
      for (const { geometry, properties } of good)
        kept.push(`{"type":"Feature","id":"${owner}","geometry":${geometry},"properties":${properties}}`);
      return {
        kind: "done",
        success: good.map(({ index }) => ({ index, id: owner, what: "created" as const })),
        failed: items.flatMap(({ index, failure }) => (failure ? [{ index, id: owner, ...failure }] : [])),
        deleted: 0,
        revision: kept.length,
        replayed: false,
      };
    },
  };
  return store as unknown as Store;
}
