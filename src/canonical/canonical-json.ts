/** A JSON value, in which long integers may be bigints, with sorted object members; nested nulls are kept. */
export function canonicalValue(value: unknown): string {
  // `String` writes negative zero as "0".
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(",")}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalValue(object[name])}`);
  return `{${members.join(",")}}`;
}
