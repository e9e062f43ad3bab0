/**
 * Eight hexadecimal digits: FNV-1a over the UTF-16 units, with the finalizer of MurmurHash3. It distinguishes names and is
 * not cryptographic; `node:crypto` takes long to load.
 */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hexadecimal((hash ^ (hash >>> 16)) >>> 0);
}

/** Eight random hexadecimal digits. */
export const randomDigits = (): string => hexadecimal(Math.floor(Math.random() * 2 ** 32));

const hexadecimal = (value: number): string => value.toString(16).padStart(8, "0");
