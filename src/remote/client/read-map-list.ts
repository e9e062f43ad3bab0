/** Lists the maps of an account: an extension of the interface that a service may lack. */

import { nextPageAddress } from "../http/next-page.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { ServiceResponse } from "../http/send-request.js";
import type { WireMap } from "../wire.js";

/** Maximum number of pages; protects against a service that links to next pages endlessly. */
const maxPages = 100_000;

/**
 * Reads all maps, following pagination if the service uses it.
 * @param read sends a request with the given query appended to the address of the list: "" or `?after=…`
 * @returns null if the response is not a list of maps: the service lacks the extension or uses the address for
 * something else
 */
export async function readMapList(
  read: (query: string) => Promise<ServiceResponse>,
): Promise<readonly WireMap[] | null> {
  const all: WireMap[] = [];
  let query = "";
  for (let pages = 0; pages < maxPages; pages++) {
    const response = await read(query);
    const maps = parseMaps(response);
    if (maps === null) return null;
    all.push(...maps);
    const next = nextPageQuery(response);
    if (next === null || next === query || maps.length === 0) break;
    query = next;
  }
  return all;
}

/**
 * The query of `Link: <…>; rel="next"`. Ignores the rest of the URL so that tokens never reach another address.
 */
function nextPageQuery({ headers }: ServiceResponse): string | null {
  const address = nextPageAddress(headers);
  return address !== undefined && URL.canParse(address, "http://localhost")
    ? new URL(address, "http://localhost").search
    : null;
}

/** @returns null if the response is not a list of maps */
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
