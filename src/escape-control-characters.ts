/**
 * Text of files, services and users, made safe to print: control characters can move a terminal's cursor, retitle its
 * window or imitate a line of output (ECMA-48), and those that change the direction of text can show it in another
 * order (Unicode UAX #9).
 */

const unsafeCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Whether the text has characters that the others here escape. */
export const hasControlCharacters = (text: string): boolean => text.search(unsafeCharacters) >= 0;

/** The text with its control characters, line ends among them, as JSON escapes: `\u001b`. */
export const escapeControlCharacters = (text: string): string =>
  text.replace(unsafeCharacters, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The same, but line ends are kept; only for texts whose line ends are ours. */
export const escapeControlCharactersOfLines = (text: string): string =>
  text.split("\n").map(escapeControlCharacters).join("\n");

/** The same of every text in arrays and plain objects; other values are kept unchanged. */
export function escapeControlCharactersDeep<T>(value: T): T {
  if (typeof value === "string") return escapeControlCharacters(value) as T;
  if (Array.isArray(value)) return value.map(escapeControlCharactersDeep) as T;
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, escapeControlCharactersDeep(each)]),
  ) as T;
}
