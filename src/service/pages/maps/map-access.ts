import { isUuid } from "../../identifiers/uuid.js";
import type { StoredMap } from "../../store/contract.js";
import type { SignedInContext } from "../page-context.js";
import { notMapOwner, pageNotFound } from "../rendering/error-page.js";

/** The map of the address: one's own, or another's that is not private. */
export async function findReadableMap(visit: SignedInContext): Promise<StoredMap> {
  const id = visit.parameters.id ?? "";
  // A store is asked for UUIDs only.
  const map = isUuid(id) ? await visit.site.store.map(id.toLowerCase()) : null;
  if (map === null || (map.private && map.owner !== visit.visitor.account)) throw pageNotFound();
  return map;
}

export async function findOwnMap(visit: SignedInContext): Promise<StoredMap> {
  const map = await findReadableMap(visit);
  if (map.owner !== visit.visitor.account) throw notMapOwner();
  return map;
}

/** Who may read it, in words. */
export const describeReaders = (map: Pick<StoredMap, "private">): string =>
  map.private ? "only you" : "every account";
