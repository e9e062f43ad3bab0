/** Errors between a client and a Map Features Service: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

type ServiceDetails = { readonly service: string };
type MapDetails = ServiceDetails & { readonly map: string };

export const remoteErrors = {
  "remote-unavailable": defineError<ServiceDetails & { reason: string }>(
    "unavailable",
    (e) => `${e.service}: the service is unavailable: ${e.reason}; try again later`,
  ),
  "remote-full": defineError<ServiceDetails>(
    "unavailable",
    (e) =>
      `${e.service}: the disk of the service is full, so it rejects writes; run the same command again when space is available`,
  ),
  "remote-credentials": defineError<ServiceDetails & { reason: string }>(
    "authentication",
    (e) =>
      `${e.service}: the service does not accept the credentials: ${e.reason}; create new ones on its profile page and run geoferry login, or set GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET`,
  ),
  "remote-forbidden": defineError<MapDetails>(
    "authentication",
    (e) =>
      `map ${e.map} of ${e.service} belongs to another account, and only its owner can write to it; use the owner's credentials with --profile or geoferry login`,
  ),
  /** `similar`: a map whose name differs only in case or whitespace. */
  "remote-map-missing": defineError<MapDetails & { similar?: string }>(
    "conflict",
    (e) =>
      `${e.service} has no map ${e.map} that this account can read; ${e.similar === undefined ? "" : `did you mean "${e.similar}"? `}geoferry maps lists the available maps`,
  ),
  "remote-map-ambiguous": defineError<MapDetails & { ids: readonly string[] }>(
    "conflict",
    (e) => `${e.service}: several maps are named "${e.map}"; use the id of one: ${e.ids.join(", ")}`,
  ),
  "remote-changed-during-read": defineError<MapDetails & { tries: number }>(
    "unavailable",
    (e) =>
      `map ${e.map} of ${e.service}: other clients changed the map during each of ${e.tries} attempts to read it; try again when it is not being changed, or read it once with --single-read, which may miss features`,
  ),
  "remote-untrusted": defineError<ServiceDetails & { reason: string }>(
    "authentication",
    (e) =>
      `${e.service}: cannot verify the server certificate: ${e.reason}; if a private certificate authority signed it, set NODE_EXTRA_CA_CERTS to the file with the authority's certificate`,
  ),
  "remote-address": defineError<{ address: string; reason: string }>(
    "usage",
    (e) => `${e.address}: not a valid service address: ${e.reason}; expected an address like https://maps.example.org`,
  ),
  "remote-insecure": defineError<{ host: string }>(
    "usage",
    (e) =>
      `http://${e.host}: http would send secrets unencrypted; use an https address, or --insecure-http on a trusted network`,
  ),
  "remote-unknown": defineError<{ reason: string }>(
    "usage",
    (e) =>
      `${e.reason}; save the address and credentials of a service with geoferry login URL --client-id ID, or set GEOFERRY_URL, GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET`,
  ),
  "remote-unconfirmed": defineError<{ url: string }>(
    "usage",
    (e) =>
      `the file is for the service ${e.url}, but credentials of the environment or a job are sent only to an address that you give: check it, then add --url ${e.url}, or save a profile with geoferry login ${e.url} --client-id ID`,
  ),
  "remote-maps-unlisted": defineError<ServiceDetails>(
    "unsupported",
    (e) => `${e.service}: the service does not list its maps; find map ids on its web pages, or ask its operator`,
  ),
  "remote-profile": defineError<{ file: string; reason: string }>("input", (e) => `${e.file}: ${e.reason}`),
  "remote-protocol-error": defineError<ServiceDetails & { reason: string }>(
    "conflict",
    (e) => `${e.service}: unexpected response for a Map Features Service: ${e.reason}; check the address`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
