/**
 * Positions between route points, which Garmin's programs compute along roads: `gpxx:rpt` in the extension of the point
 * before them (GpxExtensions v3, AutoroutePoint_t).
 */
import { escapeAttribute, escapeElement } from "../shared/xml/escape.js";
import { prefixOf } from "./prefixes.js";

/** A position as an object in `coordinateProperties`; numbers where the texts are numbers. */
export interface ShapePoint {
  readonly lat: string | number;
  readonly lon: string | number;
  Subclass?: string;
}

/** Matches any version: no other vendor has an element of this name there. */
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

/** Whether an element with this name can be such a position. */
export const isShapeName = (name: string): boolean => name === "rpt" || name.endsWith(":rpt");

/** Whether a value is a list of such positions. */
export const isShapeList = (value: unknown): value is readonly ShapePoint[] =>
  Array.isArray(value) && value.length > 0 && value.every(isShapePoint);

/** Writes the positions as elements with this name. */
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
