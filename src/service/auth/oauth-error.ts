/** Errors of the token endpoint, in the format of RFC 6749, 5.2. */
import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";

type OAuthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "unsupported_grant_type"
  | "unsupported_token_type"
  | "temporarily_unavailable"
  | "server_error";

export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    statusCode: number,
    code: OAuthErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "OAuthError";
    this.code = code;
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

export const invalidRequestError = (message: string): OAuthError => new OAuthError(400, "invalid_request", message);

/** The same error for an unknown client, a revoked client, and a wrong secret. */
export const invalidClientError = (): OAuthError =>
  new OAuthError(401, "invalid_client", "The client id or its secret is wrong.", {
    "www-authenticate": 'Basic realm="geoferry", charset="UTF-8"',
  });

export const tooManyAttemptsError = (seconds: number): OAuthError =>
  new OAuthError(429, "temporarily_unavailable", `Too many attempts; retry in ${seconds} s.`, {
    "retry-after": String(seconds),
  });

/**
 * Descriptions of problems of the store by their code. A new token is stored, which a full disk or a read-only database
 * prevents.
 */
const storeFailures: Readonly<Record<string, string>> = {
  "store-unavailable": "The service cannot reach its database; try again later.",
  "store-read-only": "The service's database accepts no writes now, so no token can be issued; try again later.",
  "disk-full": "The disk of the service's database is full, so no token can be issued; the operator must free space.",
};

function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const { statusCode = 500, code } = error as Partial<FastifyError>;
  if (code !== undefined && Object.hasOwn(storeFailures, code)) {
    return new OAuthError(503, "temporarily_unavailable", storeFailures[code]!, { "retry-after": "5" });
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return invalidRequestError("The body must be application/x-www-form-urlencoded.");
  }
  if (statusCode >= 500) return new OAuthError(500, "server_error", "The service failed to handle this request.");
  return new OAuthError(statusCode, "invalid_request", (error as Error).message);
}

export function installOAuthErrorHandler(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    const found = toOAuthError(error);
    if (found.statusCode >= 500) request.log.error({ err: error }, found.message);
    return sendOAuthError(reply, found);
  });
}

export const sendOAuthError = (reply: FastifyReply, { statusCode, headers, code, message }: OAuthError): FastifyReply =>
  reply.code(statusCode).headers(headers).type("application/json").send({ error: code, error_description: message });
