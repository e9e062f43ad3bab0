/** Creates, changes and deletes maps, each with an entry in the audit log. */
import { newUuidV7 } from "../identifiers/uuid-v7.js";
import type { AccountStore, AuditEntry, MapStore, StoredMap } from "../store/contract.js";

type MapChangeStore = Pick<MapStore, "addMap" | "changeMap" | "deleteMap"> & Pick<AccountStore, "audit">;

/** Who makes a change, when and from where; `address` is null for changes made on the machine of the service. */
export interface AuditContext {
  readonly account: string;
  readonly now: number;
  readonly address: string | null;
}

export type MapAttributes = Pick<StoredMap, "name" | "private">;

/** Creates a map and returns its id, or null if the account has `limit` maps. */
export async function createMap(
  store: MapChangeStore,
  { name, private: hidden }: MapAttributes,
  context: AuditContext,
  limit?: number,
): Promise<string | null> {
  const id = newUuidV7();
  const map = { id, owner: context.account, name, private: hidden, created: context.now };
  if (!(await store.addMap({ ...map, limit }))) return null;
  await recordMapAudit(store, id, "map-created", { name, private: hidden }, context);
  return id;
}

/** Returns null if the map was deleted in the meantime. The audit entry lists only changed values. */
export async function changeMap(
  store: MapChangeStore,
  map: StoredMap,
  change: Partial<MapAttributes>,
  context: AuditContext,
): Promise<StoredMap | null> {
  const changed = await store.changeMap({ id: map.id, ...change });
  if (changed === null) return null;
  const detail = Object.fromEntries(
    (["name", "private"] as const).flatMap((member) =>
      changed[member] === map[member] ? [] : [[member, changed[member]]],
    ),
  );
  if (Object.keys(detail).length > 0) await recordMapAudit(store, map.id, "map-changed", detail, context);
  return changed;
}

/** Deletes a map with its features. Returns false if it was deleted in the meantime. */
export async function deleteMap(store: MapChangeStore, map: StoredMap, context: AuditContext): Promise<boolean> {
  if (!(await store.deleteMap(map.id))) return false;
  await recordMapAudit(store, map.id, "map-deleted", { name: map.name, features: map.features }, context);
  return true;
}

const recordMapAudit = (
  store: MapChangeStore,
  map: string,
  action: string,
  detail: AuditEntry["detail"],
  { account, now, address }: AuditContext,
): Promise<void> => store.audit({ at: now, account, map, action, detail, address });
