import type { CrsRegistry } from "../tables/registry.js";
import {
  type CrsDefinition,
  type Datum,
  degree,
  type Ellipsoid,
  type GeographicCrs,
  greenwich,
  isSameEllipsoid,
  metre,
  type PrimeMeridian,
  type Projection,
  type Unit,
} from "./definition.js";
import { getMethod, sphericalVariants } from "./methods.js";
import { normalizeName } from "./normalize-name.js";
import { normalizeProjection } from "./normalize-projection.js";
import { findChild, findChildren, parseWkt, readNumber, readText, type WktNode } from "./wkt-tree.js";

const geographicKeywords = [
  "GEOGCS",
  "GEOGCRS",
  "GEODCRS",
  "GEODETICCRS",
  "GEOGRAPHICCRS",
  "BASEGEOGCRS",
  "BASEGEODCRS",
];
const projectedKeywords = ["PROJCS", "PROJCRS", "PROJECTEDCRS", "BASEPROJCRS"];
const verticalKeywords = ["VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS"];
const untransformedKeywords = [
  ...verticalKeywords,
  "LOCAL_CS",
  "ENGCRS",
  "ENGINEERINGCRS",
  "GEOCCS",
  "DERIVEDPROJCRS",
  "PARAMETRICCRS",
  "TIMECRS",
];

/**
 * Reads WKT1 of GDAL or ESRI, and WKT2 (ISO 19162); null if the text is not a coordinate reference system. The declared
 * axis order is ignored, since files always hold x, y. Coordinates of a system whose axes do not point east and north are
 * only copied, unless its method is defined so.
 */
export function readWkt(text: string, registry: CrsRegistry): CrsDefinition | null {
  const tree = parseWkt(text);
  return tree && readSystem(tree, registry);
}

export function readSystem(tree: WktNode, registry: CrsRegistry): CrsDefinition | null {
  const id = readAuthority(tree);
  const name = readText(tree, 0);
  if (geographicKeywords.includes(tree.keyword)) {
    const cs = findChild(tree, "CS");
    if (readText(cs, 0).toLowerCase() === "cartesian")
      return { id, name, geodetic: null, projection: null, unsupportedReason: "it is geocentric" };
    const geodetic = readGeodetic(tree, registry);
    if (!geodetic) return null;
    const derived = findChild(tree, "DERIVINGCONVERSION") ?? proj4Extension(tree);
    return {
      id,
      name,
      geodetic,
      projection: null,
      unsupportedReason: derived ? "it is derived from another system" : null,
    };
  }
  if (projectedKeywords.includes(tree.keyword)) return readProjected(tree, id, name, registry);
  if (["COMPD_CS", "COMPOUNDCRS"].includes(tree.keyword)) {
    const horizontal = findChild(tree, ...geographicKeywords, ...projectedKeywords, "BOUNDCRS");
    const found = horizontal && readSystem(horizontal, registry);
    if (!found) return null;
    const vertical = readText(findChild(tree, ...verticalKeywords), 0) || "an unnamed level";
    return { ...found, id: id ?? found.id, name: id === null ? found.name : name, vertical };
  }
  if (tree.keyword === "BOUNDCRS") return readBound(tree, registry);
  if (untransformedKeywords.includes(tree.keyword)) {
    return { id, name, geodetic: null, projection: null, unsupportedReason: "it is neither geographic nor projected" };
  }
  return null;
}

function readProjected(tree: WktNode, id: string | null, name: string, registry: CrsRegistry): CrsDefinition | null {
  const base = findChild(tree, ...geographicKeywords);
  const geodetic = base && readGeodetic(base, registry);
  if (!geodetic) return null;
  const conversion = findChild(tree, "CONVERSION");
  const method = conversion ? findChild(conversion, "METHOD", "PROJECTION") : findChild(tree, "PROJECTION");
  if (!method) return null;
  const csUnit = linearUnit(tree) ?? metre;
  const parameters = new Map<string, number>();
  for (const parameter of findChildren(conversion ?? tree, "PARAMETER")) {
    const key = normalizeName(readText(parameter, 0));
    const unit = findChild(parameter, "ANGLEUNIT", "LENGTHUNIT", "SCALEUNIT", "UNIT");
    const size = readNumber(unit, 1);
    let value = readNumber(parameter, 1);
    // In WKT1, angles are in the unit of the GEOGCS and lengths in that of the PROJCS; WKT2 declares each unit.
    const kind = parameterKind(key);
    if (kind === "angle") value *= (unit ? size : geodetic.unit.conversionFactor) / degree.conversionFactor;
    else if (kind === "length" && unit) value *= size / csUnit.conversionFactor;
    else if (kind === "ratio" && unit) value *= size;
    parameters.set(key, removeRoundingNoise(value));
  }
  const extension = proj4Extension(tree);
  const read = southWestKrovak(tree, normalizeProjection(readText(method, 0), parameters, csUnit, extension));
  const projection =
    geodetic.datum.ellipsoid.inverseFlattening === 0
      ? sphericalVariant(read)
      : readText(method, 0) === "Equidistant_Cylindrical"
        ? chooseCylinder(name, read, registry)
        : read;
  return {
    id,
    name,
    geodetic,
    projection,
    unsupportedReason: projection.method === null ? null : axisObstacle(tree, projection),
  };
}

function parameterKind(key: string): "angle" | "length" | "ratio" {
  if (/easting|northing|height/.test(key)) return "length";
  if (/scale|factor|type|option/.test(key)) return "ratio";
  return "angle";
}

/** Removes rounding noise of unit conversions: 46.800000000000004. */
const removeRoundingNoise = (value: number) => Number(value.toPrecision(15));

function proj4Extension(tree: WktNode): string | null {
  const found = findChildren(tree, "EXTENSION").find((node) => readText(node, 0) === "PROJ4");
  return found ? readText(found, 1) : null;
}

/** WKT1 has one name for both variants of Krovak; the axes distinguish them. */
function southWestKrovak(tree: WktNode, projection: Projection): Projection {
  const turned = findChildren(tree, "AXIS").some((axis) => readText(axis, 1).toLowerCase() === "south");
  return projection.method === "krovak-north" && turned ? { ...projection, method: "krovak" } : projection;
}

/** Returns the spherical variant of a method that WKT1 does not distinguish by name. */
const sphericalVariant = (projection: Projection): Projection =>
  projection.method === null
    ? projection
    : { ...projection, method: sphericalVariants[projection.method] ?? projection.method };

/**
 * `Equidistant_Cylindrical` is on a sphere in ArcGIS, which has another name for the method on the ellipsoid. GDAL has this
 * name for both, and with PROJ 9.8 or later they are the same: in a system that EPSG defines on the ellipsoid, or that has
 * GDAL's name for a PROJ string, it means the ellipsoid.
 */
function chooseCylinder(name: string, projection: Projection, registry: CrsRegistry): Projection {
  const ellipsoidal = "equidistant-cylindrical";
  const isOfGdal =
    name === "unknown" ||
    registry
      .findSystemsByName(name)
      .some((id) => registry.getDefinition(id, () => null)?.projection?.method === ellipsoidal);
  if (projection.method !== "equidistant-cylindrical-spherical" || !isOfGdal) return projection;
  return { ...projection, method: ellipsoidal, methodName: getMethod(ellipsoidal).wkt2 };
}

/** Why the axes are not supported: only a few methods and polar maps may have axes other than east and north. */
function axisObstacle(tree: WktNode, projection: Projection): string | null {
  if (/south|west|krovak|polar|stereographic|azimuthal/.test(projection.method ?? "")) return null;
  const directions = findChildren(tree, "AXIS").map((axis) => readText(axis, 1).toLowerCase());
  if (!directions.some((direction) => direction === "south" || direction === "west")) return null;
  return `its axes point ${directions.join(" and ")}`;
}

function readGeodetic(tree: WktNode, registry: CrsRegistry): GeographicCrs | null {
  const datumNode = findChild(tree, "DATUM", "GEODETICDATUM", "TRF", "ENSEMBLE");
  const ellipsoidNode = datumNode && findChild(datumNode, "SPHEROID", "ELLIPSOID");
  if (!datumNode || !ellipsoidNode) return null;
  const a =
    readNumber(ellipsoidNode, 1) *
    (findChild(ellipsoidNode, "LENGTHUNIT", "UNIT")
      ? readNumber(findChild(ellipsoidNode, "LENGTHUNIT", "UNIT"), 1)
      : 1);
  const inverse = readNumber(ellipsoidNode, 2);
  if (!(a > 0) || !(inverse >= 0)) return null;
  const ellipsoid: Ellipsoid = { name: readText(ellipsoidNode, 0).replaceAll("_", " "), a, inverseFlattening: inverse };
  const unit = angularUnit(tree);
  const meridian = readMeridian(findChild(tree, "PRIMEM", "PRIMEMERIDIAN"), unit, registry);
  if (!meridian) return null;
  return {
    code: codeOf(tree),
    name: readText(tree, 0),
    datum: readDatum(datumNode, ellipsoid, meridian, readText(tree, 0), registry),
    declaredDatum: null,
    meridian,
    unit,
    // ESRI declares the unit of heights.
    is3D: readNumber(findChild(tree, "CS"), 1) === 3 || findChild(tree, "LINUNIT") !== null,
  };
}

function readDatum(
  node: WktNode,
  ellipsoid: Ellipsoid,
  meridian: PrimeMeridian,
  system: string,
  registry: CrsRegistry,
): Datum {
  const name = readText(node, 0);
  const declared = findChildren(node, "TOWGS84")[0]?.values.filter((value) => typeof value === "number") ?? null;
  const extension = findChildren(node, "EXTENSION").find((entry) => readText(entry, 0) === "PROJ4_GRIDS");
  const nadgrids = extension ? readText(extension, 1) : null;
  const toWgs84 = declared && (declared.length === 3 || declared.length === 7) ? declared : null;
  const code = findKnownDatum(codeOf(node), name, ellipsoid, meridian, system, registry);
  if (code !== null) return { ...registry.getDatum(code), toWgs84, nadgrids: nadgrids === "@null" ? null : nadgrids };
  return { code: null, name: name.replace(/^D_/, "").replaceAll("_", " "), ellipsoid, toWgs84, nadgrids };
}

/** Finds a known datum by code or name, if its ellipsoid does not contradict. */
function findKnownDatum(
  code: string | null,
  name: string,
  ellipsoid: Ellipsoid,
  meridian: PrimeMeridian,
  system: string,
  registry: CrsRegistry,
): string | null {
  const named = [
    ...registry.findDatumsByName(name),
    ...registry.findDatumsByName(
      name.replace(/_?\(?(Paris|Ferro|Rome|Oslo|Jakarta|Madrid|Athens|Lisbon|Brussels|Bogota|Stockholm|Bern)\)?$/i, ""),
    ),
  ];
  const codes = code !== null && registry.hasDatum(code) ? [code, ...named] : named;
  const fitting = codes.filter((candidate) => isSameEllipsoid(registry.getDatum(candidate).ellipsoid, ellipsoid));
  const twins = [...new Set(fitting.map((candidate) => registry.getDatum(candidate).code!))];
  if (twins.length <= 1 || code !== null) return twins[0] ?? null;
  // Of several with the same name: the datum of the system of that name, else EPSG's before ESRI's.
  for (const id of registry.findSystemsByName(system)) {
    const candidate = registry.getDefinition(id, () => null)?.geodetic;
    if (
      candidate?.datum.code &&
      twins.includes(candidate.datum.code) &&
      Math.abs(candidate.meridian.degrees - meridian.degrees) < 1e-9
    )
      return candidate.datum.code;
  }
  const epsg = twins.filter((twin) => twin[0] !== "E");
  return epsg.length === 1 ? epsg[0]! : null;
}

function readMeridian(node: WktNode | null, unit: Unit, registry: CrsRegistry): PrimeMeridian | null {
  if (!node) return greenwich;
  const own = findChild(node, "ANGLEUNIT", "UNIT");
  const name = readText(node, 0);
  const value = readNumber(node, 1);
  if (!Number.isFinite(value)) return null;
  if (own) return { name, degrees: removeRoundingNoise((value * readNumber(own, 1)) / degree.conversionFactor) };
  // WKT1 in grads: GDAL and ESRI write the meridian in degrees, others follow OGC 01-009.
  if (normalizeName(name) === "paris") return { name, degrees: 2.33722917 };
  const known = registry.findMeridianByName(name.replaceAll("_", " "));
  if (known && Math.abs(known.degrees - value) < 1e-7) return { name, degrees: known.degrees };
  return {
    name,
    degrees:
      unit.name === "grad" ? removeRoundingNoise((value * unit.conversionFactor) / degree.conversionFactor) : value,
  };
}

function angularUnit(tree: WktNode): Unit {
  const axis = findChild(tree, "AXIS");
  const node = findChild(tree, "UNIT", "ANGLEUNIT") ?? (axis && findChild(axis, "ANGLEUNIT", "UNIT"));
  const conversionFactor = readNumber(node, 1);
  if (!node || !(conversionFactor > 0) || Math.abs(conversionFactor / degree.conversionFactor - 1) < 1e-9)
    return degree;
  return { name: readText(node, 0).toLowerCase(), conversionFactor };
}

function linearUnit(tree: WktNode): Unit | null {
  const axis = findChild(tree, "AXIS");
  const node = findChild(tree, "UNIT", "LENGTHUNIT") ?? (axis && findChild(axis, "LENGTHUNIT", "UNIT"));
  const conversionFactor = readNumber(node, 1);
  return node && conversionFactor > 0 ? { name: readText(node, 0), conversionFactor } : null;
}

const arcSecond = Math.PI / 180 / 3600;

/**
 * A parameter of an abridged transformation: in metres, arc-seconds or parts per million. In WKT it has no unit, and the
 * scale is a factor (ISO 19162, 9.3); PROJJSON gives units, and PROJ writes the scale in parts per million.
 */
function readShiftParameter(parameter: WktNode, index: number): number {
  const value = readNumber(parameter, 1);
  const factor = readNumber(findChild(parameter, "LENGTHUNIT", "ANGLEUNIT", "SCALEUNIT"), 1) || null;
  const rounded = (number: number) => Number(number.toFixed(9));
  if (index < 3) return factor === null ? value : value * factor;
  if (index < 6) return factor === null ? value : rounded((value * factor) / arcSecond);
  const ratio = factor === null || factor === 1 ? value - 1 : value * factor;
  return rounded(ratio * 1e6);
}

function readBound(tree: WktNode, registry: CrsRegistry): CrsDefinition | null {
  const inner = findChild(tree, "SOURCECRS")?.values[0];
  const found = typeof inner === "object" ? readSystem(inner, registry) : null;
  if (!found?.geodetic || found.geodetic.datum.code !== null) return found;
  const shift = findChild(tree, "ABRIDGEDTRANSFORMATION");
  if (!shift) return found;
  const target = findChild(tree, "TARGETCRS")?.values[0];
  const name = normalizeName(readText(findChild(shift, "METHOD"), 0));
  const toWgs84Known = typeof target === "object" && normalizeName(readText(target, 0)).startsWith("wgs84");
  const values = findChildren(shift, "PARAMETER").map(readShiftParameter);
  const { geodetic } = found;
  // A shift by a grid, or to another system than WGS 84, must not be ignored.
  const nadgrids = readText(findChild(shift, "PARAMETERFILE"), 1) || readText(shift, 0) || "of its transformation";
  const notUnderstood: CrsDefinition = { ...found, geodetic: { ...geodetic, datum: { ...geodetic.datum, nadgrids } } };
  if (!toWgs84Known || !(values.length === 3 || values.length === 7)) return notUnderstood;
  if (name.startsWith("coordinateframe")) for (const index of [3, 4, 5]) values[index] = -values[index]!;
  else if (!name.startsWith("positionvector") && !name.startsWith("geocentrictranslations")) return notUnderstood;
  return { ...found, geodetic: { ...geodetic, datum: { ...geodetic.datum, toWgs84: values } } };
}

/** `EPSG:25832`, from AUTHORITY or ID. */
function readAuthority(node: WktNode): string | null {
  const found = findChild(node, "AUTHORITY", "ID");
  const name = readText(found, 0).toUpperCase();
  const code = readText(found, 1);
  if (name === "OGC" && code === "CRS84") return "EPSG:4326";
  return (name === "EPSG" || name === "ESRI") && /^\d+$/.test(code) ? `${name}:${code}` : null;
}

function codeOf(node: WktNode): string | null {
  const id = readAuthority(node);
  return id === null ? null : id.startsWith("ESRI:") ? `E${id.slice(5)}` : id.slice(5);
}
