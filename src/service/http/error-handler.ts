/** Converts errors to problem details (RFC 9457) and sends them. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem, problem } from "./problems.js";

/** Error codes of Fastify with a specific problem. */
const problemsByFastifyCode: Readonly<Record<string, (request: FastifyRequest) => Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ({ headers }) =>
    problem("unsupported-media-type", { type: headers["content-type"] ?? "no type" }),
  // An invalid path does not exist.
  FST_ERR_BAD_URL: ({ raw }) => problem("not-found", { path: requestPath(raw.url) }),
  FST_ERR_MAX_PARAM_LENGTH: ({ raw }) => problem("not-found", { path: requestPath(raw.url) }),
};

export const requestPath = (url: string | undefined): string => (url ?? "").split("?", 1)[0]!.slice(0, 200);

export function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const { code = "", statusCode, message } = error as Partial<FastifyError>;
  if (Object.hasOwn(problemsByFastifyCode, code)) return problemsByFastifyCode[code]!(request);
  // The client has gone; the log must not show this as an error of the service.
  if (request.raw.destroyed && !request.raw.complete) return problem("bad-request", { reason: "it ended early" });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problem("bad-request", { reason: (message ?? code).replace(/\.+$/, "") }, { cause: error });
  }
  return problem("internal", {}, { cause: error });
}

/** Value of Retry-After for 503, in seconds. */
const retryAfterSeconds = 5;

export function sendProblem(reply: FastifyReply, found: Problem): FastifyReply {
  if (found.statusCode === 503) reply.header("retry-after", String(retryAfterSeconds));
  // Removes the tag of the page that failed; a problem may have the tag of the map's current state.
  return reply
    .code(found.statusCode)
    .removeHeader("etag")
    .headers({ "x-request-id": reply.request.id, ...found.headers })
    .header("cache-control", "no-store")
    .type("application/problem+json")
    .send(JSON.stringify(found.toWire(reply.request.id)));
}

export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const found = toProblem(error, request);
    // Overload is not an error of the service: the request log and the metrics show it.
    if (found.statusCode >= 500 && found.code !== "overloaded") request.log.error({ err: error }, found.message);
    return sendProblem(reply, found);
  });
}
