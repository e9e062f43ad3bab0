/** Finds arcs, geometries and other members in the bytes of a topology. */
import { createError } from "../../../src/errors.js";
import { JsonCursor, JsonSyntaxError } from "../../shared/json/cursor.js";
import { JsonStringDecoder } from "../../shared/json/text.js";
import { isObject } from "../../shared/json/values.js";

/** A member of `objects`. */
export interface TopologyObject {
  readonly name: string;
  /** Where its features begin: the geometries of a collection, or the object itself. */
  readonly features: readonly number[];
  /** Whether it is a collection that has an id or properties itself, which its features do not have. */
  readonly hasOwnAttributes: boolean;
}

/** The grid of a quantized topology (TopoJSON 1.0, 2.1.2). */
export interface Transform {
  readonly scale: readonly number[];
  readonly translate: readonly number[];
}

/** A document whose structure, but not each of its arcs and geometries, has been checked (TopoJSON 1.0, 2.1). */
export interface TopologyDocument {
  readonly bytes: Buffer;
  /** Undefined for an arc that is not an array of JSON. */
  readonly arcs: readonly unknown[];
  readonly objects: readonly TopologyObject[];
  readonly transform: Transform | null;
  /** The `crs` member that older files have as in GeoJSON, as JSON; undefined for none. */
  readonly crs: string | undefined;
  /** Names of members that TopoJSON does not define. */
  readonly foreign: readonly string[];
}

/** @param source the name of the file, for messages @throws input-corrupt, input-truncated */
export function scanTopology(bytes: Buffer, source: string): TopologyDocument {
  try {
    return new TopologyScanner(bytes, source).scan();
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const reason = `it is not valid JSON: ${error.message}`;
    throw createError(
      error.ended ? "input-truncated" : "input-corrupt",
      { source, place: { byte: error.at }, reason },
      error,
    );
  }
}

class TopologyScanner {
  private readonly cursor = new JsonCursor();
  private readonly arcs: unknown[] = [];
  private objects: TopologyObject[] | null = null;
  private transform: Transform | null = null;
  private crs: string | undefined;
  private isTopology = false;
  private readonly foreign: string[] = [];

  constructor(
    private readonly bytes: Buffer,
    private readonly source: string,
  ) {
    this.cursor.load(bytes);
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.cursor.at = 3;
  }

  scan(): TopologyDocument {
    const { cursor, bytes, arcs, foreign } = this;
    if (cursor.space() !== 123) cursor.fail("an object");
    readMembers(this.cursor, (name, first) => this.member(name, first));
    if (cursor.space() !== -1) cursor.fail("the end of the document");
    if (!this.isTopology) throw this.corrupt('it has no member "type" with "Topology"');
    if (!this.objects) throw this.corrupt('it has no member "objects"');
    return { bytes, arcs, objects: this.objects, transform: this.transform, crs: this.crs, foreign };
  }

  private corrupt(reason: string, byte?: number) {
    const place = byte === undefined ? {} : { byte };
    return createError("input-corrupt", { source: this.source, place, reason });
  }

  private member(name: string, first: number): void {
    const { cursor } = this;
    const { at } = cursor;
    switch (name) {
      case "type":
        this.isTopology = parseValue(this.cursor) === "Topology";
        break;
      case "arcs":
        if (first !== 91) throw this.corrupt('its member "arcs" is not an array', at);
        this.arcs.length = 0;
        this.items(() => this.arcs.push(parseValue(this.cursor)));
        break;
      case "objects":
        if (first !== 123) throw this.corrupt('its member "objects" is not an object', at);
        this.objects = [];
        readMembers(this.cursor, (object, byte) => this.objects!.push(this.object(object, byte)));
        break;
      case "transform":
        this.transform = this.readTransform(at);
        break;
      case "crs":
        cursor.value();
        this.crs = this.bytes.toString("utf8", at, cursor.at);
        break;
      case "bbox":
        cursor.value();
        break;
      default:
        this.foreign.push(name);
        cursor.value();
    }
  }

  private readTransform(at: number): Transform | null {
    const value = parseValue(this.cursor);
    if (value === null) return null;
    if (!isObject(value) || !isPair(value.scale) || !isPair(value.translate))
      throw this.corrupt('its member "transform" has no scale and translate of two numbers each', at);
    return value as unknown as Transform;
  }

  private object(name: string, first: number): TopologyObject {
    const { cursor } = this;
    const { at } = cursor;
    if (first !== 123) throw this.corrupt(`"${name.slice(0, 80)}" in its member "objects" is not a geometry`, at);
    let type: unknown;
    let features: number[] | null = null;
    let hasOwnAttributes = false;
    readMembers(this.cursor, (member, byte) => {
      if (member === "geometries" && byte === 91) {
        const starts: number[] = [];
        this.items(() => {
          starts.push(cursor.at);
          cursor.value();
        });
        features = starts;
      } else if (member === "type") type = parseValue(this.cursor);
      else {
        hasOwnAttributes ||= (member === "id" || member === "properties") && byte !== 110;
        cursor.value();
      }
    });
    if (type !== "GeometryCollection") return { name, features: [at], hasOwnAttributes: false };
    if (!features) throw this.corrupt(`the geometries of "${name.slice(0, 80)}" are not an array`, at);
    return { name, features, hasOwnAttributes };
  }

  /** Reads the items of the array at the cursor. */
  private items(read: () => void): void {
    const { cursor } = this;
    cursor.at++;
    let byte = cursor.space();
    while (byte !== 93) {
      read();
      byte = cursor.space();
      if (byte === 44) {
        cursor.at++;
        byte = cursor.space();
        if (byte === 93) cursor.fail("a value");
      } else if (byte !== 93) cursor.fail("',' or ']'");
    }
    cursor.at++;
  }
}

const isPair = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every((each) => Number.isFinite(each));

/** The value at the cursor, which moves past it; undefined if it contains what JSON does not allow, such as NaN. */
export function parseValue(cursor: JsonCursor): unknown {
  const { at } = cursor;
  cursor.value();
  try {
    return JSON.parse(cursor.bytes.toString("utf8", at, cursor.at)) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Reads the members of the object at the cursor, which moves past it. `read` gets the name and the first byte of the
 * value, which it has to pass. @throws JsonSyntaxError
 */
export function readMembers(cursor: JsonCursor, read: (name: string, first: number) => void): void {
  cursor.at++;
  let byte = cursor.space();
  while (byte !== 125) {
    if (byte !== 34) cursor.fail("a name in quotes");
    cursor.string();
    const { bytes, from, to } = cursor;
    const name = cursor.encoded ? new JsonStringDecoder().text(bytes, from, to) : bytes.toString("utf8", from, to);
    read(name, cursor.colon());
    byte = cursor.nextMember();
  }
  cursor.at++;
}
