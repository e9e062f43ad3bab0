/**
 * Whether a number of a parsed JSON value is one that no double holds, such as 1e400: parsed it is Infinity, and written
 * again it is null. So it is on no side what it was, and two sides that have it never become equal.
 */
export function hasNonFiniteNumber(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (const inner of value) if (hasNonFiniteNumber(inner)) return true;
    return false;
  }
  for (const name in value) if (hasNonFiniteNumber((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}
