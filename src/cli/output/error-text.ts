/** An error in words for people and as a record for programs. */
import type { GeoferryError } from "../../errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { exitStatus } from "../exit.js";
import { paintFor } from "./terminal.js";

/** @param of the input, output or map that it is about */
export function errorRecord(error: GeoferryError, of: object = {}): Record<string, unknown> {
  const { code, kind, message, details } = error;
  return { type: "error", ...of, code, exit: exitStatus[kind], message, ...listed(details) };
}

/**
 * For stderr. Ends with the end of a line; with `verbose` it lists what the message only counts, and the stack.
 * @param named the input, which stands before a message that does not name it
 */
export function errorText(error: GeoferryError, verbose = false, named?: string): string {
  const name = named === undefined || error.message.includes(named) ? "" : `${escapeControlCharacters(named)}: `;
  const lines = [`${paintFor(process.stderr)("red", "geoferry:")} ${name}${error.message}`];
  if (verbose) {
    for (const { sentence } of listed(error.details).better ?? []) lines.push(`  better: ${sentence}`);
    lines.push(
      ...((error.cause as Error | undefined)?.stack ?? error.stack ?? "").split("\n").map(escapeControlCharacters),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Operations that would be better, of which the message of a refusal names the first. */
function listed({ better }: GeoferryError["details"]): { readonly better?: readonly { readonly sentence: string }[] } {
  return Array.isArray(better) && better.length > 0 ? { better } : {};
}
