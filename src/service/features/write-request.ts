/** What a request asks of a store, by its headers and its body. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { bearerOf, mapOf } from "../auth/bearer.js";
import { allowedVersions, checkNotKnown, checkVersion } from "../conditions.js";
import { problem } from "../problems.js";
import type { WriteItem, WriteKind, WriteRequest } from "../store/contract.js";

declare module "fastify" {
  interface FastifyRequest {
    /** The body as it was sent, decompressed. */
    bytes: Buffer | null;
  }
}

interface Asked {
  readonly kind: WriteKind;
  readonly remoteField: string | null;
  readonly nulls: WriteRequest["nulls"];
  readonly items: readonly WriteItem[];
  readonly now: number;
}

export function writeRequest(request: FastifyRequest, { kind, remoteField, nulls, items, now }: Asked): WriteRequest {
  const { account } = bearerOf(request);
  return {
    map: mapOf(request).id,
    kind,
    remoteField,
    ...(nulls ? { nulls } : {}),
    items,
    strict: isStrict(request),
    versions: allowedVersions(request.headers["if-match"]),
    idempotency: idempotencyOf(request, account),
    now,
    audit: { account, action: "features-written", address: request.ip },
  };
}

/** `Prefer: handling=strict` (RFC 7240, 4.4): all or nothing. */
export function isStrict({ headers }: FastifyRequest): boolean {
  const prefer = [headers.prefer ?? []].flat().join(",");
  return /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(prefer);
}

/** Where requests that are not idempotent in themselves can be made so (draft-ietf-httpapi-idempotency-key-header). */
const idempotentByKey: readonly string[] = ["POST", "PATCH"];

/** A text as in RFC 8941, 3.3.3, or without its quotes as most send it. */
function idempotencyKey({ headers }: FastifyRequest): string | null {
  const name = "Idempotency-Key";
  const header = headers["idempotency-key"];
  if (header === undefined) return null;
  if (Array.isArray(header)) throw problem("bad-header", { name, reason: "it is there more than once" });
  const key = /^"([\x20-\x21\x23-\x7e]+)"$/.exec(header)?.[1] ?? header;
  if (!/^[\x21\x23-\x7e]{1,255}$/.test(key)) {
    throw problem("bad-header", { name, reason: "a key has 1 to 255 visible characters of ASCII" });
  }
  return key;
}

function idempotencyOf(request: FastifyRequest, scope: string): WriteRequest["idempotency"] {
  if (!idempotentByKey.includes(request.method)) return null;
  const key = idempotencyKey(request);
  if (key === null) return null;
  const fingerprint = createHash("sha256")
    .update(`${request.method} ${request.url}\n`)
    .update(request.bytes ?? "")
    .digest();
  return { scope, key, fingerprint };
}

/**
 * 412 comes before what is wrong with the features. A request that may be the repetition of one that was carried out
 * is not held against what came after it: the store knows.
 */
export function checkPrecondition(request: FastifyRequest): void {
  const { version } = mapOf(request);
  checkNotKnown(request.headers["if-none-match"], version);
  if (idempotentByKey.includes(request.method) && request.headers["idempotency-key"] !== undefined) return;
  checkVersion(allowedVersions(request.headers["if-match"]), version);
}
