/** Beyond this, the product with a power of ten may be off by more than the distance to a half at which it is checked. */
const maxProduct = 2 ** 31;

/** Rounds as writers do: the exact value, halves away from zero. Returns whole units of the last decimal. */
export function unitsOf(value: number, decimals: number | null, scale: number): number {
  if (decimals === null) return value;
  const size = Math.abs(value) * scale;
  const below = Math.floor(size);
  const rest = size - below - 0.5;
  // The product has an error of its own, so that a value near a half is rounded from its exact decimals.
  if (!(size < maxProduct) || (rest > -1e-6 && rest < 1e-6)) return exactUnitsOf(value, decimals, scale);
  const whole = rest > 0 ? below + 1 : below;
  return value < 0 ? -whole : whole;
}

function exactUnitsOf(value: number, decimals: number, scale: number): number {
  const size = Math.abs(value) * scale;
  // A double of this size has no more decimals.
  if (!(size < 2 ** 51)) return value;
  const whole = Math.round(Number(Math.abs(value).toFixed(decimals)) * scale);
  return value < 0 ? -whole : whole;
}
