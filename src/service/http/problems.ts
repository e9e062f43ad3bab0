/**
 * Registry of all error responses: a code for programs, the HTTP status, and a message that states what to do next.
 * Sent as problem details (RFC 9457).
 */
import { STATUS_CODES } from "node:http";
import type { WireFailure, WireProblem } from "../../remote/wire.js";

interface ProblemDefinition<D> {
  readonly status: number;
  readonly message: (details: D) => string;
}
const defineProblem = <D>(status: number, message: (details: D) => string): ProblemDefinition<D> => ({
  status,
  message,
});
const fixedProblem = (status: number, message: string): ProblemDefinition<object> => ({
  status,
  message: () => message,
});

type Reason = { readonly reason: string };

export const problems = {
  "bad-request": defineProblem<Reason>(400, (e) => `The request cannot be read: ${e.reason}.`),
  "bad-query": defineProblem<Reason>(400, (e) => `The query string is invalid: ${e.reason}.`),
  "bad-header": defineProblem<{ name: string } & Reason>(400, (e) => `The header ${e.name} is invalid: ${e.reason}.`),
  "body-missing": fixedProblem(400, "The request has no body; send JSON."),
  "content-type-missing": fixedProblem(
    400,
    "The request has a body but no Content-Type; send Content-Type: application/json.",
  ),
  "bad-json": defineProblem<Reason>(400, (e) => `The body is not JSON in UTF-8: ${e.reason}.`),
  "bad-gzip": defineProblem<Reason>(
    400,
    (e) => `The body is not gzip, though its Content-Encoding says so: ${e.reason}.`,
  ),
  "nested-too-deeply": defineProblem<{ limit: number }>(
    400,
    (e) => `The body nests objects and arrays more than ${e.limit} levels deep.`,
  ),
  "too-many-members": defineProblem<{ limit: number }>(
    400,
    (e) => `A feature of the body has more than ${e.limit} members, counting those of objects in its properties.`,
  ),
  "not-authenticated": fixedProblem(
    401,
    "An access token is required: get one from /token and send it as Authorization: Bearer TOKEN.",
  ),
  "invalid-token": fixedProblem(
    401,
    "The access token is unknown, has expired or was revoked; get a new one from /token.",
  ),
  "not-owner": fixedProblem(403, "Only the owner of this map may change it."),
  "not-found": defineProblem<{ path: string }>(404, (e) => `Nothing exists at ${e.path}.`),
  "map-not-found": fixedProblem(404, "The map does not exist, or it is private and belongs to another account."),
  "feature-not-found": fixedProblem(404, "The map has no such feature."),
  "method-not-allowed": defineProblem<{ method: string; allow: string }>(
    405,
    (e) => `${e.method} is not supported here; use ${e.allow}.`,
  ),
  "request-timeout": fixedProblem(408, "The request took too long to arrive."),
  "idempotency-in-flight": fixedProblem(409, "A request with this Idempotency-Key is in progress; retry in a moment."),
  "precondition-failed": fixedProblem(
    412,
    "The version of the map does not match If-Match or If-None-Match. Read the map again.",
  ),
  "body-too-large": defineProblem<{ limit: number }>(
    413,
    (e) => `The body has more than ${e.limit} bytes (counted after decompression); send fewer features at once.`,
  ),
  "unsupported-media-type": defineProblem<{ type: string }>(
    415,
    (e) => `The media type ${e.type} is not supported; send application/json or application/geo+json, in UTF-8.`,
  ),
  "unsupported-encoding": defineProblem<{ encoding: string }>(
    415,
    (e) => `The Content-Encoding ${e.encoding} is not supported; send gzip, or none.`,
  ),
  "expectation-failed": defineProblem<{ expect: string }>(
    417,
    (e) => `The expectation ${e.expect} is not supported; send the request without Expect.`,
  ),
  "invalid-body": defineProblem<Reason>(422, (e) => `The body is invalid: ${e.reason}.`),
  "too-many-features": defineProblem<{ count: number; limit: number }>(
    422,
    (e) => `The request has ${e.count} features; at most ${e.limit} are allowed. Nothing was changed.`,
  ),
  "too-many-maps": defineProblem<{ limit: number }>(
    422,
    (e) =>
      `The account has ${e.limit} maps, the most allowed; delete one first, or have the operator raise mapsPerAccount.`,
  ),
  "keys-unusable": defineProblem<{ count: number; key: string }>(
    422,
    (e) =>
      `Nothing was changed: ${e.count === 1 ? "a feature has" : `${e.count} features have`} no usable ${e.key}, so the features to delete are unknown.`,
  ),
  "all-failed": fixedProblem(422, "All features failed; nothing was changed."),
  refused: defineProblem<{ count: number }>(
    422,
    (e) => `Nothing was changed because of Prefer: handling=strict: ${e.count} of the features failed.`,
  ),
  "idempotency-key-used": fixedProblem(
    422,
    "This Idempotency-Key was used for another request; use a new key for each request.",
  ),
  "rate-limited": defineProblem<{ seconds: number }>(429, (e) => `Too many requests; retry in ${e.seconds} s.`),
  "headers-too-large": fixedProblem(431, "The headers of the request are too large."),
  internal: fixedProblem(500, "The service failed to handle this request; its log has details under the request id."),
  ending: fixedProblem(503, "This process of the service is shutting down; retry the request."),
  "reading-keys": defineProblem<{ percent: number }>(
    503,
    (e) =>
      `Nothing was changed yet: the remoteField is new to this large map, and its keys are still being indexed (${e.percent} %). Retry the request later; indexing continues.`,
  ),
  "disk-full": fixedProblem(
    507,
    "The disk of the service's database is full, and nothing was written. Reads still work; the operator must free space.",
  ),
  overloaded: fixedProblem(
    503,
    "The service is overloaded, and nothing was changed. Retry the request after the time in Retry-After.",
  ),
  "store-read-only": fixedProblem(
    503,
    "The service's database accepts no writes now, as during a failover, and nothing was changed. Reads still work; try again later.",
  ),
  "store-unavailable": fixedProblem(503, "The service cannot reach its database; try again later."),
} satisfies Readonly<Record<string, ProblemDefinition<never>>>;

export type ProblemCode = keyof typeof problems;
type ProblemDetails<C extends ProblemCode> = (typeof problems)[C] extends ProblemDefinition<infer D> ? D : never;

interface ProblemOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly failed?: readonly WireFailure[];
  readonly cause?: unknown;
}

export class Problem extends Error {
  readonly code: ProblemCode;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly failed: readonly WireFailure[] | undefined;

  constructor(code: ProblemCode, message: string, rest: ProblemOptions = {}) {
    // A problem is an answer to a client, often to many at once: a stack trace would cost more than the refusal itself.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = code === "internal" ? stackTraceLimit : 0;
    super(message, { cause: rest.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Problem";
    this.code = code;
    this.statusCode = problems[code].status;
    this.headers = rest.headers ?? {};
    this.failed = rest.failed;
  }

  /** RFC 9457, 3. With `about:blank` the title is the reason phrase of the status (4.2.1). */
  toWire(requestId: string): WireProblem {
    return {
      type: "about:blank",
      title: STATUS_CODES[this.statusCode] ?? "Error",
      status: this.statusCode,
      detail: this.message,
      message: this.message,
      code: this.code,
      requestId,
      ...(this.failed && { failed: this.failed }),
    };
  }
}

/** `throw problem("body-too-large", { limit })` */
export function problem<C extends ProblemCode>(code: C, details: ProblemDetails<C>, rest?: ProblemOptions): Problem {
  const { message } = problems[code] as ProblemDefinition<ProblemDetails<C>>;
  return new Problem(code, message(details), rest);
}
