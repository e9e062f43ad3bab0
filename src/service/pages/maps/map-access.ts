import { isUuid } from "../../identifiers/uuid.js";
import type { StoredMap } from "../../store/contract.js";
import type { SignedInContext } from "../page-context.js";
import { notMapOwner, pageNotFound } from "../rendering/error-page.js";

/** The map in the path, if the account owns it or it is public. */
export async function findReadableMap(context: SignedInContext): Promise<StoredMap> {
  const id = context.parameters.id ?? "";
  // Stores accept only UUIDs.
  const map = isUuid(id) ? await context.services.store.map(id.toLowerCase()) : null;
  if (map === null || (map.private && map.owner !== context.user.account)) throw pageNotFound();
  return map;
}

export async function findOwnMap(context: SignedInContext): Promise<StoredMap> {
  const map = await findReadableMap(context);
  if (map.owner !== context.user.account) throw notMapOwner();
  return map;
}

/** Description of who can read the map. */
export const describeReaders = (map: Pick<StoredMap, "private">): string =>
  map.private ? "only you" : "every account";
