import type { WktNode } from "./wkt-tree.js";

/**
 * Parses PROJJSON (schema 0.x) into the tree of the equivalent WKT2, so that one reader handles both; null if the text is
 * not PROJJSON.
 */
export function parseProjJson(text: string): WktNode | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  return isObject(parsed) ? readSystem(parsed) : null;
}

type Json = { readonly [key: string]: unknown };
type WktValue = string | number | WktNode;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const createNode = (keyword: string, ...values: (WktValue | null)[]): WktNode => ({
  keyword,
  values: values.filter((value) => value !== null),
});
const textOr = (value: unknown): string => (typeof value === "string" ? value : "");

const wktKeywords: Readonly<Record<string, string>> = {
  GeographicCRS: "GEOGCRS",
  GeodeticCRS: "GEODCRS",
  ProjectedCRS: "PROJCRS",
};

function readSystem(json: Json): WktNode | null {
  const name = textOr(json.name);
  switch (json.type) {
    case "GeographicCRS":
    case "GeodeticCRS":
      return createNode(wktKeywords[json.type]!, name, ...readGeodeticParts(json), identifier(json));
    case "ProjectedCRS": {
      const base = isObject(json.base_crs)
        ? createNode(
            "BASEGEOGCRS",
            textOr(json.base_crs.name),
            ...readGeodeticParts(json.base_crs),
            identifier(json.base_crs),
          )
        : null;
      return createNode(
        "PROJCRS",
        name,
        base,
        conversion(json.conversion),
        ...coordinateSystem(json.coordinate_system, "LENGTHUNIT"),
        identifier(json),
      );
    }
    case "CompoundCRS": {
      const parts = Array.isArray(json.components) ? json.components.filter(isObject).map(readSystem) : [];
      return createNode("COMPOUNDCRS", name, ...parts, identifier(json));
    }
    case "BoundCRS": {
      const source = isObject(json.source_crs) ? readSystem(json.source_crs) : null;
      const target = isObject(json.target_crs) ? readSystem(json.target_crs) : null;
      return (
        source &&
        target &&
        createNode(
          "BOUNDCRS",
          createNode("SOURCECRS", source),
          createNode("TARGETCRS", target),
          transformation(json.transformation),
        )
      );
    }
    case "VerticalCRS":
      return createNode("VERTCRS", name);
    case "EngineeringCRS":
      return createNode("ENGCRS", name, identifier(json));
    default:
      return null;
  }
}

function readGeodeticParts(json: Json): (WktNode | null)[] {
  const datum = isObject(json.datum) ? json.datum : isObject(json.datum_ensemble) ? json.datum_ensemble : null;
  const meridian = datum && isObject(datum.prime_meridian) ? datum.prime_meridian : null;
  return [
    datum && createNode("DATUM", textOr(datum.name), ellipsoid(datum.ellipsoid), identifier(datum)),
    meridian && createNode("PRIMEM", textOr(meridian.name), ...readMeasure(meridian.longitude, "ANGLEUNIT")),
    ...coordinateSystem(json.coordinate_system, "ANGLEUNIT"),
  ];
}

function ellipsoid(json: unknown): WktNode | null {
  if (!isObject(json)) return null;
  const [radius, unit] = readMeasure(json.semi_major_axis ?? json.radius, "LENGTHUNIT");
  const [minor] = readMeasure(json.semi_minor_axis, "LENGTHUNIT");
  const inverse =
    typeof json.inverse_flattening === "number"
      ? json.inverse_flattening
      : typeof radius === "number" && typeof minor === "number" && minor !== radius
        ? radius / (radius - minor)
        : 0;
  return createNode("ELLIPSOID", textOr(json.name), radius ?? null, inverse, unit ?? null);
}

/** A number, or `{value, unit}`. */
function readMeasure(json: unknown, keyword: string): WktValue[] {
  if (typeof json === "number") return [json];
  if (!isObject(json) || typeof json.value !== "number") return [];
  const own = unit(json.unit, keyword);
  return own ? [json.value, own] : [json.value];
}

function unit(json: unknown, keyword: string): WktNode | null {
  if (json === "metre") return createNode("LENGTHUNIT", "metre", 1);
  if (json === "degree") return createNode("ANGLEUNIT", "degree", Math.PI / 180);
  if (json === "unity") return createNode("SCALEUNIT", "unity", 1);
  return isObject(json) && typeof json.conversion_factor === "number"
    ? createNode(keyword, textOr(json.name), json.conversion_factor)
    : null;
}

function coordinateSystem(json: unknown, keyword: string): WktNode[] {
  if (!isObject(json) || !Array.isArray(json.axis)) return [];
  const axes = json.axis.filter(isObject);
  return [
    createNode("CS", textOr(json.subtype), axes.length),
    ...axes.map((axis) => createNode("AXIS", textOr(axis.name), textOr(axis.direction), unit(axis.unit, keyword))),
  ];
}

function conversion(json: unknown): WktNode | null {
  if (!isObject(json)) return null;
  return createNode(
    "CONVERSION",
    textOr(json.name),
    isObject(json.method) ? createNode("METHOD", textOr(json.method.name)) : null,
    ...parameters(json.parameters),
  );
}

function transformation(json: unknown): WktNode | null {
  if (!isObject(json)) return null;
  return createNode(
    "ABRIDGEDTRANSFORMATION",
    textOr(json.name),
    isObject(json.method) ? createNode("METHOD", textOr(json.method.name)) : null,
    ...parameters(json.parameters),
  );
}

const unitKeywords: Readonly<Record<string, string>> = { AngularUnit: "ANGLEUNIT", ScaleUnit: "SCALEUNIT" };

function parameters(json: unknown): WktNode[] {
  if (!Array.isArray(json)) return [];
  return json.filter(isObject).flatMap((entry) => {
    if (typeof entry.value !== "number") return [];
    const type = isObject(entry.unit) ? textOr(entry.unit.type) : "";
    return [
      createNode("PARAMETER", textOr(entry.name), entry.value, unit(entry.unit, unitKeywords[type] ?? "LENGTHUNIT")),
    ];
  });
}

function identifier(json: Json): WktNode | null {
  const id = isObject(json.id) ? json.id : null;
  return id && createNode("ID", textOr(id.authority), `${id.code}`);
}
