import type { StoredMap } from "../store/contract.js";
import { isUuid } from "../uuid.js";
import { notFound, notYours } from "./faults.js";
import type { VisitOfMember } from "./visit.js";

/** The map of the address: one's own, or another's that is not private. */
export async function readableMap(visit: VisitOfMember): Promise<StoredMap> {
  const id = visit.parameters.id ?? "";
  // A store is asked for UUIDs only.
  const map = isUuid(id) ? await visit.site.store.map(id.toLowerCase()) : null;
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
