/** Maps as a whole are made, changed and deleted here, and nowhere without an entry in the audit log. */
import { newId } from "./new-id.js";
import type { AuditEntry, MapStore, PeopleStore, StoredMap } from "./store/contract.js";

type Stored = Pick<MapStore, "addMap" | "changeMap" | "deleteMap"> & Pick<PeopleStore, "audit">;

/** Who does it, when and from where; no address where it is done on the service's own machine. */
export interface Doing {
  readonly account: string;
  readonly now: number;
  readonly address: string | null;
}

export type MapFacts = Pick<StoredMap, "name" | "private">;

/** Makes a map of one's own. Answers its id. */
export async function createMap(store: Stored, { name, private: hidden }: MapFacts, doing: Doing): Promise<string> {
  const id = newId();
  await store.addMap({ id, owner: doing.account, name, private: hidden, created: doing.now });
  await log(store, id, "map-created", { name, private: hidden }, doing);
  return id;
}

/** Null where it was deleted meanwhile. What is as it was is not told. */
export async function changeMap(
  store: Stored,
  map: StoredMap,
  change: Partial<MapFacts>,
  doing: Doing,
): Promise<StoredMap | null> {
  const changed = await store.changeMap({ id: map.id, ...change });
  if (changed === null) return null;
  const detail = Object.fromEntries(
    (["name", "private"] as const).flatMap((fact) => (changed[fact] === map[fact] ? [] : [[fact, changed[fact]]])),
  );
  if (Object.keys(detail).length > 0) await log(store, map.id, "map-changed", detail, doing);
  return changed;
}

/** With everything on it. False where it was deleted meanwhile. */
export async function deleteMap(store: Stored, map: StoredMap, doing: Doing): Promise<boolean> {
  if (!(await store.deleteMap(map.id))) return false;
  await log(store, map.id, "map-deleted", { name: map.name, features: map.features }, doing);
  return true;
}

const log = (
  store: Stored,
  map: string,
  action: string,
  detail: AuditEntry["detail"],
  { account, now, address }: Doing,
): Promise<void> => store.audit({ at: now, account, map, action, detail, address });
