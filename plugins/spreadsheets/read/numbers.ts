/** Numbers of cells in the notation of the survey of tables. */

/** Larger numbers without an exponent would be taken for integers. */
const maxPlain = 2 ** 53;

/** Whether the bytes are a decimal number without exponent, leading zeros and white space. */
function isPlainNumber(bytes: Uint8Array, from: number, to: number): boolean {
  let i = from;
  if (bytes[i] === 45) i++;
  const start = i;
  while (i < to && bytes[i]! >= 48 && bytes[i]! <= 57) i++;
  const digits = i - start;
  if (digits === 0 || digits > 18 || (bytes[start] === 48 && digits > 1)) return false;
  if (i === to) return true;
  if (bytes[i] !== 46 || i - from > 15) return false;
  const point = ++i;
  while (i < to && bytes[i]! >= 48 && bytes[i]! <= 57) i++;
  return i === to && i > point;
}

/** The text of a number; null if it is none. The bytes themselves are the text if `isPlainNumber` (undefined). */
export function numberText(bytes: Buffer, from: number, to: number): string | null | undefined {
  if (isPlainNumber(bytes, from, to)) return undefined;
  const text = bytes.toString("latin1", from, to).trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  const formatted = formatNumber(value);
  // A decimal point marks a number that is no integer, as this program writes it.
  return text.includes(".") && /^-?\d+$/.test(formatted) ? `${formatted}.0` : formatted;
}

export const formatNumber = (value: number): string =>
  Math.abs(value) >= maxPlain ? value.toExponential() : String(value);

/**
 * An integer with at least so many digits, as its format shows it; null for other numbers. A column with a leading zero
 * is text.
 */
export const withLeadingZeros = (value: number, digits: number): string | null =>
  Number.isSafeInteger(value) ? `${value < 0 ? "-" : ""}${String(Math.abs(value)).padStart(digits, "0")}` : null;
