import { hash } from "node:crypto";

/** SHA-256 of a text in UTF-8: 32 bytes. Half the time of a Hash object, which is a thousand times a request. */
export const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");

/** The same as 64 hexadecimal digits in lower case: half the time again, as no memory is taken for each. */
export const sha256Hex = (text: string): string => hash("sha256", text, "hex");
