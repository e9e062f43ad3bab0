/** Finds the members of a JSON object and the elements of its array `features`, without decoding them. */

/** A part of the array `features`: the bytes `start … end` have `records` elements, with commas between them. */
export interface FeatureRange {
  readonly start: number;
  readonly end: number;
  readonly records: number;
}

/** The text is not one JSON object, or its features are not objects. */
export class StructureError extends Error {
  constructor(
    reason: string,
    readonly byte: number,
    /** Whether the text ends too early. */
    readonly isTruncated = false,
  ) {
    super(reason);
  }
}

const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

const maxNameBytes = 1024;

/** Where the scanner is: between the parts of the object, or in the array of features. */
const State = { start: 0, name: 1, colon: 2, value: 3, afterValue: 4, features: 5, afterFeature: 6, end: 7 } as const;

const isBlank = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/**
 * Scans a JSON object given in chunks. Offsets are absolute. The features are only delimited: their content is validated
 * when they are parsed.
 */
export class StructureScanner {
  /** Byte ranges of the values of the members other than `features`; of a repeated one the last. */
  readonly members = new Map<string, readonly [start: number, end: number]>();
  /** Whether there is an array `features`. */
  hasFeatures = false;
  /** Elements so far. */
  records = 0;
  /** Parts that are complete; the caller may empty the array. */
  readonly ranges: FeatureRange[] = [];
  private state: number = State.start;
  private at: number;
  private depth = 0;
  private inString = false;
  private isEscaped = false;
  private name = "";
  private nameBytes: number[] = [];
  private valueStart = -1;
  private rangeStart = -1;
  private rangeEnd = -1;
  private rangeRecords = 0;

  /**
   * @param rangeBytes the least size of a part, except for the last one
   * @param start the offset of the first byte
   */
  constructor(
    private readonly rangeBytes: number,
    start = 0,
  ) {
    this.at = start;
  }

  /** @throws StructureError */
  push(chunk: Uint8Array): void {
    const base = this.at;
    // A hot loop: every byte of a file passes here. Inside a value, only quotes and brackets matter.
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (this.inString) {
        if (this.state === State.name) this.addNameByte(byte, base + i);
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === backslash) this.isEscaped = true;
        else if (byte === quote) {
          this.inString = false;
          if (this.state === State.name) this.state = State.colon;
          continue;
        }
        if (this.state !== State.name && !this.isEscaped) i = skipText(chunk, i + 1) - 1;
        continue;
      }
      if (this.depth > 0) {
        if (byte === quote) this.inString = true;
        else if (byte === openBrace || byte === openBracket) this.depth++;
        else if (byte === closeBrace || byte === closeBracket) {
          this.depth--;
          if (this.depth === 0) this.closeNested(base + i + 1);
        }
      } else if (!isBlank(byte)) this.structure(byte, base + i);
    }
    this.at = base + chunk.length;
  }

  private addNameByte(byte: number, at: number): void {
    if (byte === quote && !this.isEscaped) {
      try {
        this.name = JSON.parse(`"${Buffer.from(this.nameBytes).toString("utf8")}"`) as string;
      } catch {
        throw new StructureError("the name of a member is not valid JSON", at);
      }
      return;
    }
    if (this.nameBytes.length >= maxNameBytes) throw new StructureError("the name of a member is too long", at);
    this.nameBytes.push(byte);
  }

  /** A value that is an object or an array has ended. */
  private closeNested(end: number): void {
    if (this.state === State.value) this.endValue(end);
    else this.endFeature(end);
  }

  private endValue(end: number): void {
    this.members.set(this.name, [this.valueStart, end]);
    this.state = State.afterValue;
  }

  private endFeature(end: number): void {
    this.records++;
    this.rangeRecords++;
    this.rangeEnd = end;
    this.state = State.afterFeature;
    if (end - this.rangeStart >= this.rangeBytes) this.endRange();
  }

  private endRange(): void {
    if (this.rangeRecords > 0)
      this.ranges.push({ start: this.rangeStart, end: this.rangeEnd, records: this.rangeRecords });
    this.rangeRecords = 0;
  }

  /** A byte between strings, objects and arrays. */
  private structure(byte: number, at: number): void {
    switch (this.state) {
      case State.start:
        if (byte !== openBrace) throw this.unexpected("an object", at);
        this.state = State.name;
        return;
      case State.name:
        if (byte === closeBrace) this.state = State.end;
        else if (byte !== quote) throw this.unexpected("the name of a member", at);
        this.inString = byte === quote;
        this.nameBytes = [];
        return;
      case State.colon:
        if (byte !== colon) throw this.unexpected("a colon", at);
        this.state = State.value;
        this.valueStart = -1;
        return;
      case State.value:
        this.value(byte, at);
        return;
      case State.afterValue:
        this.afterValue(byte, at);
        return;
      case State.features:
        if (byte === closeBracket && this.records === 0) this.endFeatures();
        else this.beginFeature(byte, at);
        return;
      case State.afterFeature:
        if (byte === closeBracket) this.endFeatures();
        else if (byte !== comma) throw this.unexpected("a comma between features", at);
        else this.state = State.features;
        return;
      default:
        throw this.unexpected("the end of the file", at);
    }
  }

  private value(byte: number, at: number): void {
    if (this.valueStart >= 0) {
      // Inside or after a number, a word or a string.
      if (byte === comma || byte === closeBrace) {
        this.endValue(at);
        this.afterValue(byte, at);
      } else if (byte === quote || byte === openBrace || byte === openBracket) throw this.unexpected("a comma", at);
      return;
    }
    this.valueStart = at;
    if (byte === openBracket && this.name === "features" && !this.hasFeatures) {
      this.hasFeatures = true;
      this.state = State.features;
    } else if (byte === openBracket || byte === openBrace) this.depth = 1;
    else if (byte === quote) this.inString = true;
    else if (byte === comma || byte === closeBrace) throw this.unexpected("a value", at);
  }

  private afterValue(byte: number, at: number): void {
    if (byte === comma) this.state = State.name;
    else if (byte === closeBrace) this.state = State.end;
    else throw this.unexpected("a comma", at);
  }

  private beginFeature(byte: number, at: number): void {
    if (byte !== openBrace) throw this.unexpected("a feature, which is an object", at);
    if (this.rangeRecords === 0) this.rangeStart = at;
    this.depth = 1;
  }

  private endFeatures(): void {
    this.endRange();
    this.state = State.afterValue;
  }

  private unexpected(wanted: string, at: number): StructureError {
    return new StructureError(`it has no ${wanted.replace(/^an? |^the /, "")} here`, at);
  }

  /** To be called after the last chunk. @throws StructureError if the object is incomplete */
  finish(): void {
    if (this.state === State.end) return;
    this.endRange();
    throw new StructureError("its JSON is incomplete", this.at, true);
  }
}

/** The first quote or backslash from `from` on, or the length of the chunk. */
function skipText(chunk: Uint8Array, from: number): number {
  let i = from;
  for (; i < chunk.length; i++) {
    const byte = chunk[i]!;
    if (byte === quote || byte === backslash) break;
  }
  return i;
}
