/**
 * Whether a parsed JSON value contains a number beyond the range of a double, such as 1e400: it parses as Infinity and
 * serializes as null. It is thus altered on both sides, and sides that have it never become equal.
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
