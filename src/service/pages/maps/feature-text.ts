/** Titles, locations and properties of features as text, for the list and for the map in the browser. */
import type { Geometry } from "../../../model/geometry.js";
import type { Properties, WireFeature } from "../../../remote/wire.js";

/** Properties used as title, in order of preference. */
const titleKeys = ["title", "name", "Name", "NAME", "label"];

/** The title or name of a feature, or the first digits of its id. */
export function featureTitle({ id, properties }: WireFeature): string {
  for (const key of titleKeys) {
    const value = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (typeof value === "string" && value.trim() !== "") return truncate(value.trim(), 120);
    if (typeof value === "number") return String(value);
  }
  return `Feature ${id.slice(0, 8)}`;
}

/** Maximum number of properties, and of characters per value, that are shown. */
const textLimits = { properties: 200, characters: 2000 } as const;

/** Name and value of each property as text; truncation is marked. */
export function formatProperties(properties: Properties): readonly (readonly [name: string, value: string])[] {
  const all = Object.entries(properties);
  const shown = all
    .slice(0, textLimits.properties)
    .map(([name, value]) => [truncate(name, 200), truncate(formatValue(value), textLimits.characters)] as const);
  return all.length > shown.length ? [...shown, ["…", `and ${all.length - shown.length} more`]] : shown;
}

const formatValue = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function truncate(text: string, characters: number): string {
  if (text.length <= characters) return text;
  // Does not split a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text[characters - 1]!) ? characters - 1 : characters;
  return `${text.slice(0, end)}… (${text.length} characters)`;
}

const geometryNames: Readonly<Record<Geometry["type"], string>> = {
  Point: "Point",
  MultiPoint: "Points",
  LineString: "Line",
  MultiLineString: "Lines",
  Polygon: "Polygon",
  MultiPolygon: "Polygons",
  GeometryCollection: "Collection",
};

/** "Point at 52.52° N, 13.405° E", "Line", "no place" */
export function formatLocation(geometry: Geometry | null): string {
  if (geometry === null) return "no place";
  if (geometry.type !== "Point" || geometry.coordinates.length < 2) return geometryNames[geometry.type];
  const [longitude, latitude] = geometry.coordinates as [number, number];
  return `Point at ${formatDegrees(latitude, "N", "S")}, ${formatDegrees(longitude, "E", "W")}`;
}

/** Rounded to 0.000001 degrees, 11 cm. */
const formatDegrees = (value: number, positive: string, negative: string): string =>
  `${Number(Math.abs(value).toFixed(6))}° ${value < 0 ? negative : positive}`;
