import { dataViewOf } from "../text/data-view.js";
import { ByteRun } from "./byte-run.js";

/**
 * Thrown where text is not JSON. `at` is an offset in the cursor's bytes; `ended` means that the bytes ended too early.
 */
export class JsonSyntaxError extends Error {
  constructor(
    readonly at: number,
    readonly expected: string,
    readonly ended: boolean,
  ) {
    super(`expected ${expected}`);
  }
}

/** Limit of the nesting of objects and arrays, which RFC 8259, section 9, allows. */
export const maxDepth = 512;

/** Kinds of JSON values, as determined without decoding. Text from `encoded` on needs more than copying. */
export const JsonToken = {
  absent: 0,
  null: 1,
  false: 2,
  true: 3,
  /** Digits only; `-0` is a double. */
  integer: 4,
  double: 5,
  text: 6,
  /** Text with escapes, or with control characters that RFC 8259 requires to be escaped. */
  encoded: 7,
  nested: 8,
  /**
   * An object or array that contains invalid JSON that the reader repairs: NaN, infinities, unescaped control
   * characters.
   */
  flawed: 9,
  /** NaN, Infinity, -Infinity: many programs write them although RFC 8259, section 6, excludes them. */
  nonFinite: 10,
} as const;

const quote = 34;
const minus = 45;
const backslash = 92;

const literals = new Map(
  (
    [
      ["null", JsonToken.null],
      ["true", JsonToken.true],
      ["false", JsonToken.false],
      ["NaN", JsonToken.nonFinite],
      ["Infinity", JsonToken.nonFinite],
      ["-Infinity", JsonToken.nonFinite],
    ] as const
  ).map(([word, token]) => [
    word.charCodeAt(word.startsWith("-") ? 1 : 0) + (word.startsWith("-") ? 256 : 0),
    { bytes: Buffer.from(word), token },
  ]),
);

const escapes = new Uint8Array(256);
for (const letter of '"\\/bfnrt') escapes[letter.charCodeAt(0)] = 1;

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 48 && byte <= 57;

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 32;
  return isDigit(byte) || (letter >= 97 && letter <= 102);
}

/**
 * Scans and validates JSON text (RFC 8259) in `bytes[at … end]` without creating values. Reading beyond the end of a
 * buffer gives `undefined`, which no comparison here mistakes for a byte.
 */
export class JsonCursor {
  bytes: Buffer = Buffer.alloc(0);
  /** The same bytes. */
  view: DataView = new DataView(new ArrayBuffer(0));
  at = 0;
  end = 0;
  /** The content of the last string: `bytes[from … to]`, without the quotes. */
  from = 0;
  to = 0;
  /** Whether that string must be decoded. */
  encoded = false;
  /** Whether the text contains repairable invalid JSON; stays set until the caller resets it. */
  flawed = false;
  /** Commas before a closing bracket or brace, which JSON does not allow. */
  surplusCommas = 0;

  load(bytes: Buffer): void {
    this.bytes = bytes;
    this.view = dataViewOf(bytes);
    this.at = 0;
    this.end = bytes.length;
  }

  /** Moves past `run` if it is at the cursor; returns whether it is. */
  pass(run: ByteRun): boolean {
    if (!run.isAt(this.view, this.at, this.end)) return false;
    this.at += run.length;
    return true;
  }

  /** A copy of the bytes `from … to`. */
  run(from: number, to: number): ByteRun {
    return new ByteRun(Uint8Array.prototype.slice.call(this.bytes, from, to));
  }

  fail(expected: string): never {
    throw new JsonSyntaxError(Math.min(this.at, this.end), expected, this.at >= this.end);
  }

  /** Moves to the next byte that is not white space and returns it, −1 at the end. */
  space(): number {
    const { bytes, end } = this;
    let i = this.at;
    while (i < end) {
      const byte = bytes[i]!;
      if (byte > 32 || (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9)) {
        this.at = i;
        return byte;
      }
      i++;
    }
    this.at = i;
    return -1;
  }

  /** Moves past the string whose opening quote is at `at`. */
  string(): void {
    const { bytes } = this;
    let i = this.at + 1;
    this.from = i;
    this.encoded = false;
    for (;;) {
      const byte = bytes[i]!;
      if (byte === quote) break;
      if (byte === backslash) i = this.escape(i);
      else if (byte >= 32) i++;
      else {
        if (!(i < this.end)) {
          this.at = this.end;
          this.fail('the " that ends the text');
        }
        this.encoded = true;
        this.flawed = true;
        i++;
      }
    }
    this.to = i;
    this.at = i + 1;
  }

  /** Moves past the string at `at` if it needs neither decoding nor a repair; returns whether it did. */
  plainString(): boolean {
    const { bytes } = this;
    if (bytes[this.at] !== quote) return false;
    const from = this.at + 1;
    let i = from;
    let byte = bytes[i]!;
    while (byte !== quote) {
      // Beyond the end, `byte` is undefined, and no comparison with it is true.
      if (!(byte >= 32) || byte === backslash) return false;
      byte = bytes[++i]!;
    }
    this.from = from;
    this.to = i;
    this.encoded = false;
    this.at = i + 1;
    return true;
  }

  private escape(i: number): number {
    const { bytes } = this;
    this.encoded = true;
    const letter = bytes[i + 1];
    if (letter !== undefined && escapes[letter] === 1) return i + 2;
    if (letter === 117) {
      for (let k = i + 2; k < i + 6; k++) {
        if (isHex(bytes[k])) continue;
        this.at = k;
        this.fail("four hexadecimal digits after \\u");
      }
      return i + 6;
    }
    this.at = i + 1;
    return this.fail('one of "\\/bfnrtu after a backslash');
  }

  /** Moves past the number at `at`; returns `integer` or `double`. */
  number(): number {
    const { bytes } = this;
    let i = this.at;
    let token: number = JsonToken.integer;
    if (bytes[i] === minus) {
      i++;
      if (bytes[i] === 48) token = JsonToken.double;
    }
    if (bytes[i] === 48) i++;
    else i = this.digits(i);
    if (bytes[i] === 46) {
      token = JsonToken.double;
      i = this.digits(i + 1);
    }
    if ((bytes[i]! | 32) === 101) {
      token = JsonToken.double;
      const sign = bytes[i + 1];
      i = this.digits(sign === minus || sign === 43 ? i + 2 : i + 1);
    }
    this.at = i;
    return token;
  }

  private digits(from: number): number {
    const { bytes } = this;
    let i = from;
    while (isDigit(bytes[i])) i++;
    if (i === from) {
      this.at = i;
      this.fail("a digit");
    }
    return i;
  }

  /** Moves past the value at `at`, which must not be white space; returns its `JsonToken`. */
  value(depth = 0): number {
    const { bytes } = this;
    const byte = this.at < this.end ? bytes[this.at]! : -1;
    if (byte === quote) {
      this.string();
      return this.encoded ? JsonToken.encoded : JsonToken.text;
    }
    if (byte === 123 || byte === 91) {
      const before = this.flawed;
      this.flawed = false;
      if (byte === 123) this.object(depth);
      else this.array(depth);
      const token = this.flawed ? JsonToken.flawed : JsonToken.nested;
      this.flawed ||= before;
      return token;
    }
    if (isDigit(byte) || (byte === minus && bytes[this.at + 1] !== 73)) return this.number();
    return this.literal(byte === minus ? 256 + 73 : byte);
  }

  private literal(key: number): number {
    const literal = literals.get(key);
    if (!literal) this.fail("a value");
    for (const byte of literal.bytes) {
      if (this.at >= this.end || this.bytes[this.at] !== byte) this.fail(`the word ${literal.bytes.toString()}`);
      this.at++;
    }
    if (literal.token === JsonToken.nonFinite) this.flawed = true;
    return literal.token;
  }

  /**
   * After a member of an object: moves to the quote of the next name, or to the closing brace, and returns that byte.
   */
  nextMember(): number {
    const byte = this.space();
    if (byte !== 44) {
      if (byte !== 125) this.fail("',' or '}'");
      return byte;
    }
    this.at++;
    const name = this.space();
    if (name === 125) this.surplusCommas++;
    else if (name !== quote) this.fail("a name in quotes");
    return name;
  }

  private object(depth: number): void {
    if (depth >= maxDepth) this.tooDeep();
    this.at++;
    let byte = this.space();
    if (byte === 125) {
      this.at++;
      return;
    }
    for (;;) {
      if (byte !== quote) this.fail("a name in quotes");
      this.string();
      this.colon();
      this.value(depth + 1);
      byte = this.space();
      this.at++;
      if (byte === 125) return;
      if (byte !== 44) this.expectedAt(this.at - 1, "',' or '}'");
      byte = this.space();
      if (byte === 125) break;
    }
    this.passSurplus();
  }

  private array(depth: number): void {
    if (depth >= maxDepth) this.tooDeep();
    this.at++;
    if (this.space() === 93) {
      this.at++;
      return;
    }
    for (;;) {
      this.space();
      this.value(depth + 1);
      const byte = this.space();
      this.at++;
      if (byte === 93) return;
      if (byte !== 44) this.expectedAt(this.at - 1, "',' or ']'");
      if (this.space() === 93) break;
    }
    this.passSurplus();
  }

  /** Moves past the bracket after a surplus comma, which the reader ignores. */
  private passSurplus(): void {
    this.surplusCommas++;
    this.flawed = true;
    this.at++;
  }

  /** Moves past a colon to the value after it, and returns the value's first byte. */
  colon(): number {
    if (this.space() !== 58) this.fail("':'");
    this.at++;
    return this.space();
  }

  expectedAt(at: number, expected: string): never {
    this.at = at;
    return this.fail(expected);
  }

  private tooDeep(): never {
    throw new JsonSyntaxError(this.at, `at most ${maxDepth} levels of objects and arrays`, false);
  }
}
