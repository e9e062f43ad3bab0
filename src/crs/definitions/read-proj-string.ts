import type { CrsRegistry } from "../tables/registry.js";
import {
  type CrsDefinition,
  type Datum,
  degree,
  type Ellipsoid,
  greenwich,
  metre,
  type PrimeMeridian,
  type Unit,
} from "./definition.js";
import { getMethod } from "./methods.js";
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

/** Reads `+proj=… +datum=…`; null if the text is no PROJ string, or is ambiguous. */
export function readProjString(text: string, registry: CrsRegistry): CrsDefinition | null {
  const words = new Map<string, string>();
  for (const found of text.matchAll(/\+([A-Za-z_0-9]+)(?:=(\S*))?/g))
    if (!words.has(found[1]!)) words.set(found[1]!, found[2] ?? "");
  const kind = words.get("proj");
  if (kind === undefined) return null;
  const datum = readDatum(words, registry);
  const meridian = readMeridian(words.get("pm"));
  if (!datum || !meridian) return null;
  const geodetic = {
    code: null,
    name: datumCodes[words.get("datum") ?? ""]?.[1] ?? "unknown",
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
  if (["longlat", "latlong", "lonlat", "latlon"].includes(kind)) {
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
  return {
    id: null,
    name,
    geodetic,
    projection: { method: found?.method ?? null, methodName: `+proj=${kind}`, parameters, unit },
    unsupportedReason,
    ...heights,
  };
}

function readDatum(words: Map<string, string>, registry: CrsRegistry): Datum | null {
  const grids = words.get("nadgrids");
  const nadgrids = grids === undefined || grids === "@null" ? null : grids;
  const named = words.get("datum");
  if (named !== undefined) {
    const known = datumCodes[named];
    return known === undefined ? null : { ...registry.getDatum(known[0]), nadgrids };
  }
  const ellipsoid = readEllipsoid(words, registry);
  if (!ellipsoid) return null;
  const shift = words.get("towgs84")?.split(",").map(Number) ?? null;
  if (shift && (!(shift.length === 3 || shift.length === 7) || shift.some((value) => !Number.isFinite(value))))
    return null;
  return { code: null, name: `unknown, on ${ellipsoid.name}`, ellipsoid, toWgs84: shift, nadgrids };
}

function readEllipsoid(words: Map<string, string>, registry: CrsRegistry): Ellipsoid | null {
  const number = (key: string) => (words.has(key) ? Number(words.get(key)) : Number.NaN);
  if (words.has("R")) return number("R") > 0 ? { name: "sphere", a: number("R"), inverseFlattening: 0 } : null;
  const a = number("a");
  if (a > 0) {
    const b = number("b");
    const rf = words.has("rf") ? number("rf") : words.has("f") ? 1 / number("f") : a === b ? 0 : a / (a - b);
    return Number.isFinite(rf) ? { name: "unnamed", a, inverseFlattening: rf } : null;
  }
  const code = ellipsoidCodes[words.get("ellps") ?? "GRS80"];
  return code === undefined ? null : registry.getEllipsoid(code);
}

function readMeridian(text: string | undefined): PrimeMeridian | null {
  if (text === undefined) return greenwich;
  const degrees = primeMeridians[text.toLowerCase()] ?? (text === "" ? Number.NaN : Number(text));
  return Number.isFinite(degrees) ? { name: text, degrees } : null;
}
