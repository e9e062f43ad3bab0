/** Whether somebody knows the password of an account, as often as it may be tried. */
import { verifyPassword } from "../../auth/passwords.js";
import type { Account } from "../../store/contract.js";
import { normalizeEmail } from "../../store/normalized-email.js";
import type { PageContext } from "../page-context.js";

export type PasswordCheck =
  | { readonly kind: "right"; readonly account: Account }
  | { readonly kind: "wrong" }
  /** There were too many attempts: seconds until the next. */
  | { readonly kind: "wait"; readonly seconds: number };

/** Answers and takes as long for an email that no one has as for a wrong password. */
export async function checkPassword(visit: PageContext, email: string, password: string): Promise<PasswordCheck> {
  const { attempts, store } = visit.site;
  const attempt = { kind: "login", name: normalizeEmail(email), address: visit.address } as const;
  const guess = await attempts.check(attempt, async () => {
    const account = await store.accountByEmail(email);
    const right = await verifyPassword(account?.passwordHash ?? null, password);
    if (right && account !== null) {
      await attempts.succeeded(attempt);
      return account;
    }
    const { now, address } = visit;
    const who = account?.id ?? null;
    await store.audit({ at: now, account: who, map: null, action: "login-failed", detail: {}, address });
    return null;
  });
  return guess.kind === "right" ? { kind: "right", account: guess.value } : guess;
}
