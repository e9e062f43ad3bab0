import { hasControlCharacters } from "../escape-control-characters.js";

const isShellSafe = (text: string): boolean => /^[\p{L}\p{N}_./:@%+,=-]+$/u.test(text);

/**
 * Quotes an argument for the shell of this system. Control characters, which output for people shows escaped, become
 * escapes of the shell (POSIX.1-2024, Shell Command Language, 2.2.4).
 */
export function quoteForShell(text: string): string {
  if (isShellSafe(text)) return text;
  if (process.platform === "win32") return `"${text}"`;
  return hasControlCharacters(text) ? `$'${escapeForShell(text)}'` : `'${text.replaceAll("'", "'\\''")}'`;
}

const escapeForShell = (text: string): string =>
  Array.from(text, (character) => {
    if (character === "'" || character === "\\") return `\\${character}`;
    if (!hasControlCharacters(character)) return character;
    // Octal digits of each byte: three are all that the shell reads.
    return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  }).join("");
