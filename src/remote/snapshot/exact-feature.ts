/**
 * Compares features exactly, by the JSON text that the service sent. Parsing changes numbers that no double holds (2^53
 * + 1, 0.1000000000000000055, 1e400) and drops members unknown to GeoJSON, so features that are equal after parsing can
 * differ. The text must be valid JSON: `JSON.parse` has accepted it before.
 */

/** Maximum depth of normalization; deeper values are compared verbatim. */
const maxNesting = 400;

class JsonScanner {
  at = 0;

  constructor(readonly text: string) {}

  /** Skips white space. @returns the next character */
  next(): string {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.text.charAt(this.at);
      this.at += 1;
    }
  }

  /** Calls `each` at the start of every member value, with the member name as canonical JSON. */
  members(each: (name: string) => void): void {
    this.at += 1;
    while (this.next() !== "}") {
      if (this.text[this.at] === ",") {
        this.at += 1;
        this.next();
      }
      const name = this.string();
      this.next();
      this.at += 1;
      this.next();
      each(name);
    }
    this.at += 1;
  }

  items(each: () => void): void {
    this.at += 1;
    while (this.next() !== "]") {
      if (this.text[this.at] === ",") {
        this.at += 1;
        this.next();
      }
      each();
    }
    this.at += 1;
  }

  /** Reads a value as canonical text: equal for equal values, regardless of member order. */
  value(depth = 0): string {
    const first = this.next();
    if (depth > maxNesting) return this.skip();
    if (first === '"') return this.string();
    if (first === "[") return this.list(depth);
    if (first === "{") {
      const members: (readonly [string, string])[] = [];
      this.members((name) => members.push([name, this.value(depth + 1)]));
      return `{${joinSorted(members)}}`;
    }
    if (first === "t" || first === "n") return this.take(4);
    if (first === "f") return this.take(5);
    return normalizeNumber(this.number());
  }

  /** @returns the verbatim text of the value */
  skip(): string {
    this.next();
    const start = this.at;
    let depth = 0;
    do {
      const code = this.text.charCodeAt(this.at);
      if (code === 0x22) this.passString();
      else {
        if (code === 0x7b || code === 0x5b) depth += 1;
        else if (code === 0x7d || code === 0x5d) depth -= 1;
        this.at += 1;
      }
    } while (depth > 0);
    const last = this.text.charCodeAt(this.at - 1);
    // Numbers and literals extend to the next delimiter; strings, objects and arrays have ended.
    if (last !== 0x22 && last !== 0x7d && last !== 0x5d)
      while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at]!)) this.at += 1;
    return this.text.slice(start, this.at);
  }

  /** Inlined without callbacks for speed: positions make up most of a map. */
  private list(depth: number): string {
    let list = "[";
    this.at += 1;
    for (let next = this.next(); next !== "]"; next = this.next()) {
      if (next === ",") {
        this.at += 1;
        list += ",";
      }
      list += this.value(depth + 1);
    }
    this.at += 1;
    return `${list}]`;
  }

  private number(): string {
    const start = this.at;
    for (let code = this.text.charCodeAt(start); isNumberCharacter(code); code = this.text.charCodeAt(this.at))
      this.at += 1;
    return this.text.slice(start, this.at);
  }

  private string(): string {
    const start = this.at;
    this.passString();
    const written = this.text.slice(start, this.at);
    return written.includes("\\") ? JSON.stringify(JSON.parse(written)) : written;
  }

  private passString(): void {
    let end = this.at;
    do end = this.text.indexOf('"', end + 1);
    while (this.isEscaped(end));
    this.at = end + 1;
  }

  /** Whether an odd number of backslashes precedes the position. */
  private isEscaped(at: number): boolean {
    let start = at;
    while (this.text.charCodeAt(start - 1) === 0x5c) start -= 1;
    return (at - start) % 2 === 1;
  }

  private take(length: number): string {
    this.at += length;
    return this.text.slice(this.at - length, this.at);
  }
}

/** Whether the character code is a digit, a sign, a point, `e` or `E`. */
const isNumberCharacter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e || code === 0x2b || (code | 0x20) === 0x65;

/** Duplicate names keep their order, since it is up to each reader which one it uses (RFC 8259, 4). */
const joinSorted = (members: readonly (readonly [string, string])[]): string =>
  [...members]
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([name, value]) => `${name}:${value}`)
    .join(",");

/** A number of at most 15 digits in the notation of JavaScript. */
const plain = /^(?:0|-?[1-9]\d*(?:\.\d*[1-9])?|-?0\.[1-9](?:\d*[1-9])?)$/;

/** Canonical text of a number: equal for equal values only. Uses the notation of JavaScript if a double is exact. */
export function normalizeNumber(written: string): string {
  if (written.length <= 15 && plain.test(written)) return written;
  const shortest = String(Number(written));
  if (shortest === written) return written;
  const decimal = decimalOf(written);
  return decimal === decimalOf(shortest) ? shortest : decimal;
}

/** Significant digits with a power of ten: 120 is `12e1`, and every zero is `0`. */
function decimalOf(written: string): string {
  // Beyond the range of a double.
  if (written.endsWith("Infinity")) return written;
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written)!;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  const shift = digits.length - kept.length - fraction.length;
  // An exponent can be any integer; a double would round a long one.
  const power = exponent.length > 12 ? BigInt(exponent) + BigInt(shift) : Number(exponent) + shift;
  return `${sign}${kept}e${power}`;
}

/** The verbatim texts of the features of a FeatureCollection, in order. */
export function splitFeatureTexts(collection: string): readonly string[] {
  const scanner = new JsonScanner(collection);
  let texts: string[] = [];
  scanner.next();
  scanner.members((name) => {
    if (name !== '"features"') {
      scanner.skip();
      return;
    }
    // The last duplicate member counts, as in `JSON.parse`.
    texts = [];
    scanner.items(() => texts.push(scanner.skip()));
  });
  return texts;
}

/** The verbatim text of a feature's properties; null if it has none. */
export function readPropertiesText(feature: string): string | null {
  const scanner = new JsonScanner(feature);
  let properties: string | null = null;
  scanner.next();
  scanner.members((name) => {
    const text = scanner.skip();
    // The last duplicate member counts, as in `JSON.parse`.
    if (name === '"properties"') properties = text;
  });
  return properties;
}

/** The exact values of all members except the id; members of the properties are named `properties.name`. */
export function readExactMembers(feature: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  const add = (name: string, value: string) => {
    const previous = members.get(name);
    members.set(name, previous === undefined ? value : `${previous};${value}`);
  };
  const scanner = new JsonScanner(feature);
  scanner.next();
  scanner.members((quoted) => {
    const name = JSON.parse(quoted) as string;
    if (name === "id") scanner.skip();
    else if (name === "properties" && scanner.next() === "{")
      scanner.members((inner) => add(`properties.${JSON.parse(inner) as string}`, scanner.value()));
    else add(name, scanner.value());
  });
  return members;
}

/** Canonical text without the id; equal only for exactly equal features. */
export function canonicalExactText(feature: string): string {
  return joinSorted([...readExactMembers(feature)].map(([name, value]) => [JSON.stringify(name), value]));
}

/**
 * Names of the members that differ exactly, without rounding; members of the properties are named `properties.name`.
 */
export function findExactDifferences(one: string, other: string): readonly string[] {
  const [mine, theirs] = [readExactMembers(one), readExactMembers(other)];
  return [...new Set([...mine.keys(), ...theirs.keys()])].filter((name) => mine.get(name) !== theirs.get(name));
}
