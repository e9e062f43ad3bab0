/** Prepares texts of a service for display. */
import { escapeControlCharacters } from "../../escape-control-characters.js";

const maxLength = 300;

/** Returns one printable line of at most 300 characters with secrets removed; a service may echo what it received. */
export function sanitizeForDisplay(text: string, secrets: readonly string[]): string {
  let line = text;
  for (const secret of secrets) if (secret !== "") line = line.replaceAll(secret, "…");
  line = escapeControlCharacters(line.replace(/\s+/g, " ").trim());
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}

/** Finds the message of an error: RFC 9457, 3.1 (and `message`); RFC 6749, 5.2. */
export function findErrorMessage(json: unknown): string | null {
  if (!isObject(json)) return null;
  for (const name of ["message", "detail", "error_description", "title", "error"] as const) {
    const value = json[name];
    if (typeof value === "string" && value.trim() !== "") return value;
  }
  return null;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
