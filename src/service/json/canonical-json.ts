/**
 * Recognizes canonical JSON, the form that JSON.stringify writes and the service stores, so that it need not be parsed
 * and serialized again. Each function takes an offset and returns the end of the value that starts there, or -1 if it
 * is not canonical; such a value may still be valid and must be parsed. Canonical text contains no unstorable value
 * (lone surrogate, U+0000, integer from 2^53 on, number beyond a double). These are hot loops, written plainly.
 */

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [minus, point, zero, nine] = [0x2d, 0x2e, 0x30, 0x39];
/** Characters after a backslash in the escapes of JSON.stringify, except \\u. */
const escapeLetters: ReadonlySet<number> = new Set([...'"\\bfnrt'].map((letter) => letter.charCodeAt(0)));

export function canonicalStringEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== quote) return -1;
  for (let i = at + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) return i + 1;
    if (unit < 0x20) return -1;
    if (unit === backslash && !escapeLetters.has(text.charCodeAt(++i))) return -1;
  }
  return -1;
}

const isDigit = (unit: number): boolean => unit >= zero && unit <= nine;

/** Decimals with up to this many digits are distinct doubles, so that each is already the shortest form. */
const maxExactDigits = 15;
/** JSON.stringify writes numbers with more zeros after the point with an exponent. */
const maxLeadingZeros = 5;

export function canonicalNumberEnd(text: string, at: number): number {
  const first = text.charCodeAt(at) === minus ? at + 1 : at;
  let i = first;
  while (isDigit(text.charCodeAt(i))) i++;
  const whole = i - first;
  if (whole === 0 || (whole > 1 && text.charCodeAt(first) === zero)) return -1;
  const isZero = text.charCodeAt(first) === zero;
  let digits = isZero ? 0 : whole;
  if (text.charCodeAt(i) === point) {
    const behind = i + 1;
    let leading = 0;
    for (i = behind; isDigit(text.charCodeAt(i)); i++)
      if (isZero && leading === i - behind && text.charCodeAt(i) === zero) leading++;
    if (i === behind || leading > maxLeadingZeros || text.charCodeAt(i - 1) === zero) return -1;
    digits += i - behind - leading;
  } else if (isZero && first > at) return -1;
  const next = text.charCodeAt(i) | 0x20;
  // An exponent.
  if (next === 0x65) return -1;
  return digits <= maxExactDigits || isShortestForm(text.slice(at, i)) ? i : -1;
}

function isShortestForm(digits: string): boolean {
  const number = Number(digits);
  return String(number) === digits && (!Number.isInteger(number) || Number.isSafeInteger(number));
}

/** Member names of an object, in order; the next object often has the same. */
export interface NameCache {
  /** Quoted as in JSON, with the trailing colon. */
  names: readonly string[];
}

export const createNameCache = (): NameCache => ({ names: [] });

/**
 * An object without duplicate names and without integer names, which JavaScript would move to the front.
 * @param levels maximum nesting, including this object
 */
export function canonicalObjectEnd(text: string, at: number, names: NameCache, levels: number): number {
  if (levels < 1 || text.charCodeAt(at) !== openBrace) return -1;
  if (text.charCodeAt(at + 1) === closeBrace) return at + 2;
  const { names: known } = names;
  let seen: Set<string> | null = null;
  let i = at + 1;
  for (let count = 0; ; count++) {
    const expected = seen === null ? known[count] : undefined;
    if (expected !== undefined && text.startsWith(expected, i)) i += expected.length;
    else {
      seen ??= new Set(known.slice(0, count));
      const end = canonicalStringEnd(text, i);
      if (end < 0 || text.charCodeAt(end) !== colon) return -1;
      const name = text.slice(i, end + 1);
      if (seen.has(name) || isIntegerName(name)) return -1;
      seen.add(name);
      i = end + 1;
    }
    i = canonicalValueEnd(text, i, levels - 1);
    if (i < 0) return -1;
    const unit = text.charCodeAt(i++);
    if (unit === comma) continue;
    if (unit !== closeBrace) return -1;
    if (seen !== null) names.names = [...seen];
    return i;
  }
}

/** Whether a quoted name with its colon has only digits. */
function isIntegerName(name: string): boolean {
  for (let i = 1; i < name.length - 2; i++) if (!isDigit(name.charCodeAt(i))) return false;
  return name.length > 3;
}

function canonicalArrayEnd(text: string, at: number, levels: number): number {
  if (levels < 1) return -1;
  if (text.charCodeAt(at + 1) === closeBracket) return at + 2;
  const names = createNameCache();
  for (let i = at + 1; ; i++) {
    const isObject = text.charCodeAt(i) === openBrace;
    i = isObject ? canonicalObjectEnd(text, i, names, levels - 1) : canonicalValueEnd(text, i, levels - 1);
    if (i < 0) return -1;
    const unit = text.charCodeAt(i);
    if (unit === closeBracket) return i + 1;
    if (unit !== comma) return -1;
  }
}

const literals = ["null", "true", "false"];

function canonicalValueEnd(text: string, at: number, levels: number): number {
  const unit = text.charCodeAt(at);
  if (unit === quote) return canonicalStringEnd(text, at);
  if (unit === openBrace) return canonicalObjectEnd(text, at, createNameCache(), levels);
  if (unit === openBracket) return canonicalArrayEnd(text, at, levels);
  if (unit === minus || isDigit(unit)) return canonicalNumberEnd(text, at);
  for (const literal of literals) if (text.startsWith(literal, at)) return at + literal.length;
  return -1;
}
