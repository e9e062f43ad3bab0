import { type Field, uniqueName } from "../../../src/model/field.js";
import { Kind } from "../../../src/model/geometry.js";
import type { TargetLayer } from "../../../src/plugin/format.js";
import {
  conflictsWithCoordinates,
  couldBeGeometryName,
  isGeometryName,
  normalizeName,
} from "./geometry/geometry-columns.js";

/** How geometries are written: coordinate columns, one text column, or not at all. */
export type GeometryMode = "xy" | "wkt" | "wkb" | "geojson" | "none";

/** The writer option that chooses the mode. */
export interface LayoutOptions {
  readonly geometry: GeometryMode | "auto";
}

/** The columns of a table: the geometry first, then the fields. */
export interface TableLayout {
  readonly mode: GeometryMode;
  /** Whether points have a third column. */
  readonly z: boolean;
  readonly geometryNames: readonly string[];
  readonly fields: readonly Field[];
}

/** Whether coordinates are longitude and latitude, by the CRS; false if the CRS is unknown. */
const isGeographic = (layer: TargetLayer) => layer.crs?.kind === "geographic";

/**
 * Coordinate columns if all geometries are points and a reader would not take an attribute for a coordinate or
 * geometry; otherwise WKT. A table without geometries has no geometry column, unless it has no other column.
 */
function chooseGeometryMode(layer: TargetLayer, fields: readonly Field[]): GeometryMode {
  const summary = layer.summary!;
  const geometries = summary.featureCount - summary.kinds[Kind.none]!.count;
  // A record needs at least one cell.
  if (geometries === 0) return fields.length > 0 ? "none" : "wkt";
  const clash = fields.some(
    ({ name, type }, f) =>
      conflictsWithCoordinates(name, !isGeographic(layer)) ||
      (type === "text" && isGeometryName(name)) ||
      (normalizeName(name) === "z" && (summary.hasZ || f === 0)),
  );
  return geometries === summary.kinds[Kind.Point]!.count && !summary.hasM && !clash ? "xy" : "wkt";
}

export function createLayout(layer: TargetLayer, options: LayoutOptions): TableLayout {
  const fields = layer.fields ?? layer.summary!.fields;
  const mode = options.geometry === "auto" ? chooseGeometryMode(layer, fields) : options.geometry;
  const z = mode === "xy" && layer.summary!.hasZ;
  const wanted =
    mode === "none"
      ? []
      : mode === "xy"
        ? [...(isGeographic(layer) ? ["lon", "lat"] : ["x", "y"]), ...(z ? ["z"] : [])]
        : [mode];
  const taken = { has: (name: string) => fields.some((field) => field.name === name) };
  const geometryNames = wanted.map((name) => uniqueName(name, taken));
  return { mode, z, geometryNames, fields };
}

/** Attributes of a table without geometry that a reader would take for one. */
export const findMisleadingFields = (layout: TableLayout) =>
  layout.mode === "none" ? layout.fields.filter(({ name }) => couldBeGeometryName(name)) : [];
