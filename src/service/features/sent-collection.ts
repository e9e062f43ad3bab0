/**
 * Reads the collection of a request (Map Features Service Interface, 2.3) feature by feature. Most come as they are
 * kept: their texts are checked, and neither parsed nor written anew. All others are parsed.
 */
import { valueEnd } from "../json/members.js";
import { type Names, noNames, plainObjectEnd, plainStringEnd } from "../json/plain.js";
import { plainGeometryEnd } from "../json/plain-geometry.js";
import { Turn } from "../turn.js";

/** A feature with nothing wrong in it, whose texts are as they are kept. */
export class SentFeature {
  constructor(
    readonly id: unknown,
    readonly geometry: string,
    readonly properties: string,
  ) {}
}

const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [comma, colon, quote] = [0x2c, 0x3a, 0x22];
const [space, lineFeed, carriageReturn, tab] = [0x20, 0x0a, 0x0d, 0x09];

/**
 * What JSON.parse makes of a text, but with a `SentFeature` in place of every member of `features` that can be one.
 * @throws SyntaxError of JSON.parse
 */
export async function parseCollection(text: string): Promise<unknown> {
  return (await new CollectionReader(text).read()) ?? JSON.parse(text);
}

class CollectionReader {
  private at = 0;
  private readonly names: Names = noNames();
  private readonly turn = new Turn();

  constructor(private readonly text: string) {}

  /** Null where it is no collection, or no JSON. */
  async read(): Promise<object | null> {
    const collection: Record<string, unknown> = {};
    if (!this.takes(openBrace)) return null;
    do {
      const name = this.name();
      if (name === null || Object.hasOwn(collection, name)) return null;
      const value = name === "features" ? await this.features() : this.word(name);
      if (value === undefined) return null;
      collection[name] = value;
    } while (this.takes(comma));
    if (!this.takes(closeBrace)) return null;
    this.skipBlanks();
    return this.at === this.text.length ? collection : null;
  }

  /** Members of a collection that are texts. */
  private word(name: string): unknown {
    if (name !== "type" && name !== "remoteField") return undefined;
    this.skipBlanks();
    const end = plainStringEnd(this.text, this.at);
    if (end < 0) return undefined;
    const word: unknown = JSON.parse(this.text.slice(this.at, end));
    this.at = end;
    return word;
  }

  private async features(): Promise<unknown[] | undefined> {
    const features: unknown[] = [];
    if (!this.takes(openBracket)) return undefined;
    if (this.takes(closeBracket)) return features;
    do {
      this.skipBlanks();
      const feature = this.feature();
      if (feature === undefined) return undefined;
      features.push(feature);
      if (this.turn.isOver) await this.turn.pass();
    } while (this.takes(comma));
    return this.takes(closeBracket) ? features : undefined;
  }

  /** Undefined where it is no JSON. */
  private feature(): unknown {
    const start = this.at;
    const found = this.plainFeature();
    if (found) return found;
    const end = valueEnd(this.text, start);
    this.at = end;
    try {
      return JSON.parse(this.text.slice(start, end));
    } catch {
      return undefined;
    }
  }

  private plainFeature(): SentFeature | null {
    let type: string | null | undefined;
    let id: string | null | undefined;
    let geometry: string | null = null;
    let properties: string | null = null;
    if (!this.takes(openBrace)) return null;
    do {
      const name = this.name();
      this.skipBlanks();
      if (name === "type" && type === undefined) type = this.sentText();
      else if (name === "id" && id === undefined) id = this.sentText();
      else if (name === "geometry" && geometry === null) geometry = this.upTo(plainGeometryEnd(this.text, this.at));
      else if (name === "properties" && properties === null)
        properties = this.upTo(plainObjectEnd(this.text, this.at, this.names));
      else return null;
      if (id === null || type === null) return null;
    } while (this.takes(comma));
    if (!this.takes(closeBrace) || type !== "Feature" || geometry === null || properties === null) return null;
    return new SentFeature(id, geometry, properties);
  }

  /** A text without escapes; null for all else. */
  private sentText(): string | null {
    const quoted = this.upTo(plainStringEnd(this.text, this.at));
    return quoted === null || quoted.includes("\\") ? null : quoted.slice(1, -1);
  }

  private upTo(end: number): string | null {
    if (end < 0) return null;
    const passed = this.text.slice(this.at, end);
    this.at = end;
    return passed;
  }

  /** Of a member, with the colon behind it; null where there is none, or one with escapes. */
  private name(): string | null {
    this.skipBlanks();
    if (this.text.charCodeAt(this.at) !== quote) return null;
    const name = this.sentText();
    return this.takes(colon) ? name : null;
  }

  private takes(unit: number): boolean {
    this.skipBlanks();
    if (this.text.charCodeAt(this.at) !== unit) return false;
    this.at++;
    return true;
  }

  private skipBlanks(): void {
    for (; ; this.at++) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== space && unit !== lineFeed && unit !== carriageReturn && unit !== tab) return;
    }
  }
}
