/** Whether somebody knows the password of an account, as often as it may be tried. */
import pLimit from "p-limit";
import { isPassword } from "../auth/passwords.js";
import type { Account } from "../store/contract.js";
import { emailKey } from "../store/email-key.js";
import type { Visit } from "./visit.js";

export type Checked =
  | { readonly kind: "right"; readonly account: Account }
  | { readonly kind: "wrong" }
  /** There were too many attempts: seconds until the next. */
  | { readonly kind: "wait"; readonly seconds: number };

/** Few at once, so that of a thousand guesses sent together the first ten have been counted when the others come. */
const inTurn = pLimit(2);

/** Answers and takes as long for an email that nobody has as for a wrong password. */
export function checkPassword(visit: Visit, email: string, password: string): Promise<Checked> {
  const { attempts, store } = visit.site;
  const attempt = { kind: "login", name: emailKey(email), address: visit.address } as const;
  return inTurn(async () => {
    const seconds = attempts.wait(attempt);
    if (seconds > 0) return { kind: "wait", seconds };
    const account = await store.accountByEmail(email);
    const right = await isPassword(account?.passwordHash ?? null, password);
    if (right && account !== null) {
      await attempts.succeeded(attempt);
      return { kind: "right", account };
    }
    await attempts.failed(attempt);
    const { now, address } = visit;
    const who = account?.id ?? null;
    await store.audit({ at: now, account: who, map: null, action: "login-failed", detail: {}, address });
    return { kind: "wrong" };
  });
}
