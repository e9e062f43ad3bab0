import type { FastifyRequest } from "fastify";

/** Base URL of the service for clients, without a trailing slash: `https://maps.example.org`. */
export function baseUrl(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}

/** Path of the public URL: `/maps` for `https://example.org/maps`; empty if the service has the host to itself. */
export const basePath = (publicUrl: string | null): string =>
  publicUrl === null ? "" : new URL(publicUrl).pathname.replace(/\/+$/, "");

/** API and token endpoints accept a trailing slash: `/token/`, `/api/v1/maps/…/features/?page=2`. */
export const stripTrailingSlash = (url: string): string =>
  /^\/(?:api|token|revoke)\b/.test(url) ? url.replace(/\/(?=\?|$)/, "") : url;

/** Path of a request relative to the base path. A path outside it, such as of a health probe, stays unchanged. */
export function stripBasePath(url: string, path: string): string {
  if (!url.startsWith(path)) return url;
  const rest = url.slice(path.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : url;
}
