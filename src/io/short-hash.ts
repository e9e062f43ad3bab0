/**
 * Eight hexadecimal digits of a text: FNV-1a over its UTF-16 units, mixed as MurmurHash3 ends. It tells names from each
 * other and keeps no one out; `node:crypto` would do no more in so few digits, and takes long to load.
 */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hexadecimal((hash ^ (hash >>> 16)) >>> 0);
}

/** Eight digits that are others each time. */
export const randomDigits = (): string => hexadecimal(Math.floor(Math.random() * 2 ** 32));

const hexadecimal = (value: number): string => value.toString(16).padStart(8, "0");
