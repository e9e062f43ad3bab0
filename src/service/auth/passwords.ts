import { hash, verify } from "@node-rs/argon2";
import pLimit from "p-limit";

/** Shortest and longest password, in characters (NIST SP 800-63B, 5.1.1.2: at least 8, and 64 must be allowed). */
export const passwordLength = { least: 8, most: 256 } as const;

/** Argon2id, OWASP's first choice: 19 MiB, two passes, one lane. */
const argon2Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** What is compared with where there is no account: of the same cost, from a password that no one knows. */
export const dummyHash =
  "$argon2id$v=19$m=19456,t=2,p=1$r5e2oFD2qV9Yhhx6maw3NQ$gXaREvIt40MDhvxyb6dxz8dNHO0Uy/PDtl1TF2fMax0";

/** Hashing takes a thread and 19 MiB for 20 ms: a crowd at the door must not starve what else needs threads. */
const hashingLimit = pLimit(2);

/** The same text however it was typed (SP 800-63B: NFKC or NFKD before hashing). */
const normalizePassword = (password: string): string => password.normalize("NFKC");

/** In the PHC string format: `$argon2id$v=19$…`. */
export const hashPassword = (password: string): Promise<string> =>
  hashingLimit(() => hash(normalizePassword(password), argon2Options));

/** Whether it is the password of an account; of no account where `passwordHash` is null, which takes as long. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const possible = passwordHash !== null && password.length <= 2 * passwordLength.most;
  const matches = await hashingLimit(() =>
    verify(possible ? passwordHash : dummyHash, possible ? normalizePassword(password) : ""),
  );
  return possible && matches;
}

/** Why a new password is not taken, as a sentence for the person; null where it is. */
export function findPasswordProblem(password: string, email: string): string | null {
  const length = [...password].length;
  if (length < passwordLength.least) return `The password needs at least ${passwordLength.least} characters`;
  if (length > passwordLength.most) return `The password may have at most ${passwordLength.most} characters`;
  if (/^(.)\1*$/su.test(password)) return "The password needs more than one character over and over";
  const [typed, address] = [password.toLowerCase(), email.toLowerCase()];
  if (typed === address || typed === address.split("@")[0]) return "The password must not be the email address";
  return null;
}
