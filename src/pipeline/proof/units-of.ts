/** Rounds as writers do: the exact value, halves away from zero. Returns whole units of the last decimal. */
export function unitsOf(value: number, decimals: number | null, scale: number): number {
  if (decimals === null) return value;
  const size = Math.abs(value) * scale;
  // A double of this size has no more decimals.
  if (!(size < 2 ** 51)) return value;
  const below = Math.floor(size);
  // The product has an error of its own, so that a value near a half is rounded from its exact decimals.
  const isNearHalf = Math.abs(size - below - 0.5) < 1e-6 + size * 2 ** -50;
  const whole = isNearHalf ? Math.round(Number(Math.abs(value).toFixed(decimals)) * scale) : Math.floor(size + 0.5);
  return value < 0 ? -whole : whole;
}
