/**
 * Secrets have 256 random bits and a prefix that identifies the kind of a leaked secret. Stores keep only SHA-256
 * hashes.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { sha256 } from "../identifiers/sha256.js";

/** Prefix of each kind. */
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

/** 32 bytes. One round of SHA-256 is enough for random secrets, which cannot be guessed. */
export function hashSecret(secret: string): Uint8Array {
  return sha256(secret);
}

/** Compares in constant time. */
export function equalHashes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
