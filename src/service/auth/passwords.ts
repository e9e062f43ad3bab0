import { randomBytes, timingSafeEqual } from "node:crypto";
import pLimit from "p-limit";
import { type Argon2Parameters, argon2id } from "./argon2.js";

/** Password length in characters (NIST SP 800-63B, 5.1.1.2: at least 8, and 64 must be allowed). */
export const passwordLength = { min: 8, max: 256 } as const;

/** OWASP's first recommendation for Argon2id: 19 MiB, two passes, one lane. */
const parameters: Argon2Parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const saltLength = 16;

/**
 * A hash of an unknown password at the usual cost; verified if the account does not exist, so that the time is the
 * same.
 */
export const dummyHash =
  "$argon2id$v=19$m=19456,t=2,p=1$r5e2oFD2qV9Yhhx6maw3NQ$gXaREvIt40MDhvxyb6dxz8dNHO0Uy/PDtl1TF2fMax0";

/**
 * Each hash uses a thread and 19 MiB for 20 to 40 ms. The limit keeps threads free when many people sign in at once.
 */
const hashingLimit = pLimit(2);

/** Composed and decomposed characters are the same password (NIST SP 800-63B: NFKC or NFKD before hashing). */
const toMessage = (password: string): Uint8Array => Buffer.from(password.normalize("NFKC"));

/** Base64 without padding, as in the PHC string format. */
const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replace(/=+$/, "");

/** @returns a PHC string: `$argon2id$v=19$m=…,t=…,p=…$SALT$TAG` */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(saltLength);
  const tag = await hashingLimit(() => argon2id({ ...parameters, message: toMessage(password), nonce }));
  const { memory, passes, parallelism } = parameters;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(nonce)}$${encode(tag)}`;
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Verifies a password against a PHC string. @throws Error if the string is not Argon2id */
async function verifyHash(passwordHash: string, password: string): Promise<boolean> {
  const found = phcPattern.exec(passwordHash);
  if (!found) throw new Error("The password hash is not Argon2id");
  const [, memory, passes, parallelism, salt, encodedTag] = found;
  const expected = Buffer.from(encodedTag!, "base64");
  const tag = await argon2id({
    message: toMessage(password),
    nonce: Buffer.from(salt!, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(tag, expected);
}

/** Verifies the password of an account. Takes the same time if the account does not exist (`passwordHash` is null). */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const possible = passwordHash !== null && password !== "" && password.length <= 2 * passwordLength.max;
  const matches = await hashingLimit(() =>
    verifyHash(possible ? passwordHash : dummyHash, possible ? password : "no password"),
  );
  return possible && matches;
}

/** Why a new password is rejected, as a sentence for the user; null if it is accepted. */
export function findPasswordProblem(password: string, email: string): string | null {
  const length = [...password].length;
  if (length < passwordLength.min) return `The password needs at least ${passwordLength.min} characters`;
  if (length > passwordLength.max) return `The password may have at most ${passwordLength.max} characters`;
  if (/^(.)\1*$/su.test(password)) return "The password must not repeat a single character";
  const [typed, address] = [password.toLowerCase(), email.toLowerCase()];
  if (typed === address || typed === address.split("@")[0]) return "The password must not be the email address";
  return null;
}
