import type { StoredMap } from "../store/contract.js";
import { notFound, notYours } from "./faults.js";
import type { VisitOfMember } from "./visit.js";

/** The map of the address: one's own, or another's that is not private. */
export async function readableMap(visit: VisitOfMember): Promise<StoredMap> {
  const id = visit.parameters.id ?? "";
  // A store is asked for UUIDs only.
  const map = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id) ? await visit.site.store.map(id) : null;
  if (map === null || (map.private && map.owner !== visit.visitor.account)) throw notFound();
  return map;
}

export async function ownMap(visit: VisitOfMember): Promise<StoredMap> {
  const map = await readableMap(visit);
  if (map.owner !== visit.visitor.account) throw notYours();
  return map;
}

/** Who may read it, in words. */
export const readersOf = (map: Pick<StoredMap, "private">): string => (map.private ? "only you" : "every account");
