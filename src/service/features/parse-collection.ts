/**
 * Parses the feature collection of a request (Map Features Service Interface, 2.3) feature by feature. Most features
 * arrive in canonical form: their texts are validated, but neither parsed nor serialized again. The others are parsed
 * one at a time and not kept parsed: parsed JSON takes fifteen times the memory of its text, and many bodies arrive
 * concurrently.
 */

import { maxFeaturesPerRequest } from "../../remote/wire.js";
import { canonicalGeometryEnd } from "../json/canonical-geometry.js";
import { canonicalObjectEnd, canonicalStringEnd, createNameCache, type NameCache } from "../json/canonical-json.js";
import {
  countOneMember,
  enforceJsonLimits,
  featureDepth,
  isBelowMemberLimit,
  type JsonLimits,
} from "../json/json-limits.js";
import { stringEnd, valueEnd } from "../json/object-members.js";
import { parseInTurn } from "../limits/blocking-work.js";
import { TimeSlice } from "../limits/time-slice.js";
import { validateFeature } from "./validate-feature.js";

/** A valid feature with its texts as they are stored. */
export class ValidFeature {
  constructor(
    readonly id: string | null | undefined,
    readonly geometry: string,
    readonly properties: string,
  ) {}
}

/** An invalid or incomplete feature, or a value that is not a feature, as JSON text. */
export class UnparsedFeature {
  constructor(readonly text: string) {}

  parse(): unknown {
    return JSON.parse(this.text);
  }
}

const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [comma, colon, quote] = [0x2c, 0x3a, 0x22];
const [space, lineFeed, carriageReturn, tab] = [0x20, 0x0a, 0x0d, 0x09];

/**
 * Like JSON.parse, but with a `ValidFeature` or an `UnparsedFeature` in place of each element of the array `features`.
 * Other members are parsed.
 * @throws SyntaxError of JSON.parse; the problems nested-too-deeply and too-many-members before anything is parsed
 */
export async function parseCollection(text: string, limits: JsonLimits): Promise<unknown> {
  // No feature collection satisfies such a limit.
  if (limits.bodyDepth <= featureDepth) enforceJsonLimits(text, limits);
  const collection = await new CollectionParser(text, limits).read();
  if (collection) return collection;
  enforceJsonLimits(text, limits);
  return parseInTurn(text, () => JSON.parse(text));
}

/** Nesting of a MultiPolygon. */
const maxGeometryDepth = 5;

const geometryPrefix = '{"type":"Feature","geometry":';
const propertiesPrefix = ',"properties":';
const idPrefix = ',"id":';

type ParsedFeature = ValidFeature | UnparsedFeature | undefined;

const surplusFeature = new UnparsedFeature("null");

class CollectionParser {
  private at = 0;
  private readonly names: NameCache = createNameCache();
  private readonly timeSlice = new TimeSlice();

  /** Members of the collection itself. */
  private members = 0;
  /** Nesting levels left inside a feature, which is a level itself. */
  private readonly levels: number;

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {
    this.levels = limits.bodyDepth - featureDepth - 1;
  }

  /** Returns null if the text is not an object, or not JSON. */
  async read(): Promise<object | null> {
    const members = new Map<string, unknown>();
    if (!this.accept(openBrace)) return null;
    do {
      const name = this.anyName();
      if (name === undefined) return null;
      this.members = countOneMember(this.members, this.limits);
      this.skipBlanks();
      const isList = name === "features" && this.text.charCodeAt(this.at) === openBracket;
      const value = isList ? await this.features() : this.skipMember();
      if (value === undefined) return null;
      members.set(name, value);
    } while (this.accept(comma));
    if (!this.accept(closeBrace)) return null;
    this.skipBlanks();
    return this.at === this.text.length ? Object.fromEntries(members) : null;
  }

  private skipMember(): unknown {
    const text = this.textOfValue();
    this.members = enforceJsonLimits(text, this.limits, 1, this.members);
    return this.parsed(text);
  }

  private async features(): Promise<unknown[] | undefined> {
    const features: unknown[] = [];
    if (!this.accept(openBracket)) return undefined;
    if (this.accept(closeBracket)) return features;
    do {
      this.skipBlanks();
      const found = features.length < maxFeaturesPerRequest ? this.feature() : this.skipSurplusFeature();
      const feature = found instanceof Promise ? await found : found;
      if (feature === undefined) return undefined;
      features.push(feature);
      if (this.timeSlice.isOverAfter(features.length)) await this.timeSlice.yield();
    } while (this.accept(comma));
    return this.accept(closeBracket) ? features : undefined;
  }

  /** A request with more features than one may have is refused, and only their number counts. */
  private skipSurplusFeature(): UnparsedFeature | undefined {
    const start = this.at;
    this.at = valueEnd(this.text, start);
    return this.at > start ? surplusFeature : undefined;
  }

  /** Returns undefined if the text is not JSON. */
  private feature(): ParsedFeature | Promise<ParsedFeature> {
    const start = this.at;
    let canonical = this.parseCommonFeature();
    if (!canonical) {
      this.at = start;
      canonical = this.parseCanonicalFeature();
    }
    if (canonical) {
      if (!isBelowMemberLimit(this.at - start, this.limits)) this.checkMemberCount(this.text.slice(start, this.at));
      return canonical;
    }
    this.at = start;
    const text = this.textOfValue();
    this.checkMemberCount(text);
    return parseInTurn(text, () => {
      const feature = this.parsed(text);
      return feature === undefined ? undefined : (normalizeFeature(feature) ?? new UnparsedFeature(text));
    });
  }

  private checkMemberCount(feature: string): void {
    enforceJsonLimits(feature, this.limits, featureDepth);
  }

  private textOfValue(): string {
    const start = this.at;
    this.at = valueEnd(this.text, start);
    return this.text.slice(start, this.at);
  }

  private parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** A fast path of `parseCanonicalFeature` for the member order that most programs write. */
  private parseCommonFeature(): ValidFeature | null {
    const { text, at: start, levels } = this;
    if (levels < maxGeometryDepth || !text.startsWith(geometryPrefix, start)) return null;
    const geometry = start + geometryPrefix.length;
    const geometryEnd = canonicalGeometryEnd(text, geometry);
    if (geometryEnd < 0 || !text.startsWith(propertiesPrefix, geometryEnd)) return null;
    const properties = geometryEnd + propertiesPrefix.length;
    const end = canonicalObjectEnd(text, properties, this.names, levels);
    if (end < 0) return null;
    const hasId = text.startsWith(idPrefix, end);
    this.at = hasId ? end + idPrefix.length : end;
    const id = hasId ? this.sentText() : undefined;
    if (id === null || text.charCodeAt(this.at) !== closeBrace) return null;
    this.at++;
    return new ValidFeature(id, text.slice(geometry, geometryEnd), text.slice(properties, end));
  }

  private parseCanonicalFeature(): ValidFeature | null {
    let type: string | null | undefined;
    let id: string | null | undefined;
    let geometry: string | null = null;
    let properties: string | null = null;
    const { levels } = this;
    if (!this.accept(openBrace)) return null;
    do {
      const name = this.name();
      this.skipBlanks();
      if (name === "type" && type === undefined) type = this.sentText();
      else if (name === "id" && id === undefined) id = this.sentText();
      else if (name === "geometry" && geometry === null && levels >= maxGeometryDepth)
        geometry = this.readUntil(canonicalGeometryEnd(this.text, this.at));
      else if (name === "properties" && properties === null)
        properties = this.readUntil(canonicalObjectEnd(this.text, this.at, this.names, levels));
      else return null;
      if (id === null || type === null) return null;
    } while (this.accept(comma));
    if (!this.accept(closeBrace) || type !== "Feature" || geometry === null || properties === null) return null;
    return new ValidFeature(id, geometry, properties);
  }

  /** A string without escapes; null for all other values. */
  private sentText(): string | null {
    const quoted = this.readUntil(canonicalStringEnd(this.text, this.at));
    return quoted === null || quoted.includes("\\") ? null : quoted.slice(1, -1);
  }

  private readUntil(end: number): string | null {
    if (end < 0) return null;
    const passed = this.text.slice(this.at, end);
    this.at = end;
    return passed;
  }

  /** A member name and its colon; null if there is none, or if it contains escapes. */
  private name(): string | null {
    this.skipBlanks();
    if (this.text.charCodeAt(this.at) !== quote) return null;
    const name = this.sentText();
    return this.accept(colon) ? name : null;
  }

  /** Any member name and its colon; undefined if there is none. */
  private anyName(): string | undefined {
    this.skipBlanks();
    const start = this.at;
    const end = this.text.charCodeAt(start) === quote ? stringEnd(this.text, start) : -1;
    if (end < 0) return undefined;
    const name = this.parsed(this.text.slice(start, end));
    this.at = end;
    return typeof name === "string" && this.accept(colon) ? name : undefined;
  }

  private accept(unit: number): boolean {
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

/** Validates and serializes a feature that is not in canonical form; null if it is invalid. */
function normalizeFeature(feature: unknown): ValidFeature | null {
  const { geometry, properties } = validateFeature(feature, "whole");
  if (geometry === undefined || properties === undefined) return null;
  const { id } = feature as { readonly id?: unknown };
  return id === undefined || id === null || typeof id === "string" ? new ValidFeature(id, geometry, properties) : null;
}
