/** Decodes geometries of a topology with topojson-client, after checks that it does not make itself. */
import { feature } from "topojson-client";
import type { Geometry, Position } from "../../../src/model/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { ArcTable, flawOfPosition } from "./arc-table.js";
import type { TopologyDocument } from "./scan-topology.js";

/** The types of the library. */
type Topology = Parameters<typeof feature>[0];
type GeometryObject = Parameters<typeof feature>[1];

/** Collections nested deeper than this are refused. */
const maxDepth = 64;

const malformed = (reason: string) => new GeometryParseError(reason, 0);

/** Counts of repairs and losses. */
export interface GeometryNotes {
  emptyParts: number;
  closedRings: number;
  extraCoordinates: number;
}

export class GeometryDecoder {
  readonly notes: GeometryNotes = { emptyParts: 0, closedRings: 0, extraCoordinates: 0 };
  private readonly arcs: ArcTable;
  private readonly topology: Topology;

  constructor(document: TopologyDocument) {
    this.arcs = new ArcTable(document);
    const { arcs, transform } = document;
    // The arcs that a geometry uses are checked before the library uses them.
    this.topology = { type: "Topology", arcs, objects: {}, ...(transform && { transform }) } as unknown as Topology;
  }

  /** @returns null without a geometry, whose type is null @throws GeometryParseError */
  decode(object: Json, depth = 0): Geometry | null {
    const { type, arcs, coordinates } = object;
    switch (type) {
      case null:
      case undefined:
        return null;
      case "Point":
        if (isEmptyArray(coordinates)) return { type, coordinates: [] };
        return this.build({ type, coordinates: this.position(coordinates) });
      case "MultiPoint":
        return this.build({ type, coordinates: listOf(coordinates, (each) => this.position(each)) });
      case "LineString":
        return isEmptyArray(arcs) ? { type, coordinates: [] } : this.build({ type, arcs: this.line(arcs) });
      case "MultiLineString":
        return this.build({ type, arcs: this.lines(arcs) });
      case "Polygon":
        return this.closeRings(this.build({ type, arcs: this.lines(arcs) }));
      case "MultiPolygon":
        return this.closeRings(this.build({ type, arcs: this.withoutEmpty(listOf(arcs, (each) => this.lines(each))) }));
      case "GeometryCollection": {
        if (depth >= maxDepth) throw malformed(`collections are nested more than ${maxDepth} deep`);
        const members = listOf(object.geometries, (each) => {
          if (!isObject(each)) throw malformed("a member of a collection is not a geometry");
          return this.decode(each, depth + 1);
        });
        return { type, geometries: members.filter((each) => each !== null) };
      }
      default:
        throw malformed(`"${String(type).slice(0, 40)}" is not a type of geometry`);
    }
  }

  private build(object: object): Geometry {
    const { geometry } = feature(this.topology, object as GeometryObject) as { geometry: Geometry };
    if (this.arcs.hasExtraCoordinates) this.notes.extraCoordinates++;
    this.arcs.hasExtraCoordinates = false;
    return geometry;
  }

  private position(value: unknown): Position {
    const flaw = flawOfPosition(value);
    if (flaw !== null) throw malformed(flaw);
    if ((value as Position).length > 3) this.arcs.hasExtraCoordinates = true;
    return value as Position;
  }

  private line(value: unknown): readonly number[] {
    const flaw = this.arcs.flawOfLine(value);
    if (flaw !== null) throw malformed(flaw);
    return value as readonly number[];
  }

  private lines(value: unknown): readonly (readonly number[])[] {
    return this.withoutEmpty(listOf(value, (each) => this.line(each)));
  }

  private withoutEmpty<T extends readonly unknown[]>(parts: readonly T[]): readonly T[] {
    const kept = parts.filter(({ length }) => length > 0);
    this.notes.emptyParts += parts.length - kept.length;
    return kept;
  }

  private closeRings(geometry: Geometry): Geometry {
    const single = geometry.type === "Polygon" ? [geometry.coordinates] : [];
    const polygons = geometry.type === "MultiPolygon" ? geometry.coordinates : single;
    for (const ring of polygons.flat()) {
      const [first] = ring;
      const last = ring.at(-1);
      if (!first || !last || (first[0] === last[0] && first[1] === last[1])) continue;
      ring.push([...first]);
      this.notes.closedRings++;
    }
    return geometry;
  }
}

const isEmptyArray = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function listOf<T>(value: unknown, parse: (item: unknown) => T): T[] {
  if (!Array.isArray(value))
    throw malformed("the arcs or coordinates of a geometry are not nested as its type requires");
  return (value as unknown[]).map(parse);
}
