import { createError } from "../../errors.js";
import type { Crs } from "../../model/layer.js";
import type { CrsRegistry } from "../tables/registry.js";
import {
  type CrsDefinition,
  hasSameCoordinates,
  isSameDatum,
  webMercatorDefinition,
  wgs84Definition,
} from "./definition.js";
import { normalizeName } from "./normalize-name.js";
import { findChild, parseWkt, readNumber, readText, type WktNode } from "./wkt-tree.js";

export const wgs84: Crs = { id: "EPSG:4326", name: "WGS 84", definition: "EPSG:4326", kind: "geographic" };

/** Removes a byte order mark, blanks and quotes around a definition. */
const cleanDefinition = (text: string): string =>
  text
    .replace(/^\uFEFF/, "")
    .replace(/\0+$/, "")
    .trim();

/** "EPSG:25832" of a code, URN or link in any of the usual spellings; null for other text. OGC:CRS84 is EPSG:4326. */
export function parseCode(text: string): string | null {
  const code = /^(?:(EPSG|ESRI):{1,2}|EPSG\/0\/)?(\d{4,6})$/i.exec(text);
  if (code) return `${code[1]?.toUpperCase() ?? "EPSG"}:${code[2]}`;
  if (/^(OGC:CRS84|CRS:84|CRS84|WGS ?84)$/i.test(text)) return "EPSG:4326";
  const named =
    /^urn:(?:x-)?ogc:def:crs:(EPSG|ESRI|OGC):(?:([^:]*):)?(\w+)$/i.exec(text) ??
    /^https?:\/\/(?:www\.)?opengis\.net\/def\/crs\/(EPSG|ESRI|OGC)\/([^/]*)\/(\w+)$/i.exec(text);
  const legacy = /^https?:\/\/www\.opengis\.net\/gml\/srs\/epsg\.xml#(\d+)$/i.exec(text);
  if (legacy) return `EPSG:${legacy[1]}`;
  const init = /^\+init=(epsg|esri):(\d+)(\s+\+no_defs)?$/i.exec(text);
  if (init) return `${init[1]!.toUpperCase()}:${init[2]}`;
  if (!named) return null;
  const [, authority, , name] = named;
  if (authority!.toUpperCase() === "OGC") return /^(CRS)?84$/i.test(name!) ? "EPSG:4326" : null;
  return /^\d+$/.test(name!) ? `${authority!.toUpperCase()}:${name}` : null;
}

/** Recognizes plain WGS 84, the definition in nearly every geographic `.prj`, without loading the tables. */
function isPlainWgs84(tree: WktNode): boolean {
  if (!["GEOGCS", "GEOGCRS"].includes(tree.keyword)) return false;
  const datum = findChild(tree, "DATUM", "ENSEMBLE");
  const spheroid = datum && findChild(datum, "SPHEROID", "ELLIPSOID");
  const name = normalizeName(readText(datum, 0));
  if (!/^d?(wgs(19)?84|worldgeodeticsystem1984(ensemble)?)$/.test(name)) return false;
  const code = readText(findChild(tree, "AUTHORITY", "ID"), 1);
  const unit = findChild(tree, "UNIT", "ANGLEUNIT") ?? findChild(findChild(tree, "AXIS") ?? tree, "ANGLEUNIT");
  const axes = findChild(tree, "CS");
  return (
    (code === "" || code === "4326") &&
    readNumber(spheroid, 1) === 6378137 &&
    Math.abs(readNumber(spheroid, 2) - 298.257223563) < 1e-7 &&
    (readNumber(findChild(tree, "PRIMEM"), 1) || 0) === 0 &&
    (unit === null || Math.abs(readNumber(unit, 1) - Math.PI / 180) < 1e-9) &&
    (axes === null || readNumber(axes, 1) === 2) &&
    findChild(tree, "EXTENSION") === null
  );
}

/** @throws crs-unknown */
export async function parseCrs(definition: string): Promise<Crs> {
  const text = cleanDefinition(definition);
  const found = await readDefinition(text);
  if (found === wgs84Definition) return wgs84;
  return {
    id: found.id,
    name: found.name || found.id || "unnamed",
    definition: found.id !== null && parseCode(text) !== null ? found.id : text,
    kind: found.geodetic === null ? "other" : found.projection === null ? "geographic" : "projected",
  };
}

/** Parses the definition of a system. @throws crs-unknown */
export const resolveDefinition = (crs: Crs): Promise<CrsDefinition> => readDefinition(cleanDefinition(crs.definition));

/** Codes of Web Mercator, also deprecated and unofficial ones, whose sphere is always taken for the ellipsoid. */
const webMercatorIds: ReadonlySet<string | null> = new Set(["EPSG:3857", "EPSG:3785", "EPSG:900913", "ESRI:102113"]);

/** A Mercator on the sphere of Web Mercator is Web Mercator, independent of its datum name. */
function isWebMercator({ geodetic, projection }: CrsDefinition): boolean {
  if (!geodetic || !projection || geodetic.datum.ellipsoid.inverseFlattening !== 0) return false;
  if (projection.method !== "mercator-a" && projection.method !== "web-mercator") return false;
  const { lat0, lon0, k = 1, x0, y0 } = projection.parameters;
  const plainly = !lat0 && !lon0 && !x0 && !y0 && k === 1 && projection.unit.conversionFactor === 1;
  return plainly && geodetic.datum.ellipsoid.a === 6378137 && geodetic.meridian.degrees === 0;
}

/** The two parts of `EPSG:27700+5701` and its URN and URL: horizontal and vertical code; null for other text. */
export function parseCompoundCode(text: string): readonly [horizontal: string, vertical: string] | null {
  const found =
    /^(EPSG:\d+)\+(?:EPSG:)?(\d+)$/i.exec(text) ??
    /^urn:ogc:def:crs,crs:(EPSG:[^:,]*:\d+),crs:EPSG:[^:,]*:(\d+)$/i.exec(text) ??
    /^https?:\/\/www\.opengis\.net\/def\/crs-compound\?1=https?:\/\/www\.opengis\.net\/def\/crs\/(EPSG\/[^/&]*\/\d+)&2=https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[^/&]*\/(\d+)$/i.exec(
      text,
    );
  return found && [`EPSG:${/\d+$/.exec(found[1]!)![0]}`, `EPSG:${found[2]}`];
}

async function readDefinition(text: string): Promise<CrsDefinition> {
  const compound = parseCompoundCode(text);
  if (compound) {
    const horizontal = await readDefinition(compound[0]);
    if (horizontal.vertical !== undefined) throw unknownCrs(text, `${compound[0]} is not horizontal`);
    return { ...horizontal, id: null, name: `${horizontal.name} + ${compound[1]}`, vertical: compound[1] };
  }
  const id = parseCode(text);
  if (id === "EPSG:4326") return wgs84Definition;
  if (webMercatorIds.has(id)) return webMercatorDefinition;
  if (id !== null) {
    const { registry, readWkt } = await loadTables();
    // EPSG's codes are below 32768; a higher code is ESRI's, although often written as EPSG's.
    const found =
      registry.getDefinition(id, readWkt) ??
      (Number(id.slice(5)) > 32767 ? registry.getDefinition(`ESRI:${id.slice(5)}`, readWkt) : null);
    if (!found) throw unknownCrs(text, "there is no such code in the tables");
    return found;
  }
  if (/^[A-Za-z_]\w*\s*[[(]/.test(text)) {
    const tree = parseWkt(text);
    if (!tree) throw unknownCrs(text, "it begins like a WKT but its brackets do not match");
    if (isPlainWgs84(tree)) return wgs84Definition;
    const { registry, readSystem } = await loadTables();
    const found = readSystem(tree, registry);
    if (!found)
      throw unknownCrs(text, `it is no ${tree.keyword} that describes a coordinate reference system completely`);
    return identifySystem(found, registry);
  }
  if (text.startsWith("{")) {
    const { parseProjJson } = await import("./read-projjson.js");
    const tree = parseProjJson(text);
    const { registry, readSystem } = await loadTables();
    const found = tree && readSystem(tree, registry);
    if (!found) throw unknownCrs(text, "it is no PROJJSON of a coordinate reference system");
    return identifySystem(found, registry);
  }
  if (text.includes("+proj=")) {
    const { readProjString } = await import("./read-proj-string.js");
    const { registry } = await loadTables();
    const found = readProjString(text, registry);
    if (!found) throw unknownCrs(text, "its PROJ string is incomplete or names something unknown");
    if (typeof found === "string") throw unknownCrs(text, found);
    return identifySystem(found, registry);
  }
  throw unknownCrs(text);
}

async function loadTables() {
  const [{ getRegistry }, reader] = await Promise.all([import("../tables/registry.js"), import("./read-wkt.js")]);
  return { registry: await getRegistry(), ...reader };
}

/** Adds the code of a registered system with the same code or name, if the definitions are equal. */
function identifySystem(found: CrsDefinition, registry: CrsRegistry): CrsDefinition {
  if (!found.geodetic || found.unsupportedReason !== null) return { ...found, id: null };
  if (isWebMercator(found) && found.vertical === undefined) return webMercatorDefinition;
  // A definition with its own shift is not the registered system.
  if (found.geodetic.datum.code === null || found.geodetic.datum.nadgrids !== null) return { ...found, id: null };
  const names = [found.name];
  if (found.projection === null && found.geodetic.datum.code === "6326") names.push("WGS 84");
  const candidates = [
    ...(found.id === null ? [] : [found.id]),
    ...names.flatMap((name) => registry.findSystemsByName(name)),
    ...(found.projection?.method === "web-mercator" ? ["EPSG:3857"] : []),
  ];
  // Returns the registered definition with its names.
  for (const id of candidates) {
    if (found.vertical === undefined) {
      if (id === "EPSG:4326" && isSameSystem(found, wgs84Definition)) return wgs84Definition;
      if (id === "EPSG:3857" && isSameSystem(found, webMercatorDefinition)) return webMercatorDefinition;
    }
    const candidate = registry.getDefinition(id, () => null);
    if (candidate && isSameSystem(found, candidate)) {
      const spoken = withDeclaredShift(found, candidate);
      return found.vertical === undefined || spoken.vertical !== undefined
        ? spoken
        : { ...spoken, vertical: found.vertical };
    }
  }
  return { ...found, id: null };
}

/** Keeps the shift that the definition declares, in case there is no registered one, or to report it as unused. */
function withDeclaredShift({ geodetic: found }: CrsDefinition, candidate: CrsDefinition): CrsDefinition {
  const { geodetic } = candidate;
  if (!geodetic || !found || found.datum.toWgs84 === null) return candidate;
  return { ...candidate, geodetic: { ...geodetic, datum: { ...geodetic.datum, toWgs84: found.datum.toWgs84 } } };
}

function isSameSystem(found: CrsDefinition, candidate: CrsDefinition): boolean {
  if (!found.geodetic || !candidate.geodetic || found.geodetic.is3D !== candidate.geodetic.is3D) return false;
  return isSameDatum(found.geodetic.datum, candidate.geodetic.datum) && hasSameCoordinates(found, candidate);
}

function unknownCrs(text: string, reason?: string) {
  const shown = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return createError("crs-unknown", reason === undefined ? { text: shown } : { text: shown, reason });
}
