/** Secrets: 256 random bits with a prefix that tells what leaked where one is found. Kept as SHA-256 alone. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { sha256 } from "../sha256.js";

/** What each kind begins with. */
const prefixes = {
  clientId: "gfc_",
  clientSecret: "gfs_",
  accessToken: "gft_",
  session: "gfn_",
  setup: "gfu_",
} as const;

export function newSecret(kind: keyof typeof prefixes): string {
  return prefixes[kind] + randomBytes(kind === "clientId" ? 16 : 32).toString("base64url");
}

/** 32 bytes. One round is enough for what is random: there is nothing to guess. */
export function hashSecret(secret: string): Uint8Array {
  return sha256(secret);
}

/** In constant time. */
export function sameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
