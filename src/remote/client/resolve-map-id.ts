/** Maps by name, where the service lists the maps of an account (an extension of the interface). */
import { createError } from "../../errors.js";
import type { WireMap } from "../wire.js";
import type { ServiceClient } from "./map-client.js";

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The lists that services gave: names are looked up in one answer as long as a client is in use. */
const mapListCache = new WeakMap<ServiceClient, Promise<readonly WireMap[] | null>>();

/**
 * The id of a map that is given by its id or its name. An id always wins: a UUID is taken as it is, without a request,
 * and another text is looked for among the ids of the list before its names. A text that is neither is an id that the
 * list does not have: of a map of another account, or of a service without a list.
 * @throws remote-map-ambiguous; remote-map-missing where only the case or blanks of a name differ; what `ServiceClient.maps` throws
 */
export async function resolveMapId(service: ServiceClient, idOrName: string): Promise<string> {
  if (uuidPattern.test(idOrName)) return idOrName;
  const list = mapListCache.get(service) ?? service.maps();
  mapListCache.set(service, list);
  const maps = (await list) ?? [];
  if (maps.some(({ id }) => id === idOrName)) return idOrName;
  const ids = maps.filter(({ name }) => name === idOrName).map(({ id }) => id);
  if (ids.length > 1) throw createError("remote-map-ambiguous", { service: service.url, map: idOrName, ids });
  const similar = maps.find(({ name }) => foldName(name) === foldName(idOrName))?.name;
  if (ids.length === 0 && similar !== undefined)
    throw createError("remote-map-missing", { service: service.url, map: idOrName, similar });
  return ids[0] ?? idOrName;
}

const foldName = (name: string): string => name.trim().replace(/\s+/g, " ").toLowerCase();
