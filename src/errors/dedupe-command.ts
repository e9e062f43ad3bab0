/** The way out of a map on which several features have one key, as it can be copied. */
import { quoteForShell } from "./shell-quote.js";

/** A property whose values are on several features. */
export interface DuplicateKeyField {
  readonly map: string;
  readonly field: string;
  readonly scope: { readonly property: string; readonly value: string } | null;
}

export function dedupeCommand({ map, field, scope }: DuplicateKeyField): string {
  const words = ["dedupe", "--map", map, "--remote-field", field];
  if (scope !== null) words.push("--scope", `${scope.property}=${scope.value}`);
  return `geoferry ${words.map(quoteForShell).join(" ")}`;
}
