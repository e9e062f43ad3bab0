/** Checks the password of an account, subject to the attempt limits. */
import { verifyPassword } from "../../auth/passwords.js";
import type { Account } from "../../store/contract.js";
import { normalizeEmail } from "../../store/normalized-email.js";
import type { PageContext } from "../page-context.js";

export type PasswordCheck =
  | { readonly kind: "right"; readonly account: Account }
  | { readonly kind: "wrong" }
  /** Too many attempts; the next one is allowed after `seconds`. */
  | { readonly kind: "wait"; readonly seconds: number };

/** An unknown email address gets the same result, and takes as long, as a wrong password. */
export async function checkPassword(context: PageContext, email: string, password: string): Promise<PasswordCheck> {
  const { attempts, store } = context.services;
  const attempt = { kind: "login", name: normalizeEmail(email), address: context.address } as const;
  const guess = await attempts.check(attempt, async () => {
    const account = await store.accountByEmail(email);
    const right = await verifyPassword(account?.passwordHash ?? null, password);
    if (right && account !== null) {
      await attempts.succeeded(attempt);
      return account;
    }
    const { now, address } = context;
    const who = account?.id ?? null;
    await store.audit({ at: now, account: who, map: null, action: "login-failed", detail: {}, address });
    return null;
  });
  return guess.kind === "right" ? { kind: "right", account: guess.value } : guess;
}
