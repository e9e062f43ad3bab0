/** Authenticates the client of a request to the token endpoint (RFC 6749, 2.3.1). */
import type { FastifyRequest } from "fastify";
import type { AccountStore, Credential } from "../store/contract.js";
import type { AttemptLimiter } from "./attempt-limiter.js";
import { invalidClientError, invalidRequestError, tooManyAttemptsError } from "./oauth-error.js";
import { equalHashes, hashSecret } from "./secrets.js";

export interface ClientForm {
  readonly client_id?: string;
  readonly client_secret?: string;
}

interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

/** Throws `invalid_request` if the client identifies itself twice, or not at all. */
function readClientCredentials(authorization: string | undefined, form: ClientForm): ClientCredentials {
  const { client_id: id, client_secret: secret } = form;
  if (authorization !== undefined && /^basic\b/i.test(authorization)) {
    if (secret)
      throw invalidRequestError("The client authenticates in the form or by Basic, not both (RFC 6749, 2.3).");
    const claim = parseBasicAuthorization(authorization);
    if (id && id !== claim.id) throw invalidRequestError("The form names another client_id than Basic does.");
    return claim;
  }
  if (!id) throw invalidRequestError("client_id is missing.");
  if (!secret) throw invalidRequestError("client_secret is missing.");
  return { id, secret };
}

/** Id and secret are form-encoded within Basic credentials (RFC 6749, 2.3.1). */
function parseBasicAuthorization(authorization: string): ClientCredentials {
  const text = Buffer.from(authorization.replace(/^basic +/i, ""), "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw invalidClientError();
  try {
    const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(decodeFormValue);
    return { id: id!, secret: secret! };
  } catch {
    throw invalidClientError();
  }
}

const decodeFormValue = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));

/** Characters of a client id (RFC 6749, A.1); other ids are not looked up. */
const clientIdPattern = /^[\x20-\x7e]{1,200}$/;

const emptyHash = new Uint8Array(32);

/**
 * Throws `invalid_client`. Neither the message nor the time reveals whether the client is unknown, is revoked, or sent
 * a wrong secret.
 */
export async function authenticateClient(
  store: Pick<AccountStore, "credentialByClientId">,
  attempts: AttemptLimiter,
  request: FastifyRequest,
  form: ClientForm,
): Promise<Credential> {
  const { id, secret } = readClientCredentials(request.headers.authorization, form);
  const attempt = { kind: "token", name: id, address: request.ip } as const;
  const guess = await attempts.check(attempt, async () => {
    const credential = await store.credentialByClientId(clientIdPattern.test(id) ? id : "-");
    const same = equalHashes(hashSecret(secret), credential?.secretHash ?? emptyHash);
    return credential && same && credential.revoked === null ? credential : null;
  });
  if (guess.kind === "wait") throw tooManyAttemptsError(guess.seconds);
  if (guess.kind === "wrong") throw invalidClientError();
  return guess.value;
}
