/**
 * Access tokens (Map Features Service Interface, 4.1 and 5; RFC 6749), their end (RFC 7009), and where to find both
 * (RFC 8414).
 */
import formbody from "@fastify/formbody";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { tokenLifetime, type WireToken } from "../../remote/wire.js";
import { basePath, baseUrl } from "../address.js";
import { pathOf } from "../errors.js";
import type { Settings } from "../settings.js";
import type { PeopleStore } from "../store/contract.js";
import { Attempts } from "./attempts.js";
import { authenticateClient } from "./clients.js";
import { handleOAuthErrors, invalidRequest, OAuthError, sendOAuthError, slowDown } from "./oauth-error.js";
import { hashSecret, newSecret } from "./secrets.js";

export interface TokenOptions {
  readonly store: PeopleStore;
  readonly settings: Settings;
  readonly publicUrl: string | null;
  readonly now: () => number;
}

const grantType = "client_credentials_with_user";
const clientMethods = ["client_secret_post", "client_secret_basic"];
const paths = { token: "/token", revocation: "/revoke", metadata: "/.well-known/oauth-authorization-server" } as const;

const client = {
  client_id: Type.Optional(Type.String({ description: "Required, unless HTTP Basic names the client" })),
  client_secret: Type.Optional(Type.String({ description: "Required, unless HTTP Basic has it" })),
};
const TokenForm = Type.Object({ grant_type: Type.String({ description: `\`${grantType}\`` }), ...client });
const RevocationForm = Type.Object({ token: Type.String(), token_type_hint: Type.Optional(Type.String()), ...client });

const Token = Type.Object({
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer({ description: "Seconds" }),
  access_token: Type.String(),
});
const OAuthErrorBody = Type.Object({ error: Type.String(), error_description: Type.String() });

/** RFC 6749, 5.1. */
const notKept = { "cache-control": "no-store", pragma: "no-cache" };

/** Bytes of a form: ids, secrets and tokens are short. */
const formBytes = 16 * 1024;

export async function tokenEndpoint(scope: FastifyInstance, options: TokenOptions): Promise<void> {
  const { store, settings, publicUrl, now } = options;
  const attempts = new Attempts(store, settings, now);
  handleOAuthErrors(scope);
  scope.setValidatorCompiler(({ schema }) => formValidator(schema as TSchema));
  scope.setSerializerCompiler(() => JSON.stringify);
  await scope.register(formbody, { bodyLimit: formBytes });
  await scope.register(rateLimit, { global: false });
  const check = scope.createRateLimit({ max: settings.tokensPerMinute, timeWindow: 60_000 });

  scope.addHook("onRequest", async (request, reply) => {
    reply.headers(notKept);
    if (request.method !== "POST") return;
    const limit = await check(request);
    if (!limit.isAllowed && limit.isExceeded) throw slowDown(limit.ttlInSeconds);
  });

  scope.post<{ Body: Static<typeof TokenForm> }>(paths.token, {
    schema: operation("requestToken", "Request an access token", TokenForm, Token),
    handler: async (request): Promise<WireToken> => {
      const { grant_type: grant, ...form } = present(request.body);
      if (grant !== grantType) {
        throw new OAuthError(400, "unsupported_grant_type", `The grant_type that is supported is ${grantType}.`);
      }
      const credential = await authenticateClient(store, attempts, request, form);
      const token = newSecret("accessToken");
      const created = now();
      const expires = created + tokenLifetime * 1000;
      await store.addToken({ hash: hashSecret(token), credential: credential.id, created, expires });
      return { token_type: "Bearer", expires_in: tokenLifetime, access_token: token };
    },
  });

  scope.post<{ Body: Static<typeof RevocationForm> }>(paths.revocation, {
    schema: operation("revokeToken", "Revoke an access token (RFC 7009)", RevocationForm, null),
    handler: async (request, reply) => {
      const { token, ...form } = present(request.body);
      const { clientId } = await authenticateClient(store, attempts, request, form);
      await store.revokeToken({ hash: hashSecret(token), clientId });
      return reply.code(200).send();
    },
  });

  // Of an issuer with a path the metadata is not below it, but its path below theirs (RFC 8414, 3.1); some look below.
  for (const url of new Set([paths.metadata, paths.metadata + basePath(publicUrl)])) {
    scope.get(url, { schema: { hide: true } }, async (request, reply) => {
      reply.headers({ "cache-control": "private, max-age=3600" }).removeHeader("pragma");
      return metadata(baseUrl(request, publicUrl));
    });
  }
}

/** RFC 8414, 2. */
const metadata = (issuer: string) => ({
  issuer,
  token_endpoint: issuer + paths.token,
  revocation_endpoint: issuer + paths.revocation,
  response_types_supported: [],
  grant_types_supported: [grantType],
  token_endpoint_auth_methods_supported: clientMethods,
  revocation_endpoint_auth_methods_supported: clientMethods,
});

/** A request without a body is not validated. */
function present<T>(body: T | undefined): T {
  if (body === undefined) throw invalidRequest("The request needs a form as its body.");
  return body;
}

/** A parameter without a value counts as none; one that is there twice is refused (RFC 6749, 3.2). */
function formValidator(schema: TSchema) {
  const validator = Compile(schema);
  return (form: Readonly<Record<string, unknown>>) => {
    const value = Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ""));
    const twice = Object.keys(value).find((name) => Array.isArray(value[name]));
    if (twice !== undefined) return { error: invalidRequest("A parameter is there more than once.") };
    if (validator.Check(value)) return { value };
    const { required } = schema as { required?: string[] };
    const missing = required?.find((name) => !Object.hasOwn(value, name));
    return { error: invalidRequest(missing ? `${missing} is missing.` : "A parameter is wrong.") };
  };
}

/** Even what is wrong in the method is told as RFC 6749 tells things, whatever the method is called. */
export function refuseOtherMethods({ url }: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const path = pathOf(url);
  if (path !== paths.token && path !== paths.revocation) return null;
  return sendOAuthError(
    reply.headers(notKept),
    new OAuthError(405, "invalid_request", "The method here is POST.", { allow: "POST" }),
  );
}

function operation(operationId: string, summary: string, form: TSchema, answer: TSchema | null): FastifySchema {
  const json = (schema: TSchema) => ({ content: { "application/json": { schema } } });
  return {
    operationId,
    summary,
    tags: ["authentication"],
    security: [{}, { client: [] }],
    body: { content: { "application/x-www-form-urlencoded": { schema: form } } },
    response: {
      200: { description: "Done", ...(answer ? json(answer) : { type: "null" }) },
      400: { description: "invalid_request, unsupported_grant_type", ...json(OAuthErrorBody) },
      401: { description: "invalid_client", ...json(OAuthErrorBody) },
      429: { description: "Too many attempts", ...json(OAuthErrorBody) },
    },
  };
}
