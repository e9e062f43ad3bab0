import type { CrsRegistry } from "../tables/registry.js";
import {
  type CrsDefinition,
  type Datum,
  degree,
  type Ellipsoid,
  greenwich,
  isSameEllipsoid,
  metre,
  type PrimeMeridian,
  type Unit,
} from "./definition.js";
import { getMethod, sphericalVariants } from "./methods.js";
import type { ParameterKey } from "./parameters.js";
import { readProjMethod } from "./proj-string-method.js";

/** Codes of the ellipsoids and datums that PROJ knows by name (`proj -le`, `proj -ld`). */
const ellipsoidCodes: Readonly<Record<string, string>> = {
  WGS84: "7030",
  GRS80: "7019",
  WGS72: "7043",
  bessel: "7004",
  bess_nam: "7046",
  clrk66: "7008",
  clrk80: "7012",
  clrk80ign: "7011",
  intl: "7022",
  krass: "7024",
  airy: "7001",
  mod_airy: "7002",
  GRS67: "7036",
  aust_SA: "7003",
  evrst30: "7015",
};
/** [EPSG's datum, EPSG's name of the system on it] */
const datumCodes: Readonly<Record<string, readonly [code: string, system: string]>> = {
  WGS84: ["6326", "WGS 84"],
  NAD83: ["6269", "NAD83"],
  NAD27: ["6267", "NAD27"],
  GGRS87: ["6121", "GGRS87"],
  potsdam: ["6314", "DHDN"],
  carthage: ["6223", "Carthage"],
  hermannskogel: ["6312", "MGI"],
  ire65: ["6299", "TM65"],
  nzgd49: ["6272", "NZGD49"],
  OSGB36: ["6277", "OSGB36"],
};
const primeMeridians: Readonly<Record<string, number>> = {
  greenwich: 0,
  lisbon: -9 - 7 / 60 - 54.862 / 3600,
  paris: 2.33722917,
  bogota: -74 - 4 / 60 - 51.3 / 3600,
  madrid: -3 - 41 / 60 - 14.55 / 3600,
  rome: 12 + 27 / 60 + 8.4 / 3600,
  bern: 7 + 26 / 60 + 22.5 / 3600,
  jakarta: 106 + 48 / 60 + 27.79 / 3600,
  ferro: -17 - 40 / 60,
  brussels: 4 + 22 / 60 + 4.71 / 3600,
  stockholm: 18 + 3 / 60 + 29.8 / 3600,
  athens: 23 + 42 / 60 + 58.815 / 3600,
  oslo: 10 + 43 / 60 + 22.5 / 3600,
};
const linearUnits: Readonly<Record<string, Unit>> = {
  m: metre,
  km: { name: "kilometre", conversionFactor: 1000 },
  ft: { name: "foot", conversionFactor: 0.3048 },
  "us-ft": { name: "US survey foot", conversionFactor: 1200 / 3937 },
};

/** Parameters of PROJ strings that do not affect positions, or that are handled elsewhere. */
const knownParameters = new Set([
  "proj",
  "type",
  "no_defs",
  "wktext",
  "title",
  "units",
  "to_meter",
  "datum",
  "ellps",
  "a",
  "b",
  "rf",
  "R",
  "f",
  "es",
  "e",
  "towgs84",
  "nadgrids",
  "pm",
  "vunits",
  "geoidgrids",
  "approx",
  "x_0",
  "y_0",
  "lat_0",
  "lon_0",
  "lat_1",
  "lat_2",
  "lat_ts",
  "k",
  "k_0",
  "lonc",
  "alpha",
  "gamma",
  "zone",
  "south",
  "no_uoff",
  "no_off",
  "axis",
  "guam",
  "hyperbolic",
  "azi",
  "h",
  "h_0",
  "sweep",
  "lon_1",
  "lon_2",
  "R_A",
]);

/** Finds a latitude that is out of range; for cylindrical equal-area methods, also the pole. */
function findInvalidLatitude(words: ReadonlyMap<string, string>): string | undefined {
  const degrees = (word: string) => Math.abs(Number(words.get(word)));
  if (words.get("proj") === "cea" && degrees("lat_ts") === 90) return "lat_ts";
  return ["lat_0", "lat_1", "lat_2", "lat_ts"].find((word) => degrees(word) > 90);
}

const geographicKinds = ["longlat", "latlong", "lonlat", "latlon"];

/**
 * Reads `+proj=… +datum=…`; null if the text is no PROJ string, or is ambiguous. The reason as a text if a value is
 * impossible.
 */
export function readProjString(text: string, registry: CrsRegistry): CrsDefinition | string | null {
  const words = new Map<string, string>();
  for (const found of text.matchAll(/\+([A-Za-z_0-9]+)(?:=(\S*))?/g))
    if (!words.has(found[1]!)) words.set(found[1]!, found[2] ?? "");
  const kind = words.get("proj");
  if (kind === undefined) return null;
  const datum = readDatum(words, registry);
  const zero = readMeridian(words.get("pm"));
  if (typeof datum === "string") return datum;
  if (!datum || !zero) return null;
  const meridian = geographicKinds.includes(kind) ? turnMeridian(zero, words.get("lon_0")) : zero;
  if (!meridian) return `+lon_0=${words.get("lon_0")} is no longitude`;
  const datumName = (datum.code !== null && datumCodes[words.get("datum") ?? ""]?.[1]) || "unknown";
  const geodetic = {
    code: null,
    name: meridian === zero || meridian === greenwich ? datumName : `${datumName} (lon_0=${words.get("lon_0")})`,
    datum,
    declaredDatum: null,
    meridian,
    unit: degree,
    is3D: false,
  };
  const geoid = words.get("geoidgrids");
  const heights = geoid === undefined ? {} : { vertical: `the geoid of ${geoid}` };
  const unknownWord = [...words.keys()].find(
    (word) => !knownParameters.has(word) || (word === "R_A" && !["mill", "vandg", "laea", "cea"].includes(kind)),
  );
  // `+axis=swu` is the standard for Krovak; PROJ writes R_A for methods on that sphere.
  const axis = kind === "krovak" && words.get("axis") === "swu" ? undefined : words.get("axis");
  const impossible = findInvalidLatitude(words);
  const unsupportedReason =
    unknownWord !== undefined
      ? `+${unknownWord} is not supported`
      : impossible !== undefined
        ? `no projection has +${impossible}=${words.get(impossible)}`
        : axis !== undefined && axis !== "enu" && axis !== "neu"
          ? `its axes are +axis=${axis}`
          : null;
  if (geographicKinds.includes(kind)) {
    return { id: null, name: geodetic.name, geodetic, projection: null, unsupportedReason, ...heights };
  }
  if (kind === "geocent" || kind === "cart")
    return { id: null, name: "geocentric", geodetic: null, projection: null, unsupportedReason: "it is geocentric" };
  const name =
    kind === "utm" ? `${geodetic.name} / UTM zone ${words.get("zone")}${words.has("south") ? "S" : "N"}` : kind;
  const unit = words.has("to_meter")
    ? { name: "unknown", conversionFactor: Number(words.get("to_meter")) }
    : linearUnits[words.get("units") ?? "m"];
  if (!unit || !(unit.conversionFactor > 0)) return null;
  const found = readProjMethod(kind, words);
  const parameters: Partial<Record<ParameterKey, number>> = {};
  if (found) {
    for (const [key] of getMethod(found.method).parameters) {
      const value = found.values[key] ?? (key === "k" ? 1 : 0);
      if (!Number.isFinite(value)) return null;
      parameters[key] = key === "x0" || key === "y0" ? Number((value / unit.conversionFactor).toPrecision(15)) : value;
    }
  }
  const method = found && datum.ellipsoid.inverseFlattening === 0 ? sphericalVariants[found.method] : undefined;
  return {
    id: null,
    name,
    geodetic,
    projection: { method: method ?? found?.method ?? null, methodName: `+proj=${kind}`, parameters, unit },
    unsupportedReason,
    ...heights,
  };
}

/** The datum; with an ellipsoid of its own in the string, a datum is unknown, as in PROJ. */
function readDatum(words: ReadonlyMap<string, string>, registry: CrsRegistry): Datum | string | null {
  const grids = words.get("nadgrids");
  const nadgrids = grids === undefined || grids === "@null" ? null : grids;
  const named = words.get("datum");
  const known = named === undefined ? null : datumCodes[named];
  if (known === undefined) return null;
  const datum = known && registry.getDatum(known[0]);
  const ellipsoid = readEllipsoid(words, datum?.ellipsoid ?? null, registry);
  if (typeof ellipsoid === "string") return ellipsoid;
  if (datum && ellipsoid === datum.ellipsoid) return { ...datum, nadgrids };
  const shift = words.get("towgs84")?.split(",").map(Number) ?? null;
  if (shift && (!(shift.length === 3 || shift.length === 7) || shift.some((value) => !Number.isFinite(value))))
    return null;
  return { code: null, name: `unknown, on ${ellipsoid.name}`, ellipsoid, toWgs84: shift, nadgrids };
}

/** The values that PROJ accepts for the parameters of an ellipsoid. */
const possibleSizes: Readonly<Record<string, (value: number) => boolean>> = {
  R: (value) => value > 0 && Number.isFinite(value),
  a: (value) => value > 0 && Number.isFinite(value),
  b: (value) => value > 0 && Number.isFinite(value),
  rf: (value) => value > 1,
  f: (value) => value >= 0 && value < 1,
  es: (value) => value >= 0 && value < 1,
  e: (value) => value >= 0 && value < 1,
};

/** The parameter of the flattening that precedes the others in PROJ comes first. */
const shapeWords = ["rf", "f", "es", "e", "b"] as const;

/**
 * The ellipsoid by its parameters, which precede that of the datum and `+ellps` as in PROJ; a text says why it is
 * refused. Parameters that repeat the ellipsoid of the datum give that one.
 */
function readEllipsoid(
  words: ReadonlyMap<string, string>,
  ofDatum: Ellipsoid | null,
  registry: CrsRegistry,
): Ellipsoid | string {
  const number = (key: string) => (words.get(key) === "" ? Number.NaN : Number(words.get(key)));
  const invalid = Object.keys(possibleSizes).find((key) => words.has(key) && !possibleSizes[key]!(number(key)));
  if (invalid !== undefined) return `no ellipsoid has +${invalid}=${words.get(invalid)}`;
  const name = words.get("ellps");
  const code = name === undefined ? undefined : ellipsoidCodes[name];
  if (name !== undefined && code === undefined) return `+ellps=${name} is unknown`;
  const base = ofDatum ?? (code === undefined ? null : registry.getEllipsoid(code));
  const shape = shapeWords.find((key) => words.has(key));
  if (words.has("R")) return { name: "sphere", a: number("R"), inverseFlattening: 0 };
  if (!words.has("a") && shape === undefined) return base ?? registry.getEllipsoid(ellipsoidCodes.GRS80!);
  const a = words.has("a") ? number("a") : base?.a;
  if (a === undefined) return `it has +${shape} without +a`;
  if (shape === "b" && number("b") > a) return `no ellipsoid has +b=${words.get("b")} and the semi-major axis ${a}`;
  const flattening =
    shape === undefined ? 1 / (base?.inverseFlattening || Infinity) : flatteningOf(shape, number(shape), a);
  const ellipsoid = { name: "unnamed", a, inverseFlattening: flattening === 0 ? 0 : 1 / flattening };
  if (base === null) return ellipsoid;
  if (isSameEllipsoid(base, ellipsoid)) return base;
  if (shape === "f" || shape === "es" || shape === "e")
    return `PROJ ignores +${shape} beside +${ofDatum ? "datum" : "ellps"}; write +rf or +b instead`;
  return ellipsoid;
}

function flatteningOf(shape: (typeof shapeWords)[number], value: number, a: number): number {
  switch (shape) {
    case "rf":
      return 1 / value;
    case "f":
      return value;
    case "es":
      return 1 - Math.sqrt(1 - value);
    case "e":
      return 1 - Math.sqrt(1 - value * value);
    case "b":
      return (a - value) / a;
  }
}

/** PROJ counts the longitudes of a geographic system from `+lon_0`, too. Null if that is no longitude. */
function turnMeridian(meridian: PrimeMeridian, text: string | undefined): PrimeMeridian | null {
  if (text === undefined) return meridian;
  const turn = text === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(turn)) return null;
  if (turn % 360 === 0) return meridian;
  const east = (((meridian.degrees + turn) % 360) + 360) % 360;
  if (east === 0) return greenwich;
  const degrees = east > 180 ? east - 360 : east;
  return { name: `${degrees}`, degrees };
}

function readMeridian(text: string | undefined): PrimeMeridian | null {
  if (text === undefined) return greenwich;
  const degrees = primeMeridians[text.toLowerCase()] ?? (text === "" ? Number.NaN : Number(text));
  return Number.isFinite(degrees) ? { name: text, degrees } : null;
}
