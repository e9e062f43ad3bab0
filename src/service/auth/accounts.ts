import { newUuidV7 } from "../identifiers/uuid-v7.js";
import type { Account, AccountStore, StoredMap } from "../store/contract.js";

/**
 * The name that other accounts see: the chosen name, or `Account` and six digits of the id. Never the email address.
 */
export const displayName = ({ id, name }: { readonly id: string; readonly name: string }): string =>
  name === "" ? `Account ${id.slice(-6)}` : name;

/** The name that other accounts see for the owner of a map. */
export const ownerDisplayName = ({ owner, ownerName }: Pick<StoredMap, "owner" | "ownerName">): string =>
  displayName({ id: owner, name: ownerName });

/** Creates an account; returns null if the email address is taken. */
export async function createAccount(
  store: Pick<AccountStore, "addAccount" | "audit">,
  {
    email,
    name = "",
    passwordHash,
    now,
    address,
  }: { email: string; name?: string; passwordHash: string; now: number; address: string | null },
): Promise<Account | null> {
  const account = { id: newUuidV7(), email, name, passwordHash, created: now };
  if (!(await store.addAccount(account))) return null;
  await store.audit({ at: now, account: account.id, map: null, action: "account-created", detail: {}, address });
  return account;
}

/** Changes the password and ends all sessions of the account; its credentials stay valid. */
export async function changePassword(
  store: Pick<AccountStore, "setPassword" | "audit">,
  {
    account,
    passwordHash,
    now,
    address,
  }: { account: string; passwordHash: string; now: number; address: string | null },
): Promise<void> {
  await store.setPassword({ account, passwordHash });
  await store.audit({ at: now, account, map: null, action: "password-changed", detail: {}, address });
}

/** Sets the name that other accounts see; an empty name removes it. */
export async function changeAccountName(
  store: Pick<AccountStore, "setAccountName" | "audit">,
  { account, name, now, address }: { account: string; name: string; now: number; address: string | null },
): Promise<void> {
  await store.setAccountName({ account, name });
  await store.audit({ at: now, account, map: null, action: "account-renamed", detail: { name }, address });
}
