import type { MethodId } from "./methods.js";
import type { ParameterKey } from "./parameters.js";

type ParameterValues = Partial<Record<ParameterKey, number>>;

/** The method of a PROJ string, and its parameters. */
interface MethodAndValues {
  readonly method: MethodId;
  readonly values: ParameterValues;
}

/** The numbers of a PROJ string. */
interface ProjString {
  readonly parameters: ReadonlyMap<string, string>;
  readonly getNumber: (key: string) => number | undefined;
  /** Without the scale. */
  readonly origin: ParameterValues;
  readonly k: number | undefined;
  /** Whether there is no scale factor, or it is 1. */
  readonly isUnscaled: boolean;
}

/** Reads `+proj=…` and its parameters; null if the method is unknown or ambiguous. */
export function readProjMethod(kind: string, parameters: ReadonlyMap<string, string>): MethodAndValues | null {
  const getNumber = (key: string): number | undefined =>
    parameters.has(key) ? Number(parameters.get(key)) : undefined;
  const origin: ParameterValues = {
    lat0: getNumber("lat_0"),
    lon0: getNumber("lon_0"),
    x0: getNumber("x_0"),
    y0: getNumber("y_0"),
  };
  const k = getNumber("k_0") ?? getNumber("k");
  const given: ProjString = { parameters, getNumber, origin, k, isUnscaled: k === undefined || k === 1 };
  if (Object.hasOwn(methodReaders, kind)) return methodReaders[kind]!(given);
  if (!Object.hasOwn(originOnlyMethods, kind) || k !== undefined) return null;
  return { method: originOnlyMethods[kind]!, values: origin };
}

const withScale =
  (method: MethodId) =>
  ({ origin, k }: ProjString): MethodAndValues => ({ method, values: { ...origin, k } });

/** A cylindrical method with a parallel of true scale, centered on the equator. */
const cylindrical =
  (method: MethodId) =>
  ({ origin, getNumber }: ProjString): MethodAndValues | null =>
    (origin.lat0 ?? 0) === 0 ? { method, values: { ...origin, lat1: getNumber("lat_ts") ?? 0 } } : null;

/** PROJ marks methods on the authalic sphere with `+R_A`. */
const methodByRadius = ({ parameters }: ProjString, ellipsoidal: MethodId, spherical: MethodId): MethodId =>
  parameters.has("R_A") ? spherical : ellipsoidal;

/** A conic method with one or two parallels. */
const conic =
  (method: MethodId) =>
  ({ origin, getNumber }: ProjString): MethodAndValues | null => {
    const lat1 = getNumber("lat_1");
    return lat1 === undefined ? null : { method, values: { ...origin, lat1, lat2: getNumber("lat_2") ?? lat1 } };
  };

const methodReaders: Readonly<Record<string, (given: ProjString) => MethodAndValues | null>> = {
  utm,
  tmerc: withScale("transverse-mercator"),
  etmerc: withScale("transverse-mercator"),
  lcc: lambert,
  merc: mercator,
  aea: conic("albers"),
  eqdc: conic("equidistant-conic"),
  stere: stereographic,
  sterea: withScale("oblique-stereographic"),
  omerc: obliqueMercator,
  somerc: ({ origin, k }) => ({ method: "oblique-mercator-b", values: { ...origin, k, azimuth: 90, gamma: 90 } }),
  eqc: cylindrical("equidistant-cylindrical"),
  // Without a parallel, PROJ uses the scale factor instead.
  cea: (given) =>
    given.isUnscaled || given.parameters.has("lat_ts")
      ? cylindrical(methodByRadius(given, "equal-area-cylindrical", "equal-area-cylindrical-spherical"))(given)
      : null,
  laea: (given) =>
    given.isUnscaled
      ? { method: methodByRadius(given, "lambert-azimuthal", "lambert-azimuthal-spherical"), values: given.origin }
      : null,
  ortho: ({ origin, k, getNumber }) =>
    k === undefined && getNumber("alpha") === undefined
      ? { method: "orthographic", values: origin }
      : { method: "orthographic-local", values: { ...origin, k, azimuth: getNumber("alpha") ?? 0 } },
  aeqd: ({ origin, parameters, isUnscaled }) =>
    isUnscaled ? { method: parameters.has("guam") ? "guam" : "azimuthal-equidistant", values: origin } : null,
  cass: ({ origin, parameters, isUnscaled }) =>
    isUnscaled ? { method: parameters.has("hyperbolic") ? "cassini-hyperbolic" : "cassini", values: origin } : null,
  bonne: ({ origin, getNumber }) => {
    const lat0 = getNumber("lat_1");
    return lat0 === undefined ? null : { method: "bonne", values: { ...origin, lat0 } };
  },
  krovak: ({ origin, k, parameters }) => ({
    method: parameters.get("axis") === "swu" ? "krovak" : "krovak-north",
    values: {
      lat0: 49.5,
      lon0: 24 + 50 / 60,
      ...withoutUndefined(origin),
      k: k ?? 0.9999,
      colatitude: 30 + 17 / 60 + 17.303111 / 3600,
      pseudoParallel: 78.5,
    },
  }),
  labrd: ({ origin, k, getNumber }) => ({
    method: "laborde",
    values: { ...origin, k, azimuth: getNumber("azi") ?? 0 },
  }),
  col_urban: ({ origin, getNumber }) => ({
    method: "colombia-urban",
    values: { ...origin, height: getNumber("h_0") ?? 0 },
  }),
  wink1: withParallel("winkel-1", "lat_ts", 0),
  wink2: withParallel("winkel-2", "lat_1", 0),
  // Without a parallel, PROJ is inconsistent: Winkel's parallel for a string, the equator for a system.
  wintri: withParallel("winkel-tripel", "lat_1", null),
  loxim: ({ origin, getNumber }) => {
    const lat0 = getNumber("lat_1");
    return lat0 === undefined ? null : { method: "loximuthal", values: { ...origin, lat0 } };
  },
  tpeqd: ({ origin, getNumber }) => {
    const [lat1, lon1, lat2, lon2] = ["lat_1", "lon_1", "lat_2", "lon_2"].map((key) => getNumber(key) ?? 0);
    return { method: "two-point-equidistant", values: { x0: origin.x0, y0: origin.y0, lat1, lon1, lat2, lon2 } };
  },
  nsper: ({ origin, getNumber }) => ({
    method: "near-side-perspective",
    values: { ...origin, height: getNumber("h") },
  }),
  geos: ({ origin, getNumber, parameters }) =>
    (parameters.get("sweep") ?? "y") === "y" && !origin.lat0
      ? { method: "geostationary", values: { ...origin, height: getNumber("h") } }
      : null,
};

const withoutUndefined = (values: ParameterValues): ParameterValues =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** A method that averages with the equidistant cylindrical of a parallel, for which PROJ has a default. */
function withParallel(method: MethodId, key: string, usual: number | null) {
  return ({ origin, getNumber }: ProjString): MethodAndValues | null => {
    const lat1 = getNumber(key) ?? usual;
    return lat1 === null ? null : { method, values: { ...origin, lat1 } };
  };
}

function utm({ getNumber, parameters }: ProjString): MethodAndValues | null {
  const zone = getNumber("zone");
  if (zone === undefined || !Number.isInteger(zone) || zone < 1 || zone > 60) return null;
  return {
    method: "transverse-mercator",
    values: { lat0: 0, lon0: zone * 6 - 183, k: 0.9996, x0: 500000, y0: parameters.has("south") ? 1e7 : 0 },
  };
}

function lambert({ getNumber, origin, k, isUnscaled }: ProjString): MethodAndValues | null {
  const lat1 = getNumber("lat_1");
  const lat2 = getNumber("lat_2");
  if (lat1 === undefined) return null;
  if (lat2 !== undefined && lat2 !== lat1) {
    return isUnscaled
      ? { method: "lambert-conic-2sp", values: { ...origin, lat1, lat2 } }
      : { method: "lambert-conic-michigan", values: { ...origin, lat1, lat2, ellipsoidScale: k } };
  }
  if (origin.lat0 === undefined || origin.lat0 === lat1) {
    return { method: "lambert-conic-1sp", values: { ...origin, k, lat0: lat1 } };
  }
  return isUnscaled ? { method: "lambert-conic-2sp", values: { ...origin, lat1, lat2: lat1 } } : null;
}

function mercator({ getNumber, origin, k, isUnscaled }: ProjString): MethodAndValues | null {
  if ((origin.lat0 ?? 0) !== 0) return null;
  const parallel = getNumber("lat_ts") ?? 0;
  if (parallel === 0) return { method: "mercator-a", values: { ...origin, k } };
  return isUnscaled ? { method: "mercator-b", values: { ...origin, lat1: parallel } } : null;
}

function stereographic({ getNumber, origin, k, isUnscaled }: ProjString): MethodAndValues | null {
  const lat0 = origin.lat0 ?? 0;
  const parallel = getNumber("lat_ts");
  if (Math.abs(lat0) !== 90) {
    return parallel === undefined ? { method: "stereographic", values: { ...origin, k } } : null;
  }
  if (parallel === undefined || Math.abs(parallel) === 90) {
    return { method: "polar-stereographic-a", values: { ...origin, k } };
  }
  const isOwnPole = Math.sign(parallel) === Math.sign(lat0);
  return isOwnPole && isUnscaled ? { method: "polar-stereographic-b", values: { ...origin, lat1: parallel } } : null;
}

function obliqueMercator({ getNumber, parameters, origin, k }: ProjString): MethodAndValues | null {
  const azimuth = getNumber("alpha");
  const lon0 = getNumber("lonc");
  if (azimuth === undefined || lon0 === undefined) return null;
  return {
    method: parameters.has("no_uoff") || parameters.has("no_off") ? "oblique-mercator-a" : "oblique-mercator-b",
    values: { ...origin, k, lon0, azimuth, gamma: getNumber("gamma") ?? azimuth },
  };
}

/** Methods whose only parameter is the origin. */
const originOnlyMethods: Readonly<Record<string, MethodId>> = {
  poly: "polyconic",
  nzmg: "new-zealand",
  gnom: "gnomonic",
  eqearth: "equal-earth",
  mill: "miller",
  moll: "mollweide",
  robin: "robinson",
  sinu: "sinusoidal",
  eck1: "eckert-1",
  eck2: "eckert-2",
  eck3: "eckert-3",
  eck4: "eckert-4",
  eck5: "eckert-5",
  eck6: "eckert-6",
  gall: "gall-stereographic",
  wag4: "wagner-4",
  wag5: "wagner-5",
  wag7: "wagner-7",
  aitoff: "aitoff",
  hammer: "hammer",
  natearth: "natural-earth",
  natearth2: "natural-earth-2",
  patterson: "patterson",
  comill: "compact-miller",
  times: "times",
  crast: "craster",
  mbtfpq: "flat-polar-quartic",
  qua_aut: "quartic-authalic",
  igh: "goode-land",
  igh_o: "goode-ocean",
  vandg: "van-der-grinten",
};
