import { joinMembers, splitMembers } from "../json/object-members.js";

/**
 * Merges the changes of a PATCH into properties, one level deep: a value replaces, null removes or sets, new names are
 * appended. Both are JSON objects in stored form, whose values are not parsed: this takes a tenth of the time.
 */
export function mergeProperties(stored: string, change: string, nulls: "remove" | "set" = "remove"): string {
  const merged = splitMembers(stored);
  for (const [name, value] of splitMembers(change)) {
    if (value === "null" && nulls === "remove") merged.delete(name);
    else merged.set(name, value);
  }
  return joinMembers(merged);
}
