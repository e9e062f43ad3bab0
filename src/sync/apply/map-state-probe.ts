/** Asks a service about the state of a map by conditional requests that create nothing (RFC 9110, 13.1.1). */
import { randomUUID } from "node:crypto";
import type { MapClient } from "../../remote/client/map-client.js";
import { strongEtag } from "./etag-chain.js";

/**
 * Whether the map has this entity tag now, although a reading may show another one: it can be older.
 * @returns null if the service does not say: it may accept no empty request, or be unavailable
 */
export async function hasTagNow(client: Pick<MapClient, "create">, tag: string): Promise<boolean | null> {
  const kind = await client.create([], randomUUID(), { ifMatch: tag }).then(
    (outcome) => outcome.kind,
    () => null,
  );
  return kind === "answered" ? true : kind === "changed" ? false : null;
}

/**
 * Whether the service refuses a write on the condition of a tag that the map does not have. Frameworks add tags to responses of
 * services that ignore If-Match.
 * @returns null if the service does not say
 */
export async function checksTags(client: Pick<MapClient, "create">): Promise<boolean | null> {
  const isIgnored = await hasTagNow(client, `"${randomUUID()}"`);
  return isIgnored === null ? null : !isIgnored;
}

/** Whether a reading of the map with this tag is certainly current: the service checks tags, and the map has this one. */
export async function isReadingCurrent(client: Pick<MapClient, "create">, etag: string | null): Promise<boolean> {
  const tag = strongEtag(etag);
  if (tag === null || (await checksTags(client)) !== true) return false;
  return (await hasTagNow(client, tag)) === true;
}
