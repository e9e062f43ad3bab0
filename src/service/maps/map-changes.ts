/** Maps as a whole are made, changed and deleted here, and nowhere without an entry in the audit log. */
import { newUuidV7 } from "../identifiers/uuid-v7.js";
import type { AccountStore, AuditEntry, MapStore, StoredMap } from "../store/contract.js";

type MapChangeStore = Pick<MapStore, "addMap" | "changeMap" | "deleteMap"> & Pick<AccountStore, "audit">;

/** Who does it, when and from where; no address where it is done on the service's own machine. */
export interface AuditContext {
  readonly account: string;
  readonly now: number;
  readonly address: string | null;
}

export type MapAttributes = Pick<StoredMap, "name" | "private">;

/** Makes a map of one's own. Answers its id. */
export async function createMap(
  store: MapChangeStore,
  { name, private: hidden }: MapAttributes,
  doing: AuditContext,
): Promise<string> {
  const id = newUuidV7();
  await store.addMap({ id, owner: doing.account, name, private: hidden, created: doing.now });
  await recordMapAudit(store, id, "map-created", { name, private: hidden }, doing);
  return id;
}

/** Null where it was deleted meanwhile. What is as it was is not told. */
export async function changeMap(
  store: MapChangeStore,
  map: StoredMap,
  change: Partial<MapAttributes>,
  doing: AuditContext,
): Promise<StoredMap | null> {
  const changed = await store.changeMap({ id: map.id, ...change });
  if (changed === null) return null;
  const detail = Object.fromEntries(
    (["name", "private"] as const).flatMap((fact) => (changed[fact] === map[fact] ? [] : [[fact, changed[fact]]])),
  );
  if (Object.keys(detail).length > 0) await recordMapAudit(store, map.id, "map-changed", detail, doing);
  return changed;
}

/** With everything on it. False where it was deleted meanwhile. */
export async function deleteMap(store: MapChangeStore, map: StoredMap, doing: AuditContext): Promise<boolean> {
  if (!(await store.deleteMap(map.id))) return false;
  await recordMapAudit(store, map.id, "map-deleted", { name: map.name, features: map.features }, doing);
  return true;
}

const recordMapAudit = (
  store: MapChangeStore,
  map: string,
  action: string,
  detail: AuditEntry["detail"],
  { account, now, address }: AuditContext,
): Promise<void> => store.audit({ at: now, account, map, action, detail, address });
