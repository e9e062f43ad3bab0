/** What goes wrong between a client and a Map Features Service: part of the registry in src/errors.ts. */
import { type Entry, entry } from "./entry.js";

type AtService = { readonly service: string };
type OnMap = AtService & { readonly map: string };

export const remoteErrors = {
  "remote-unavailable": entry<AtService & { reason: string }>(
    "unavailable",
    (e) => `${e.service}: the service does not answer: ${e.reason}; try again later`,
  ),
  "remote-full": entry<AtService>(
    "unavailable",
    (e) =>
      `${e.service}: the disk of the service is full, and it writes nothing; run the same command again when there is room`,
  ),
  "remote-credentials": entry<AtService & { reason: string }>(
    "authentication",
    (e) =>
      `${e.service}: the service does not accept the credentials: ${e.reason}; make new ones on its profile page and run geoferry login, or set GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET`,
  ),
  "remote-forbidden": entry<OnMap>(
    "authentication",
    (e) =>
      `map ${e.map} of ${e.service} belongs to another account, and only its owner may write to it; take the credentials of its owner with --profile or geoferry login`,
  ),
  /** `similar`: a map whose name differs in case or blanks only. */
  "remote-map-missing": entry<OnMap & { similar?: string }>(
    "conflict",
    (e) =>
      `${e.service} has no map ${e.map} that this account may read; ${e.similar === undefined ? "" : `did you mean "${e.similar}"? `}geoferry maps lists those it has`,
  ),
  "remote-map-ambiguous": entry<OnMap & { ids: readonly string[] }>(
    "conflict",
    (e) => `${e.service}: several maps are called "${e.map}"; give the id of one: ${e.ids.join(", ")}`,
  ),
  "remote-unsteady": entry<OnMap & { tries: number }>(
    "unavailable",
    (e) =>
      `map ${e.map} of ${e.service} was changed by others each of the ${e.tries} times that it was read; try again when it is quiet, or take one reading for the map with --trust-pages, which may miss features`,
  ),
  "remote-untrusted": entry<AtService & { reason: string }>(
    "authentication",
    (e) =>
      `${e.service}: the certificate of the service cannot be verified: ${e.reason}; where an authority of your own signed it, set NODE_EXTRA_CA_CERTS to the file of that authority's certificate`,
  ),
  "remote-address": entry<{ address: string; reason: string }>(
    "usage",
    (e) => `${e.address}: not the address of a service: ${e.reason}; it is like https://maps.example.org`,
  ),
  "remote-insecure": entry<{ host: string }>(
    "usage",
    (e) =>
      `http://${e.host}: without https secrets would cross the network in the clear; give an address with https, or --insecure-http where nobody else can listen`,
  ),
  "remote-unknown": entry<{ reason: string }>(
    "usage",
    (e) =>
      `${e.reason}; keep the address and the credentials of a service with geoferry login URL --client-id ID, or set GEOFERRY_URL, GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET`,
  ),
  "remote-maps-unlisted": entry<AtService>(
    "unsupported",
    (e) => `${e.service}: this service does not list its maps; find the ids of maps on its pages, or ask its operator`,
  ),
  "remote-profile": entry<{ file: string; reason: string }>("input", (e) => `${e.file}: ${e.reason}`),
  "remote-odd": entry<AtService & { reason: string }>(
    "conflict",
    (e) => `${e.service}: does not answer as a Map Features Service does: ${e.reason}; is the address right?`,
  ),
} as const satisfies Record<string, Entry<never>>;
