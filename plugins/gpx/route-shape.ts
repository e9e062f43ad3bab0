/**
 * Positions of a route between its points, which Garmin's programs compute along roads: `gpxx:rpt` in the extension of the
 * point before them (GpxExtensions v3, AutoroutePoint_t).
 */
import { escapeAttribute, escapeElement } from "../shared/xml/escape.js";
import { prefixOf } from "./prefixes.js";

/** As it stands in `coordinateProperties`: texts, or numbers where they are some. */
export interface ShapePoint {
  readonly lat: string | number;
  readonly lon: string | number;
  Subclass?: string;
}

/** Of any version, as no one else has an element of this name there. */
export const isShapeNamespace = (namespace: string | null): boolean =>
  namespace === null || /garmin\.com\/xmlschemas\/GpxExtensions/i.test(namespace);

const shapeMembers: ReadonlySet<string> = new Set(["lat", "lon", "Subclass"]);
const isPlainValue = (value: unknown) =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value));

function isShapePoint(value: unknown): value is ShapePoint {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { lat, lon } = value as Record<string, unknown>;
  return (
    isPlainValue(lat) &&
    isPlainValue(lon) &&
    Object.entries(value).every(([name, each]) => shapeMembers.has(name) && isPlainValue(each))
  );
}

/** Whether an element of this name can be such a position. */
export const isShapeName = (name: string): boolean => name === "rpt" || name.endsWith(":rpt");

/** Whether a value is positions that stood in such elements. */
export const isShapeList = (value: unknown): value is readonly ShapePoint[] =>
  Array.isArray(value) && value.length > 0 && value.every(isShapePoint);

/** The positions as elements of this name. */
export function writeShapePoints(name: string, points: readonly ShapePoint[]): string {
  const prefix = prefixOf(name);
  const subclass = prefix === "" ? "Subclass" : `${prefix}:Subclass`;
  return points
    .map(({ lat, lon, Subclass: digits }) => {
      const inner = digits === undefined ? "" : `<${subclass}>${escapeElement(String(digits))}</${subclass}>`;
      return `<${name} lat="${escapeAttribute(String(lat))}" lon="${escapeAttribute(String(lon))}">${inner}</${name}>`;
    })
    .join("");
}
