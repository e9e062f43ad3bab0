/** The maps of an account: an extension of the interface, which a service may have or not. */

import { isObject } from "../http/sanitize-for-display.js";
import type { ServiceResponse } from "../http/send-request.js";
import type { WireMap } from "../wire.js";

/** Pages at most: a service that leads on for ever is not followed. */
const maxPages = 100_000;

/**
 * All maps, page by page where the service has pages.
 * @param read gives an answer to a query behind the address of the list: "" or `?after=…`
 * @returns null where it is no list of maps: the service has no such thing, or another one at this address
 */
export async function readMapList(
  read: (query: string) => Promise<ServiceResponse>,
): Promise<readonly WireMap[] | null> {
  const all: WireMap[] = [];
  let query = "";
  for (let pages = 0; pages < maxPages; pages++) {
    const answer = await read(query);
    const maps = parseMaps(answer);
    if (maps === null) return null;
    all.push(...maps);
    const next = nextPageQuery(answer);
    if (next === null || next === query || maps.length === 0) break;
    query = next;
  }
  return all;
}

/** Of `Link: <…>; rel="next"` (RFC 8288) only the query: a token is not sent to another address. */
function nextPageQuery({ headers }: ServiceResponse): string | null {
  const address = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec([headers.link ?? []].flat().join(", "))?.[1];
  return address !== undefined && URL.canParse(address, "http://localhost")
    ? new URL(address, "http://localhost").search
    : null;
}

/** @returns null where it is no list of maps: the service has no such thing, or another one at this address */
function parseMaps({ isSuccess, json }: ServiceResponse): readonly WireMap[] | null {
  if (!isSuccess || !isObject(json) || !Array.isArray(json.maps)) return null;
  const maps: readonly unknown[] = json.maps;
  return maps.every(isWireMap) ? maps : null;
}

const isWireMap = (value: unknown): value is WireMap =>
  isObject(value) &&
  typeof value.id === "string" &&
  typeof value.name === "string" &&
  typeof value.private === "boolean" &&
  isObject(value.owner) &&
  typeof value.owner.name === "string" &&
  (value.owner.email === undefined || typeof value.owner.email === "string") &&
  typeof value.features === "number" &&
  typeof value.revision === "number" &&
  typeof value.created === "string";
