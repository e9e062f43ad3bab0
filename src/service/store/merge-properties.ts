/**
 * Properties, one level deep, with the changes of a PATCH: a value replaces, null removes, new names come last. Both
 * are JSON objects. A `Map` between them, since `__proto__` is a name like any other.
 */
export function mergeProperties(stored: string, change: string): string {
  const merged = new Map<string, unknown>(Object.entries(JSON.parse(stored)));
  for (const [name, value] of Object.entries(JSON.parse(change))) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  return JSON.stringify(Object.fromEntries(merged));
}
