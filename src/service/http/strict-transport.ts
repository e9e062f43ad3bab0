import type { FastifyRequest } from "fastify";
import { isLoopback } from "../process/listen.js";

/** One year, for this host only: hosts below it may not support HTTPS. */
const hstsHeader = { "strict-transport-security": "max-age=31536000" };
const noHeaders = {};

/**
 * Sends Strict-Transport-Security (RFC 6797) if clients use HTTPS. Not for loopback names, as it would apply to every
 * port and block other local programs.
 */
export function hstsHeaders(publicUrl: string | null): (request: FastifyRequest) => Readonly<Record<string, string>> {
  const strict = (protocol: string, host: string) =>
    protocol === "https" && !isLoopback(host) ? hstsHeader : noHeaders;
  if (publicUrl === null) return (request) => strict(request.protocol, request.hostname);
  const { protocol, hostname } = new URL(publicUrl);
  const always = strict(protocol.slice(0, -1), hostname);
  return () => always;
}
