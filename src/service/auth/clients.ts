/** Tells which client sends a request to the token endpoint (RFC 6749, 2.3.1). */
import type { FastifyRequest } from "fastify";
import type { Credential, PeopleStore } from "../store/contract.js";
import type { Attempts } from "./attempts.js";
import { invalidClient, invalidRequest, slowDown } from "./oauth-error.js";
import { hashSecret, sameHash } from "./secrets.js";

export interface ClientForm {
  readonly client_id?: string;
  readonly client_secret?: string;
}

interface Claim {
  readonly id: string;
  readonly secret: string;
}

/** Throws `invalid_request` where a client names itself twice, or not at all. */
function claimOf(authorization: string | undefined, form: ClientForm): Claim {
  const { client_id: id, client_secret: secret } = form;
  if (authorization !== undefined && /^basic\b/i.test(authorization)) {
    if (secret) throw invalidRequest("The client authenticates in the form or by Basic, not both (RFC 6749, 2.3).");
    const claim = basicClaim(authorization);
    if (id && id !== claim.id) throw invalidRequest("The form names another client_id than Basic does.");
    return claim;
  }
  if (!id) throw invalidRequest("client_id is missing.");
  if (!secret) throw invalidRequest("client_secret is missing.");
  return { id, secret };
}

/** Id and secret are form-encoded inside (RFC 6749, 2.3.1). */
function basicClaim(authorization: string): Claim {
  const text = Buffer.from(authorization.replace(/^basic +/i, ""), "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw invalidClient();
  try {
    const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(formDecoded);
    return { id: id!, secret: secret! };
  } catch {
    throw invalidClient();
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));

/** What a client id is made of (RFC 6749, A.1); others are nobody's, and are not looked for. */
const possible = /^[\x20-\x7e]{1,200}$/;

const noHash = new Uint8Array(32);

/**
 * Throws `invalid_client`; nothing in it tells, by words or by work, whether the client is unknown, revoked or gave
 * another secret.
 */
export async function authenticateClient(
  store: Pick<PeopleStore, "credentialByClientId">,
  attempts: Attempts,
  request: FastifyRequest,
  form: ClientForm,
): Promise<Credential> {
  const { id, secret } = claimOf(request.headers.authorization, form);
  const attempt = { kind: "token", name: id, address: request.ip } as const;
  const guess = await attempts.check(attempt, async () => {
    const credential = await store.credentialByClientId(possible.test(id) ? id : "-");
    const same = sameHash(hashSecret(secret), credential?.secretHash ?? noHash);
    return credential && same && credential.revoked === null ? credential : null;
  });
  if (guess.kind === "wait") throw slowDown(guess.seconds);
  if (guess.kind === "wrong") throw invalidClient();
  return guess.value;
}
