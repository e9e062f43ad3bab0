import { newUuidV7 } from "../identifiers/uuid-v7.js";
import type { AccountStore, Credential } from "../store/contract.js";
import { hashSecret, newSecret } from "./secrets.js";

/**
 * Creates a client id and a secret. Only this result contains the secret; the store keeps its hash (Map Features
 * Service Interface, 4.1).
 */
export async function createCredential(
  store: Pick<AccountStore, "addCredential" | "audit">,
  { account, name, now, address }: { account: string; name: string; now: number; address: string | null },
): Promise<{ readonly credential: Credential; readonly clientSecret: string }> {
  const clientSecret = newSecret("clientSecret");
  const credential: Credential = {
    id: newUuidV7(),
    account,
    name,
    clientId: newSecret("clientId"),
    created: now,
    lastUsed: null,
    revoked: null,
  };
  await store.addCredential({ ...credential, secretHash: hashSecret(clientSecret) });
  const detail = { clientId: credential.clientId };
  await store.audit({ at: now, account, map: null, action: "credential-created", detail, address });
  return { credential, clientSecret };
}

/** Revokes a credential and its tokens. Returns false if it is already revoked. */
export async function revokeCredential(
  store: Pick<AccountStore, "revokeCredential" | "audit">,
  { id, account, name, clientId }: Credential,
  { now, address }: { now: number; address: string | null },
): Promise<boolean> {
  if (!(await store.revokeCredential({ account, credential: id, now }))) return false;
  const detail = { name, clientId };
  await store.audit({ at: now, account, map: null, action: "credential-revoked", detail, address });
  return true;
}
