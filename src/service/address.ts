import type { FastifyRequest } from "fastify";

/** Where the service is, as its clients see it, without a slash at the end: `https://maps.example.org`. */
export function baseUrl(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}
