/**
 * Authentication with bearer tokens (RFC 6750; Map Features Service Interface, 5) and authorization by map owner. These
 * hooks run before the body is read, and fail in the order 401, 404, 403, 429.
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, preValidationAsyncHookHandler } from "fastify";
import { problem } from "../http/problems.js";
import { isUuid } from "../identifiers/uuid.js";
import type { Bearer, MapStore, StoredMap } from "../store/contract.js";
import { hashSecret } from "./secrets.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the authentication hook of the API. */
    bearer: Bearer | null;
    map: StoredMap | null;
    /** Whether a part of the body had not arrived when the token was checked. */
    isArriving: boolean;
    /** When the token was checked, by `performance.now()`; Infinity before. */
    checkedAt: number;
  }
}

/** Syntax of a bearer token (RFC 6750, 2.1, `b64token`). */
const bearerPattern = /^bearer +([\w.~+/-]+=*) *$/i;

/** How long a check of token and map holds until the request is handled, in milliseconds. */
const checkHoldsMs = 100;

const emptyHash = new Uint8Array(32);

/**
 * Sets `request.bearer` and `request.map`. Throws 401 without a valid token, and 404 for a map that the account cannot
 * read.
 */
export function createAuthenticationHook(
  store: Pick<MapStore, "access">,
  now: () => number,
): onRequestAsyncHookHandler {
  return async (request) => {
    const header = request.headers.authorization;
    const token = header === undefined ? undefined : bearerPattern.exec(header)?.[1];
    const { mapId } = request.params as { mapId?: string };
    const map = isUuid(mapId) ? mapId.toLowerCase() : null;
    const tokenHash = token === undefined ? emptyHash : hashSecret(token);
    const access = token === undefined ? null : await store.access({ tokenHash, map, now: now() });
    if (!access?.bearer) throw unauthenticatedProblem(header);
    const { bearer } = access;
    request.bearer = bearer;
    request.isArriving = !request.raw.complete;
    request.checkedAt = performance.now();
    if (mapId === undefined) return;
    const visible = access.map && (!access.map.private || access.map.owner === bearer.account);
    if (!visible) throw problem("map-not-found", {});
    request.map = access.map;
  };
}

/**
 * Checks token and map again if the body has arrived after them, or has waited for memory or its turn to be parsed,
 * which may take minutes: a token that was revoked in the meantime must not write.
 */
export const createArrivalHook = (authenticate: onRequestAsyncHookHandler): preValidationAsyncHookHandler =>
  async function (request, reply) {
    const isStale = performance.now() - request.checkedAt > checkHoldsMs;
    if (request.isArriving || isStale) await authenticate.call(this, request, reply);
  };

/** Without a token, the challenge has no error code (RFC 6750, 3). */
function unauthenticatedProblem(header: string | undefined) {
  const realm = 'Bearer realm="geoferry"';
  return header !== undefined && /^bearer\b/i.test(header)
    ? problem("invalid-token", {}, { headers: { "www-authenticate": `${realm}, error="invalid_token"` } })
    : problem("not-authenticated", {}, { headers: { "www-authenticate": realm } });
}

/** Only the owner of a map may write to it (section 5.6). */
export const requireOwner: onRequestAsyncHookHandler = async (request) => {
  if (getRequestMap(request).owner !== getBearer(request).account) throw problem("not-owner", {});
};

/** Available after the authentication hook. */
export const getBearer = (request: FastifyRequest): Bearer => request.bearer!;
export const getRequestMap = (request: FastifyRequest): StoredMap => request.map!;

/** Result of the counter of `@fastify/rate-limit`. */
type RateLimitCheck = (request: FastifyRequest) => Promise<
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly max: number;
      readonly timeWindow: number;
      readonly remaining: number;
      readonly ttlInSeconds: number;
      readonly isExceeded: boolean;
    }
>;

/** Sets the RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10), and throws 429 if the limit is exceeded. */
export function createRateLimitHook(name: string, check: RateLimitCheck): onRequestAsyncHookHandler {
  return async (request, reply: FastifyReply) => {
    const limit = await check(request);
    if (limit.isAllowed) return;
    const { max, timeWindow, remaining, ttlInSeconds } = limit;
    reply.header("ratelimit-policy", `"${name}";q=${max};w=${timeWindow / 1000}`);
    reply.header("ratelimit", `"${name}";r=${remaining};t=${ttlInSeconds}`);
    if (limit.isExceeded) throw rateLimitedProblem(ttlInSeconds);
  };
}

export const rateLimitedProblem = (seconds: number) =>
  problem("rate-limited", { seconds }, { headers: { "retry-after": String(seconds) } });
