import type { FastifyRequest } from "fastify";
import { isLoopback } from "../process/listen.js";

/** A year; for this host alone, as others under its name may not speak https. */
const hstsHeader = { "strict-transport-security": "max-age=31536000" };
const noHeaders = {};

/**
 * Tells browsers to come by https only (RFC 6797), where clients do. Not on names of this machine: it would hold for
 * every port, and take other programs' pages away.
 */
export function hstsHeaders(publicUrl: string | null): (request: FastifyRequest) => Readonly<Record<string, string>> {
  const strict = (protocol: string, host: string) =>
    protocol === "https" && !isLoopback(host) ? hstsHeader : noHeaders;
  if (publicUrl === null) return (request) => strict(request.protocol, request.hostname);
  const { protocol, hostname } = new URL(publicUrl);
  const always = strict(protocol.slice(0, -1), hostname);
  return () => always;
}
