/**
 * Splits the members of an object in minified JSON, the form that stores keep, without parsing values that are not
 * needed.
 */

const [quote, backslash] = [0x22, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket, comma] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c];

/** Offset after the closing quotation mark of the string that starts at `at`. */
export function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) return i + 1;
    if (unit === backslash) i++;
  }
  return text.length;
}

/**
 * End of a value: before the next comma, brace or bracket that does not belong to it. Does not fail on invalid JSON,
 * and returns at most the length of the text.
 */
export function valueEnd(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) i = stringEnd(text, i) - 1;
    else if (unit === openBrace || unit === openBracket) depth++;
    else if (unit === closeBrace || unit === closeBracket) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (unit === comma && depth === 0) return i;
  }
  return text.length;
}

/** Names with their quotation marks, mapped to the texts of their values. */
export function splitMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  for (let at = 1; at < text.length - 1; ) {
    const nameEnd = stringEnd(text, at);
    const end = valueEnd(text, nameEnd + 1);
    members.set(text.slice(at, nameEnd), text.slice(nameEnd + 1, end));
    at = end + 1;
  }
  return members;
}

/** The value of a member; undefined if it is missing. */
export function readMember(text: string, name: string): unknown {
  const sought = encodeName(name);
  // The text is canonical: a name that is not found in this form does not occur.
  if (!text.includes(sought)) return undefined;
  for (let at = 1; at < text.length - 1; ) {
    if (text.startsWith(sought, at)) return parseValueAt(text, at + sought.length);
    at = valueEnd(text, stringEnd(text, at) + 1) + 1;
  }
  return undefined;
}

/** Cached because one request looks up the same name in a thousand features. */
let lastEncodedName = { name: "", written: '"":' };

function encodeName(name: string): string {
  if (name !== lastEncodedName.name) lastEncodedName = { name, written: `${JSON.stringify(name)}:` };
  return lastEncodedName.written;
}

function parseValueAt(text: string, at: number): unknown {
  if (text.charCodeAt(at) === quote) {
    const end = stringEnd(text, at);
    const inside = text.slice(at + 1, end - 1);
    if (!inside.includes("\\")) return inside;
  }
  return JSON.parse(text.slice(at, valueEnd(text, at)));
}

/** Whether a quoted name is an array index in JavaScript (ECMA-262, 6.1.7). */
const isArrayIndexName = (name: string): boolean =>
  /^"(0|[1-9]\d{0,9})"$/.test(name) && arrayIndexOf(name) < 2 ** 32 - 1;
const arrayIndexOf = (name: string): number => Number(name.slice(1, -1));

/** Inverse of `splitMembers`, in the member order of JavaScript: array indexes first, ascending. */
export function joinMembers(members: ReadonlyMap<string, string>): string {
  const indexes = [...members.keys()].filter(isArrayIndexName);
  if (indexes.length === 0) return encodeObject([...members]);
  const others = [...members].filter(([name]) => !isArrayIndexName(name));
  const first = indexes.sort((one, other) => arrayIndexOf(one) - arrayIndexOf(other));
  return encodeObject([...first.map((name) => [name, members.get(name)!] as const), ...others]);
}

const encodeObject = (members: readonly (readonly [name: string, value: string])[]): string =>
  `{${members.map(([name, value]) => `${name}:${value}`).join(",")}}`;
