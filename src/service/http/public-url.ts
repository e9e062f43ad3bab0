import type { FastifyRequest } from "fastify";

/** Where the service is, as its clients see it, without a slash at the end: `https://maps.example.org`. */
export function baseUrl(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}

/** The path under which clients reach the service: `/maps` of `https://example.org/maps`; empty where it has the host for itself. */
export const basePath = (publicUrl: string | null): string =>
  publicUrl === null ? "" : new URL(publicUrl).pathname.replace(/\/+$/, "");

/** Interfaces are found with a slash at their end, too: `/token/`, `/api/v1/maps/…/features/?page=2`. */
export const stripTrailingSlash = (url: string): string =>
  /^\/(?:api|token|revoke)\b/.test(url) ? url.replace(/\/(?=\?|$)/, "") : url;

/** The address of a request as the routes know it. What does not come under the path, such as a probe, is as it is. */
export function stripBasePath(url: string, path: string): string {
  if (!url.startsWith(path)) return url;
  const rest = url.slice(path.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : url;
}
