import type { FastifyRequest } from "fastify";
import { isLoopback } from "./listening.js";

/** A year; for this host alone, as others under its name may not speak https. */
const header = { "strict-transport-security": "max-age=31536000" };
const none = {};

/**
 * Tells browsers to come by https only (RFC 6797), where clients do. Not on names of this machine: it would hold for
 * every port, and take other programs' pages away.
 */
export function strictTransport(
  publicUrl: string | null,
): (request: FastifyRequest) => Readonly<Record<string, string>> {
  const strict = (protocol: string, host: string) => (protocol === "https" && !isLoopback(host) ? header : none);
  if (publicUrl === null) return (request) => strict(request.protocol, request.hostname);
  const { protocol, hostname } = new URL(publicUrl);
  const always = strict(protocol.slice(0, -1), hostname);
  return () => always;
}
