import { hash } from "node:crypto";

/**
 * SHA-256 of a text in UTF-8: 32 bytes. Takes half the time of a Hash object, which matters at a thousand calls per
 * request.
 */
export const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");

/** As 64 lowercase hexadecimal digits. Takes half the time again, since no buffer is allocated. */
export const sha256Hex = (text: string): string => hash("sha256", text, "hex");
