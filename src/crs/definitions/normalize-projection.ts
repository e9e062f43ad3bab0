import type { Projection, Unit } from "./definition.js";
import { findMethodByName } from "./method-names.js";
import { getMethod, type MethodId } from "./methods.js";
import { normalizeName } from "./normalize-name.js";
import { type ParameterKey, parameterKeysByName } from "./parameters.js";

type ParameterValues = Partial<Record<ParameterKey, number>>;

/**
 * Converts a projection of any dialect to one of `projectionMethods`: `parameters` by normalized name, angles in degrees,
 * lengths in `unit`. Methods that share a name (ESRI's `Lambert_Conformal_Conic`) are distinguished by their parameters.
 * If anything is not understood, the method is null.
 */
export function normalizeProjection(
  name: string,
  parameters: ReadonlyMap<string, number>,
  unit: Unit,
  proj4Extension: string | null,
): Projection {
  const unknown: Projection = { method: null, methodName: name.replaceAll("_", " "), parameters: {}, unit };
  const values: ParameterValues = {};
  const extra = new Map<string, number>();
  for (const [key, value] of parameters) {
    if (!Number.isFinite(value)) return unknown;
    const known = parameterKeysByName[key];
    if (known === undefined) extra.set(key, value);
    else values[known] = value;
  }
  // ESRI's name (with an underscore) means the spherical method, EPSG's (with a space) the ellipsoidal one.
  const key =
    name === "Equidistant_Cylindrical"
      ? "equidistantcylindricalspherical"
      : sphericalName(normalizeName(name), parameters);
  const method = chooseMethod(key, values, extra, proj4Extension);
  if (method === null) return unknown;
  // ESRI writes angles beyond 180° as negative angles.
  for (const key of ["azimuth", "gamma"] as const) if ((values[key] ?? 0) < 0) values[key] = values[key]! + 360;
  // An additional parameter that is not zero makes the method unknown.
  for (const value of extra.values()) if (value !== 0) return unknown;
  const wanted = new Set(getMethod(method).parameters.map(([key]) => key));
  for (const [key, value] of Object.entries(values) as [ParameterKey, number][]) {
    if (!wanted.has(key) && value !== (key === "k" ? 1 : 0)) return unknown;
  }
  const complete: ParameterValues = {};
  for (const key of wanted) {
    const value = values[key] ?? defaultValues[key];
    if (value === undefined) return unknown;
    complete[key] = value;
  }
  return { method, methodName: getMethod(method).wkt2, parameters: complete, unit };
}

/** ESRI's Orthographic, whose origin is named "center", is spherical. */
const sphericalName = (name: string, parameters: ReadonlyMap<string, number>): string =>
  name === "orthographic" && parameters.has("longitudeofcenter") ? "orthographicspherical" : name;

/** Defaults of parameters that writers omit. Standard parallels and azimuths have none. */
const defaultValues: ParameterValues = { lat0: 0, lon0: 0, x0: 0, y0: 0, k: 1 };

function chooseMethod(
  name: string,
  values: ParameterValues,
  extra: Map<string, number>,
  extension: string | null,
): MethodId | null {
  if (extension !== null) return name.startsWith("mercator") ? sphericalMercator(values, extension) : null;
  const rule = Object.hasOwn(methodRules, name) ? methodRules[name] : undefined;
  return rule ? rule(values, extra, name) : findMethodByName(name);
}

/** GDAL writes EPSG:3857 in WKT1 as a Mercator with the sphere in an extension. */
function sphericalMercator(values: ParameterValues, extension: string): MethodId | null {
  const isSphere =
    /\+proj=merc\b/.test(extension) &&
    /\+a=6378137(\.0*)?\s/.test(extension) &&
    /\+b=6378137(\.0*)?(\s|$)/.test(extension);
  if (!isSphere) return null;
  delete values.k;
  values.lat0 = 0;
  return "web-mercator";
}

/** Chooses the method by the parameters, and converts them to those of the method. */
type MethodRule = (values: ParameterValues, extra: Map<string, number>, name: string) => MethodId | null;

/** The default parallel of true scale is the equator. */
const lambertianCylinder: MethodRule = (values, _extra, name) => {
  values.lat1 ??= 0;
  return findMethodByName(name);
};

const obliqueByAzimuth: MethodRule = (values, _extra, name) => {
  values.gamma ??= values.azimuth;
  return requireRotation(values, findMethodByName(name));
};

/** ESRI distinguishes the variants by the rotation of the axes. */
const obliqueByRotation: MethodRule = (values, extra, name) => {
  values.gamma = extra.get("xyplanerotation");
  extra.delete("xyplanerotation");
  return requireRotation(values, findMethodByName(name));
};

const stereographicPole: MethodRule = (values) => {
  values.lat1 ??= values.lat0;
  delete values.lat0;
  return "polar-stereographic-b";
};

/** By normalized name; other names have one method each. */
const methodRules: Readonly<Record<string, MethodRule>> = {
  lambertconformalconic: lambert,
  lambertconformalconic2sp: lambert,
  lambertconicconformal2sp: lambert,
  mercator: (values) => (values.lat1 === undefined ? mercatorA(values) : mercatorB(values)),
  mercator1sp: mercatorOneParallel,
  mercatorvarianta: mercatorOneParallel,
  mercator2sp: mercatorB,
  mercatorvariantb: mercatorB,
  mercatorauxiliarysphere: webMercator,
  polarstereographic: polarStereographic,
  stereographicnorthpole: stereographicPole,
  stereographicsouthpole: stereographicPole,
  krovak: (values, extra) => {
    colatitude(values);
    return krovak(extra);
  },
  krovaknorthorientated: (values) => {
    colatitude(values);
    return "krovak-north";
  },
  swissobliquecylindrical: (values) => {
    values.azimuth = 90;
    values.gamma = 90;
    return "oblique-mercator-b";
  },
  hotineobliquemercatorazimuthnaturalorigin: obliqueByAzimuth,
  hotineobliquemercatorazimuthcenter: obliqueByAzimuth,
  rectifiedskeworthomorphicnaturalorigin: obliqueByRotation,
  rectifiedskeworthomorphiccenter: obliqueByRotation,
  platecarree: (values) => {
    values.lat1 ??= 0;
    return "equidistant-cylindrical-spherical";
  },
  behrmann: (values) => {
    values.lat1 ??= 30;
    return "equal-area-cylindrical";
  },
  bonne: (values) => {
    values.lat0 = values.lat1 ?? values.lat0;
    delete values.lat1;
    return values.lat0 === undefined ? null : "bonne";
  },
  goodehomolosine: (_values, extra) => {
    const option = extra.get("option");
    extra.delete("option");
    return option === 1 ? "goode-land" : option === 2 ? "goode-ocean" : null;
  },
  cylindricalequalarea: lambertianCylinder,
  equirectangular: lambertianCylinder,
  equidistantcylindrical: lambertianCylinder,
  equidistantcylindricalspherical: lambertianCylinder,
  equidistantcylindricalellipsoidal: lambertianCylinder,
};

/** ESRI's 1SP repeats its origin as the standard parallel; others give a scale instead of a second parallel. */
function lambert(values: ParameterValues): MethodId | null {
  const k = values.k ?? 1;
  if (values.lat2 === undefined) {
    if (values.lat1 !== undefined && values.lat0 !== undefined && values.lat1 !== values.lat0) {
      if (k !== 1) return null;
      values.lat2 = values.lat1;
      delete values.k;
      return "lambert-conic-2sp";
    }
    values.lat0 ??= values.lat1;
    delete values.lat1;
    return values.lat0 === undefined ? null : "lambert-conic-1sp";
  }
  delete values.k;
  if (k === 1) return "lambert-conic-2sp";
  values.ellipsoidScale = k;
  return "lambert-conic-michigan";
}

function mercatorOneParallel(values: ParameterValues): MethodId | null {
  return values.lat1 !== undefined && values.lat1 !== 0 ? null : mercatorA(values);
}

/** ESRI's Mercator of a sphere: type 0 is that of the semi-major axis. */
function webMercator(values: ParameterValues, extra: ReadonlyMap<string, number>): MethodId | null {
  if (values.lat1 !== undefined && values.lat1 !== 0) return null;
  delete values.lat1;
  return (extra.get("auxiliaryspheretype") ?? 0) === 0 ? "web-mercator" : null;
}

function mercatorA(values: ParameterValues): MethodId | null {
  delete values.lat1;
  return values.lat0 === undefined || values.lat0 === 0 ? "mercator-a" : null;
}

function mercatorB(values: ParameterValues): MethodId | null {
  if (values.lat0 !== undefined && values.lat0 !== 0) return null;
  delete values.lat0;
  // True to scale on the equator: variants A and B are the same.
  if (values.lat1 === 0) return mercatorA(values);
  return values.lat1 === undefined ? null : "mercator-b";
}

/** `Polar_Stereographic` is variant A with its origin at the pole and a scale, and variant B with another parallel. */
function polarStereographic(values: ParameterValues): MethodId | null {
  const latitude = values.lat1 ?? values.lat0;
  if (latitude === undefined) return null;
  if (Math.abs(latitude) === 90) {
    values.lat0 = latitude;
    delete values.lat1;
    return "polar-stereographic-a";
  }
  if ((values.k ?? 1) !== 1) return null;
  values.lat1 = latitude;
  delete values.lat0;
  return "polar-stereographic-b";
}

/** Krovak's azimuth is a colatitude. */
function colatitude(values: ParameterValues): void {
  if (values.azimuth !== undefined) values.colatitude = values.azimuth;
  delete values.azimuth;
}

function krovak(extra: Map<string, number>): MethodId | null {
  const [x, y, rotation] = ["xscale", "yscale", "xyplanerotation"].map((key) => extra.get(key));
  for (const key of ["xscale", "yscale", "xyplanerotation"]) extra.delete(key);
  if (x === undefined && y === undefined && rotation === undefined) return "krovak-north";
  if (x === -1 && y === 1 && rotation === 90) return "krovak-north";
  return x === 1 && y === 1 && rotation === 0 ? "krovak" : null;
}

const requireRotation = (values: ParameterValues, method: MethodId | null): MethodId | null =>
  values.azimuth === undefined || values.gamma === undefined ? null : method;
