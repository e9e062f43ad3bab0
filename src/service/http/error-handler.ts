/** Makes a problem of whatever went wrong, and tells it (RFC 9457). */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem, problem } from "./problems.js";

/** Codes of Fastify that have a problem of their own. */
const problemsByFastifyCode: Readonly<Record<string, (request: FastifyRequest) => Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ({ headers }) =>
    problem("unsupported-media-type", { type: headers["content-type"] ?? "no type" }),
  // A path that is no path leads nowhere.
  FST_ERR_BAD_URL: ({ raw }) => problem("not-found", { path: requestPath(raw.url) }),
  FST_ERR_MAX_PARAM_LENGTH: ({ raw }) => problem("not-found", { path: requestPath(raw.url) }),
};

export const requestPath = (url: string | undefined): string => (url ?? "").split("?", 1)[0]!.slice(0, 200);

export function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const { code = "", statusCode, message } = error as Partial<FastifyError>;
  if (Object.hasOwn(problemsByFastifyCode, code)) return problemsByFastifyCode[code]!(request);
  // No one will read the answer; the log should not take it for a fault of the service.
  if (request.raw.destroyed && !request.raw.complete) return problem("bad-request", { reason: "it ended early" });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problem("bad-request", { reason: message ?? code }, { cause: error });
  }
  return problem("internal", {}, { cause: error });
}

/** Seconds that a database is given to come back. */
const retryAfterSeconds = 5;

export function sendProblem(reply: FastifyReply, found: Problem): FastifyReply {
  if (found.statusCode === 503) reply.header("retry-after", String(retryAfterSeconds));
  return reply
    .code(found.statusCode)
    .headers({ "x-request-id": reply.request.id, ...found.headers })
    .header("cache-control", "no-store")
    .removeHeader("etag")
    .type("application/problem+json")
    .send(JSON.stringify(found.toWire(reply.request.id)));
}

export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const found = toProblem(error, request);
    // A crowd is no fault of the service: the line of the request and the metrics show it.
    if (found.statusCode >= 500 && found.code !== "overloaded") request.log.error({ err: error }, found.message);
    return sendProblem(reply, found);
  });
}
