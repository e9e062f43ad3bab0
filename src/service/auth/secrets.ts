/** Secrets: 256 random bits with a prefix that tells what leaked where one is found. Kept as SHA-256 alone. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { sha256 } from "../identifiers/sha256.js";

/** What each kind begins with. */
const secretPrefixes = {
  clientId: "gfc_",
  clientSecret: "gfs_",
  accessToken: "gft_",
  session: "gfn_",
  setup: "gfu_",
} as const;

export function newSecret(kind: keyof typeof secretPrefixes): string {
  return secretPrefixes[kind] + randomBytes(kind === "clientId" ? 16 : 32).toString("base64url");
}

/** 32 bytes. One round is enough for what is random: there is nothing to guess. */
export function hashSecret(secret: string): Uint8Array {
  return sha256(secret);
}

/** In constant time. */
export function equalHashes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
