/** Resolves map names for services that list the maps of an account (an extension of the interface). */
import { createError } from "../../errors.js";
import type { WireMap } from "../wire.js";
import type { ServiceClient } from "./map-client.js";

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Map lists by client; each client requests the list once. */
const mapListCache = new WeakMap<ServiceClient, Promise<readonly WireMap[] | null>>();

/**
 * Resolves an id or a name to a map id. Ids take precedence: a UUID is returned in small letters, in which it names locks and
 * journals, without a request, and any other text
 * is compared with the listed ids before the names. A text that matches neither is returned as an id that is not
 * listed, such as a map of another account or of a service without a list.
 * @throws remote-map-ambiguous; remote-map-missing if a name differs only in case or whitespace; errors of
 * `ServiceClient.maps`
 */
export async function resolveMapId(service: ServiceClient, idOrName: string): Promise<string> {
  if (uuidPattern.test(idOrName)) return idOrName.toLowerCase();
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
