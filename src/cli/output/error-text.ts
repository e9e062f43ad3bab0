/** Formats an error as text and as a JSON record. */
import type { GeoferryError } from "../../errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { exitStatus } from "../exit.js";
import { paintFor } from "./terminal.js";

/** @param of the input, output or map that the error concerns */
export function errorRecord(error: GeoferryError, of: object = {}): Record<string, unknown> {
  const { code, kind, message, details } = error;
  return {
    type: "error",
    ...of,
    code,
    exit: exitStatus[kind],
    message,
    ...betterOperations(details),
    ...verifiedDifferences(error),
  };
}

/**
 * Text for stderr, with a final newline. `verbose` adds details and the stack trace.
 * @param named the input, prepended if the message does not name it
 */
export function errorText(error: GeoferryError, verbose = false, named?: string): string {
  const name = named === undefined || error.message.includes(named) ? "" : `${escapeControlCharacters(named)}: `;
  const lines = [`${paintFor(process.stderr)("red", "geoferry:")} ${name}${error.message}`];
  if (verbose) {
    for (const { sentence } of betterOperations(error.details).better ?? []) lines.push(`  better: ${sentence}`);
    lines.push(
      ...((error.cause as Error | undefined)?.stack ?? error.stack ?? "").split("\n").map(escapeControlCharacters),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** The differences of a failed verification, and how many there are. */
function verifiedDifferences({ code, details }: GeoferryError): Record<string, unknown> {
  if (code !== "verify-failed") return {};
  const { count, differences } = details;
  return { count, differences };
}

/** More accurate operations; the message names only the first one. */
function betterOperations({ better }: GeoferryError["details"]): {
  readonly better?: readonly { readonly sentence: string }[];
} {
  return Array.isArray(better) && better.length > 0 ? { better } : {};
}
