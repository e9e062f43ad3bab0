import type { WktNode } from "./wkt-tree.js";

/**
 * PROJJSON (its schema 0.x) as the tree that its WKT2 twin would give, so that one reader serves both; null where it
 * is none.
 */
export function projJsonTree(text: string): WktNode | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  return isObject(parsed) ? system(parsed) : null;
}

type Json = { readonly [key: string]: unknown };
type Value = string | number | WktNode;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const node = (keyword: string, ...values: (Value | null)[]): WktNode => ({
  keyword,
  values: values.filter((value) => value !== null),
});
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const keywords: Readonly<Record<string, string>> = {
  GeographicCRS: "GEOGCRS",
  GeodeticCRS: "GEODCRS",
  ProjectedCRS: "PROJCRS",
};

function system(json: Json): WktNode | null {
  const name = text(json.name);
  switch (json.type) {
    case "GeographicCRS":
    case "GeodeticCRS":
      return node(keywords[json.type]!, name, ...geodeticParts(json), identifier(json));
    case "ProjectedCRS": {
      const base = isObject(json.base_crs)
        ? node("BASEGEOGCRS", text(json.base_crs.name), ...geodeticParts(json.base_crs), identifier(json.base_crs))
        : null;
      return node(
        "PROJCRS",
        name,
        base,
        conversion(json.conversion),
        ...coordinateSystem(json.coordinate_system, "LENGTHUNIT"),
        identifier(json),
      );
    }
    case "CompoundCRS": {
      const parts = Array.isArray(json.components) ? json.components.filter(isObject).map(system) : [];
      return node("COMPOUNDCRS", name, ...parts, identifier(json));
    }
    case "BoundCRS": {
      const source = isObject(json.source_crs) ? system(json.source_crs) : null;
      const target = isObject(json.target_crs) ? system(json.target_crs) : null;
      return (
        source &&
        target &&
        node("BOUNDCRS", node("SOURCECRS", source), node("TARGETCRS", target), transformation(json.transformation))
      );
    }
    case "VerticalCRS":
      return node("VERTCRS", name);
    case "EngineeringCRS":
      return node("ENGCRS", name, identifier(json));
    default:
      return null;
  }
}

function geodeticParts(json: Json): (WktNode | null)[] {
  const datum = isObject(json.datum) ? json.datum : isObject(json.datum_ensemble) ? json.datum_ensemble : null;
  const meridian = datum && isObject(datum.prime_meridian) ? datum.prime_meridian : null;
  return [
    datum && node("DATUM", text(datum.name), ellipsoid(datum.ellipsoid), identifier(datum)),
    meridian && node("PRIMEM", text(meridian.name), ...measure(meridian.longitude, "ANGLEUNIT")),
    ...coordinateSystem(json.coordinate_system, "ANGLEUNIT"),
  ];
}

function ellipsoid(json: unknown): WktNode | null {
  if (!isObject(json)) return null;
  const [radius, unit] = measure(json.semi_major_axis ?? json.radius, "LENGTHUNIT");
  const [minor] = measure(json.semi_minor_axis, "LENGTHUNIT");
  const inverse =
    typeof json.inverse_flattening === "number"
      ? json.inverse_flattening
      : typeof radius === "number" && typeof minor === "number" && minor !== radius
        ? radius / (radius - minor)
        : 0;
  return node("ELLIPSOID", text(json.name), radius ?? null, inverse, unit ?? null);
}

/** A number, or `{value, unit}`. */
function measure(json: unknown, keyword: string): Value[] {
  if (typeof json === "number") return [json];
  if (!isObject(json) || typeof json.value !== "number") return [];
  const own = unit(json.unit, keyword);
  return own ? [json.value, own] : [json.value];
}

function unit(json: unknown, keyword: string): WktNode | null {
  if (json === "metre") return node("LENGTHUNIT", "metre", 1);
  if (json === "degree") return node("ANGLEUNIT", "degree", Math.PI / 180);
  if (json === "unity") return node("SCALEUNIT", "unity", 1);
  return isObject(json) && typeof json.conversion_factor === "number"
    ? node(keyword, text(json.name), json.conversion_factor)
    : null;
}

function coordinateSystem(json: unknown, keyword: string): WktNode[] {
  if (!isObject(json) || !Array.isArray(json.axis)) return [];
  const axes = json.axis.filter(isObject);
  return [
    node("CS", text(json.subtype), axes.length),
    ...axes.map((axis) => node("AXIS", text(axis.name), text(axis.direction), unit(axis.unit, keyword))),
  ];
}

function conversion(json: unknown): WktNode | null {
  if (!isObject(json)) return null;
  return node(
    "CONVERSION",
    text(json.name),
    isObject(json.method) ? node("METHOD", text(json.method.name)) : null,
    ...parameters(json.parameters),
  );
}

function transformation(json: unknown): WktNode | null {
  if (!isObject(json)) return null;
  return node(
    "ABRIDGEDTRANSFORMATION",
    text(json.name),
    isObject(json.method) ? node("METHOD", text(json.method.name)) : null,
    ...parameters(json.parameters),
  );
}

function parameters(json: unknown): WktNode[] {
  if (!Array.isArray(json)) return [];
  return json.filter(isObject).flatMap((entry) => {
    if (typeof entry.value !== "number") return [];
    const keyword = "LENGTHUNIT";
    return [node("PARAMETER", text(entry.name), entry.value, unit(entry.unit, keyword))];
  });
}

function identifier(json: Json): WktNode | null {
  const id = isObject(json.id) ? json.id : null;
  return id && node("ID", text(id.authority), `${id.code}`);
}
