/** The shell command that resolves duplicate keys on a map, ready to copy. */
import { quoteForShell } from "./shell-quote.js";

/** A property with values that several features share. */
export interface DuplicateKeyField {
  readonly map: string;
  readonly field: string;
  readonly scope: { readonly property: string; readonly value: string } | null;
}

export function formatDedupeCommand({ map, field, scope }: DuplicateKeyField): string {
  const words = ["dedupe", "--map", map, "--remote-field", field];
  if (scope !== null) words.push("--scope", `${scope.property}=${scope.value}`);
  return `geoferry ${words.map(quoteForShell).join(" ")}`;
}
