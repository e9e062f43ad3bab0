import { hash } from "node:crypto";

/** SHA-256 of a text in UTF-8: 32 bytes. Half the time of a Hash object, which is a thousand times a request. */
export const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");
