/** Builds the store's write request from the headers and the body of an HTTP request. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { getBearer, getRequestMap } from "../auth/api-authorization.js";
import { checkIfMatch, checkIfNoneMatch, parseIfMatch } from "../http/conditional-requests.js";
import { problem } from "../http/problems.js";
import type { WriteItem, WriteKind, WriteRequest } from "../store/contract.js";

declare module "fastify" {
  interface FastifyRequest {
    /** The body of the request, decompressed. */
    bytes: Buffer | null;
  }
}

interface WriteInput {
  readonly kind: WriteKind;
  readonly remoteField: string | null;
  readonly nulls: WriteRequest["nulls"];
  readonly items: readonly WriteItem[];
  readonly now: number;
}

export function buildWriteRequest(
  request: FastifyRequest,
  { kind, remoteField, nulls, items, now }: WriteInput,
): WriteRequest {
  const { account } = getBearer(request);
  return {
    map: getRequestMap(request).id,
    kind,
    remoteField,
    ...(nulls ? { nulls } : {}),
    items,
    strict: isStrict(request),
    versions: parseIfMatch(request.headers["if-match"]),
    idempotency: buildIdempotency(request, account),
    now,
    audit: { account, action: "features-written", address: request.ip },
  };
}

/** `Prefer: handling=strict` (RFC 7240, 4.4): all or nothing. */
export function isStrict({ headers }: FastifyRequest): boolean {
  const prefer = [headers.prefer ?? []].flat().join(",");
  return /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(prefer);
}

/** Methods that are not idempotent by definition (draft-ietf-httpapi-idempotency-key-header). */
const idempotencyKeyMethods: readonly string[] = ["POST", "PATCH"];

/** A string of RFC 8941, 3.3.3, or without quotes as most clients send it. */
function readIdempotencyKey({ headers }: FastifyRequest): string | null {
  const name = "Idempotency-Key";
  const header = headers["idempotency-key"];
  if (header === undefined) return null;
  if (Array.isArray(header)) throw problem("bad-header", { name, reason: "it is repeated" });
  const key = /^"([\x20-\x21\x23-\x7e]+)"$/.exec(header)?.[1] ?? header;
  if (!/^[\x21\x23-\x7e]{1,255}$/.test(key)) {
    throw problem("bad-header", { name, reason: "a key has 1 to 255 visible characters of ASCII" });
  }
  return key;
}

function buildIdempotency(request: FastifyRequest, scope: string): WriteRequest["idempotency"] {
  if (!idempotencyKeyMethods.includes(request.method)) return null;
  const key = readIdempotencyKey(request);
  if (key === null) return null;
  const fingerprint = createHash("sha256")
    .update(`${request.method} ${request.url}\n`)
    .update(request.bytes ?? "")
    .digest();
  return { scope, key, fingerprint };
}

/**
 * Fails with 412 before the features are validated. A request that may repeat an earlier one is not checked here, since
 * the map has changed since then; the store decides.
 */
export function checkWritePrecondition(request: FastifyRequest): void {
  const { version } = getRequestMap(request);
  checkIfNoneMatch(request.headers["if-none-match"], version);
  if (idempotencyKeyMethods.includes(request.method) && request.headers["idempotency-key"] !== undefined) return;
  checkIfMatch(parseIfMatch(request.headers["if-match"]), version);
}
