/** What goes wrong between a client and a Map Features Service: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

type ServiceDetails = { readonly service: string };
type MapDetails = ServiceDetails & { readonly map: string };

export const remoteErrors = {
  "remote-unavailable": defineError<ServiceDetails & { reason: string }>(
    "unavailable",
    (e) => `${e.service}: the service does not answer: ${e.reason}; try again later`,
  ),
  "remote-full": defineError<ServiceDetails>(
    "unavailable",
    (e) =>
      `${e.service}: the disk of the service is full, and it writes nothing; run the same command again when there is room`,
  ),
  "remote-credentials": defineError<ServiceDetails & { reason: string }>(
    "authentication",
    (e) =>
      `${e.service}: the service does not accept the credentials: ${e.reason}; make new ones on its profile page and run geoferry login, or set GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET`,
  ),
  "remote-forbidden": defineError<MapDetails>(
    "authentication",
    (e) =>
      `map ${e.map} of ${e.service} belongs to another account, and only its owner may write to it; take the credentials of its owner with --profile or geoferry login`,
  ),
  /** `similar`: a map whose name differs in case or blanks only. */
  "remote-map-missing": defineError<MapDetails & { similar?: string }>(
    "conflict",
    (e) =>
      `${e.service} has no map ${e.map} that this account may read; ${e.similar === undefined ? "" : `did you mean "${e.similar}"? `}geoferry maps lists those it has`,
  ),
  "remote-map-ambiguous": defineError<MapDetails & { ids: readonly string[] }>(
    "conflict",
    (e) => `${e.service}: several maps are called "${e.map}"; give the id of one: ${e.ids.join(", ")}`,
  ),
  "remote-changed-during-read": defineError<MapDetails & { tries: number }>(
    "unavailable",
    (e) =>
      `map ${e.map} of ${e.service} was changed by others each of the ${e.tries} times that it was read; try again when it is quiet, or take one reading for the map with --single-read, which may miss features`,
  ),
  "remote-untrusted": defineError<ServiceDetails & { reason: string }>(
    "authentication",
    (e) =>
      `${e.service}: the certificate of the service cannot be verified: ${e.reason}; where an authority of your own signed it, set NODE_EXTRA_CA_CERTS to the file of that authority's certificate`,
  ),
  "remote-address": defineError<{ address: string; reason: string }>(
    "usage",
    (e) => `${e.address}: not the address of a service: ${e.reason}; it is like https://maps.example.org`,
  ),
  "remote-insecure": defineError<{ host: string }>(
    "usage",
    (e) =>
      `http://${e.host}: without https secrets would cross the network in the clear; give an address with https, or --insecure-http where nobody else can listen`,
  ),
  "remote-unknown": defineError<{ reason: string }>(
    "usage",
    (e) =>
      `${e.reason}; keep the address and the credentials of a service with geoferry login URL --client-id ID, or set GEOFERRY_URL, GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET`,
  ),
  "remote-maps-unlisted": defineError<ServiceDetails>(
    "unsupported",
    (e) => `${e.service}: this service does not list its maps; find the ids of maps on its pages, or ask its operator`,
  ),
  "remote-profile": defineError<{ file: string; reason: string }>("input", (e) => `${e.file}: ${e.reason}`),
  "remote-protocol-error": defineError<ServiceDetails & { reason: string }>(
    "conflict",
    (e) => `${e.service}: does not answer as a Map Features Service does: ${e.reason}; is the address right?`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
