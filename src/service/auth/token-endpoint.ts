/**
 * Issues access tokens (Map Features Service Interface, 4.1 and 5; RFC 6749), revokes them (RFC 7009), and publishes
 * the metadata of both endpoints (RFC 8414).
 */
import formbody from "@fastify/formbody";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { tokenLifetimeSeconds, type WireToken } from "../../remote/wire.js";
import { requestPath } from "../http/error-handler.js";
import { basePath, baseUrl } from "../http/public-url.js";
import { RequestCounts } from "../limits/request-counts.js";
import type { Settings } from "../settings.js";
import type { AccountStore } from "../store/contract.js";
import { AttemptLimiter } from "./attempt-limiter.js";
import { authenticateClient } from "./client-authentication.js";
import {
  installOAuthErrorHandler,
  invalidRequestError,
  OAuthError,
  sendOAuthError,
  tooManyAttemptsError,
} from "./oauth-error.js";
import { hashSecret, newSecret } from "./secrets.js";

export interface TokenEndpointOptions {
  readonly store: AccountStore;
  readonly settings: Settings;
  readonly publicUrl: string | null;
  readonly now: () => number;
}

const grantType = "client_credentials_with_user";
const clientAuthenticationMethods = ["client_secret_post", "client_secret_basic"];
const endpointPaths = {
  token: "/token",
  revocation: "/revoke",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

const clientFields = {
  client_id: Type.Optional(Type.String({ description: "Required, unless HTTP Basic names the client" })),
  client_secret: Type.Optional(Type.String({ description: "Required, unless HTTP Basic has it" })),
};
const TokenForm = Type.Object({ grant_type: Type.String({ description: `\`${grantType}\`` }), ...clientFields });
const RevocationForm = Type.Object({
  token: Type.String(),
  token_type_hint: Type.Optional(Type.String()),
  ...clientFields,
});

const TokenBody = Type.Object({
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer({ description: "Seconds" }),
  access_token: Type.String(),
});
const OAuthErrorBody = Type.Object({ error: Type.String(), error_description: Type.String() });

/** RFC 6749, 5.1. */
const noStoreHeaders = { "cache-control": "no-store", pragma: "no-cache" };

/** Maximum bytes of a form; ids, secrets and tokens are short. */
const maxFormBytes = 16 * 1024;

export async function registerTokenEndpoint(scope: FastifyInstance, options: TokenEndpointOptions): Promise<void> {
  const { store, settings, publicUrl, now } = options;
  const attempts = new AttemptLimiter(store, settings, now);
  installOAuthErrorHandler(scope);
  scope.setValidatorCompiler(({ schema }) => createFormValidator(schema as TSchema));
  scope.setSerializerCompiler(() => JSON.stringify);
  await scope.register(formbody, { bodyLimit: maxFormBytes });
  await scope.register(rateLimit, { global: false, store: RequestCounts });
  const check = scope.createRateLimit({ max: settings.tokensPerMinute, timeWindow: 60_000 });

  scope.addHook("onRequest", async (request, reply) => {
    reply.headers(noStoreHeaders);
    if (request.method !== "POST") return;
    const limit = await check(request);
    if (!limit.isAllowed && limit.isExceeded) throw tooManyAttemptsError(limit.ttlInSeconds);
  });

  scope.post<{ Body: Static<typeof TokenForm> }>(endpointPaths.token, {
    schema: tokenRouteSchema("requestToken", "Request an access token", TokenForm, TokenBody),
    handler: async (request): Promise<WireToken> => {
      const { grant_type: grant, ...form } = requireBody(request.body);
      if (grant !== grantType) {
        throw new OAuthError(400, "unsupported_grant_type", `The grant_type that is supported is ${grantType}.`);
      }
      const credential = await authenticateClient(store, attempts, request, form);
      const token = newSecret("accessToken");
      const created = now();
      const expires = created + tokenLifetimeSeconds * 1000;
      await store.addToken({ hash: hashSecret(token), credential: credential.id, created, expires });
      return { token_type: "Bearer", expires_in: tokenLifetimeSeconds, access_token: token };
    },
  });

  scope.post<{ Body: Static<typeof RevocationForm> }>(endpointPaths.revocation, {
    schema: tokenRouteSchema("revokeToken", "Revoke an access token (RFC 7009)", RevocationForm, null),
    handler: async (request, reply) => {
      const { token, ...form } = requireBody(request.body);
      const { clientId } = await authenticateClient(store, attempts, request, form);
      await store.revokeToken({ hash: hashSecret(token), clientId });
      return reply.code(200).send();
    },
  });

  // If the issuer has a path, the metadata path precedes it (RFC 8414, 3.1); some clients append it instead.
  for (const url of new Set([endpointPaths.metadata, endpointPaths.metadata + basePath(publicUrl)])) {
    scope.get(url, { schema: { hide: true } }, async (request, reply) => {
      reply.headers({ "cache-control": "private, max-age=3600" }).removeHeader("pragma");
      return authorizationServerMetadata(baseUrl(request, publicUrl));
    });
  }
}

/** RFC 8414, 2. */
const authorizationServerMetadata = (issuer: string) => ({
  issuer,
  token_endpoint: issuer + endpointPaths.token,
  revocation_endpoint: issuer + endpointPaths.revocation,
  response_types_supported: [],
  grant_types_supported: [grantType],
  token_endpoint_auth_methods_supported: clientAuthenticationMethods,
  revocation_endpoint_auth_methods_supported: clientAuthenticationMethods,
});

/** A request without a body skips validation. */
function requireBody<T>(body: T | undefined): T {
  if (body === undefined) throw invalidRequestError("The request has no body; send a form.");
  return body;
}

/** A parameter without a value counts as absent; a repeated parameter is rejected (RFC 6749, 3.2). */
function createFormValidator(schema: TSchema) {
  const validator = Compile(schema);
  return (form: Readonly<Record<string, unknown>>) => {
    const value = Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ""));
    const twice = Object.keys(value).find((name) => Array.isArray(value[name]));
    if (twice !== undefined) return { error: invalidRequestError("A parameter is repeated.") };
    if (validator.Check(value)) return { value };
    const { required } = schema as { required?: string[] };
    const missing = required?.find((name) => !Object.hasOwn(value, name));
    return { error: invalidRequestError(missing ? `${missing} is missing.` : "A parameter is invalid.") };
  };
}

/** Responds to wrong methods on the token endpoints in the format of RFC 6749. */
export function rejectOtherMethods({ url }: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const path = requestPath(url);
  if (path !== endpointPaths.token && path !== endpointPaths.revocation) return null;
  return sendOAuthError(
    reply.headers(noStoreHeaders),
    new OAuthError(405, "invalid_request", "Use POST.", { allow: "POST" }),
  );
}

function tokenRouteSchema(
  operationId: string,
  summary: string,
  form: TSchema,
  responseBody: TSchema | null,
): FastifySchema {
  const json = (schema: TSchema) => ({ content: { "application/json": { schema } } });
  return {
    operationId,
    summary,
    tags: ["authentication"],
    security: [{}, { client: [] }],
    body: { content: { "application/x-www-form-urlencoded": { schema: form } } },
    response: {
      200: { description: "Done", ...(responseBody ? json(responseBody) : { type: "null" }) },
      400: { description: "invalid_request, unsupported_grant_type", ...json(OAuthErrorBody) },
      401: { description: "invalid_client", ...json(OAuthErrorBody) },
      429: { description: "Too many attempts", ...json(OAuthErrorBody) },
    },
  };
}
