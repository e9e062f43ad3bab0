import { newId } from "../new-id.js";
import type { Account, PeopleStore } from "../store/contract.js";

/** Makes an account; null where there is one with that email. */
export async function createAccount(
  store: Pick<PeopleStore, "addAccount" | "audit">,
  { email, passwordHash, now, address }: { email: string; passwordHash: string; now: number; address: string | null },
): Promise<Account | null> {
  const account = { id: newId(), email, passwordHash, created: now };
  if (!(await store.addAccount(account))) return null;
  await store.audit({ at: now, account: account.id, map: null, action: "account-created", detail: {}, address });
  return account;
}

/** Signs the person out everywhere; credentials stay. */
export async function changePassword(
  store: Pick<PeopleStore, "setPassword" | "audit">,
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
