/** Texts that a column of numbers changes although they may be names, such as versions and part numbers. */

/** An exponent behind digits alone, as part numbers have it, too. */
const bareExponent = /^\d+[eE]\d+$/;
const plainDecimal = /^-?\d+(?:\.(\d+))?$/;
/** A double of 17 significant digits is unique (IEEE 754-2019, 5.12.2). */
const maxSignificantDigits = 17;
/** The maximum number of decimals of `toFixed` (ECMA-262, 21.1.3.3). */
const maxDecimals = 100;

/**
 * Returns what numbers would change: two texts that differ although their numbers are equal, one that may be a name,
 * or one with more digits than a double holds; null if there are none.
 */
export function findNumberLikeName(texts: readonly string[]): string | null {
  const seen = new Map<number, string>();
  for (const text of texts) {
    if (bareExponent.test(text)) return `${text} became the number ${Number(text)}`;
    const decimals = plainDecimal.exec(text);
    if (!decimals) continue;
    const value = Number(text);
    if (isRounded(text, value, decimals[1]?.length ?? 0)) return `${text} became the number ${value}`;
    const known = seen.get(value);
    if (known !== undefined && known !== text) return `${known} and ${text} became the same number`;
    seen.set(value, text);
  }
  return null;
}

/** Whether a text has more significant digits than its double has, and is not the exact value of the double either. */
function isRounded(text: string, value: number, decimals: number): boolean {
  if (text.length <= maxSignificantDigits || decimals === 0) return false;
  const digits = text.replace(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
  if (digits.length <= maxSignificantDigits) return false;
  return decimals > maxDecimals || value.toFixed(decimals) !== text;
}
