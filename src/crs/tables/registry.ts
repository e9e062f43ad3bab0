import type { Area } from "../area.js";
import { normalizeDatumName } from "../definitions/datum-names.js";
import {
  type CrsDefinition,
  type Datum,
  degree,
  type Ellipsoid,
  type GeographicCrs,
  isSameEllipsoid,
  type PrimeMeridian,
  type Unit,
} from "../definitions/definition.js";
import { findMethodByCode } from "../definitions/method-names.js";
import { getMethod, type MethodId, sphericalVariants } from "../definitions/methods.js";
import { normalizeName } from "../definitions/normalize-name.js";
import type { ParameterKey } from "../definitions/parameters.js";
import {
  findOperationLines,
  hasShiftValues,
  isSameShift,
  parseArea,
  type RegisteredOperation,
} from "./registered-operations.js";

type TableLines = ReadonlyMap<string, readonly string[]>;
const parseTable = (text: string): TableLines =>
  new Map(
    text
      .slice(1, -1)
      .split("\n")
      .map((line) => {
        const cells = line.split("|");
        return [cells[0]!, cells];
      }),
  );
/** "25832" for EPSG's, "E102100" for ESRI's. */
const codeOfId = (id: string): string | null => {
  const found = /^(EPSG|ESRI):(\d+)$/.exec(id);
  return found ? (found[1] === "ESRI" ? `E${found[2]}` : found[2]!) : null;
};
/** The opposite: "EPSG:25832". */
export const idOf = (code: string): string => (code[0] === "E" ? `ESRI:${code.slice(1)}` : `EPSG:${code}`);

/** EPSG's method codes with the same formulas as another method: redefined, spherical or three-dimensional ones. */
const methodCodeAliases: Readonly<Record<string, string>> = {
  9842: "1028",
  9823: "1029",
  // A map of two dimensions with heights beside it; and on a sphere the same formulas.
  1111: "9807",
  1125: "9832",
};

/** Converts Mercator variant B with its standard parallel at the equator to variant A. */
function asMercatorVariantA(parameters: Partial<Record<ParameterKey, number>>): MethodId {
  if (parameters.lat1 !== 0) return "mercator-b";
  delete parameters.lat1;
  Object.assign(parameters, { lat0: 0, k: 1 });
  return "mercator-a";
}

/** Gusterberg and St. Stephen Grid, whose axes point south and west although their method does not define it. */
const southWestSystems: ReadonlySet<string> = new Set(["8044", "8045"]);

/** The tables of systems, datums and operations. Systems are parsed on demand. */
export class CrsRegistry {
  /** Where each of EPSG's lines starts; made for those who look at all systems, since a search of the text takes its time. */
  private lineStarts: Map<string, number> | null = null;
  private readonly datums: TableLines;
  private readonly ellipsoids: TableLines;
  private readonly meridians: TableLines;
  private readonly units: TableLines;
  private datumNames: Map<string, string[]> | null = null;
  private systemNames: Map<string, string[]> | null = null;

  constructor(
    private readonly epsg: string,
    private readonly esri: string,
    datums: string,
    ellipsoids: string,
    meridians: string,
    units: string,
    private readonly operationText: string,
  ) {
    this.datums = parseTable(datums);
    this.ellipsoids = parseTable(ellipsoids);
    this.meridians = parseTable(meridians);
    this.units = parseTable(units);
  }

  private findLine(code: string): string[] | null {
    const text = code[0] === "E" ? this.esri : this.epsg;
    const isIndexed = this.lineStarts !== null && text === this.epsg;
    const start = isIndexed ? (this.lineStarts!.get(code) ?? -1) : text.indexOf(`\n${code}|`);
    return start < 0 ? null : text.slice(start + 1, text.indexOf("\n", start + 1)).split("|");
  }

  /** A system by id, or null. `wkt` reads the few that the table holds as text. */
  getDefinition(id: string, wkt: (text: string, registry: CrsRegistry) => CrsDefinition | null): CrsDefinition | null {
    const code = codeOfId(id);
    const cells = code === null ? null : this.findLine(code);
    if (!cells) return null;
    const [, kind, name = ""] = cells;
    if (kind === "W") {
      const found = wkt(cells.slice(5).join("|"), this);
      return found && { ...found, id, name };
    }
    if (kind === "V") {
      const horizontal = this.getDefinition(idOf(cells[5]!), wkt);
      // "Amersfoort / RD New + NAP height"
      return horizontal && { ...horizontal, id, name, vertical: name.split(" + ").slice(1).join(" + ") || name };
    }
    if (kind === "C") return { id, name, geodetic: null, projection: null, unsupportedReason: "it is geocentric" };
    if (kind !== "P")
      return { id, name, geodetic: this.parseGeographic(cells), projection: null, unsupportedReason: null };
    return this.parseProjected(id, name, cells);
  }

  private parseProjected(id: string, name: string, cells: string[]): CrsDefinition | null {
    const [, , , , , , base, unit, methodCode, values] = cells;
    const baseLine = this.findLine(base!);
    if (!baseLine || baseLine[1] === "C" || baseLine[1] === "W") return null;
    const geodetic = this.parseGeographic(baseLine);
    const isSphere = geodetic.datum.ellipsoid.inverseFlattening === 0;
    const ofCode = findMethodByCode(methodCodeAliases[methodCode!] ?? methodCode!);
    const named = ofCode !== null && isSphere ? (sphericalVariants[ofCode] ?? ofCode) : ofCode;
    const numbers = values === "" ? [] : values!.split(",").map(Number);
    const parameters: Partial<Record<ParameterKey, number>> = {};
    if (named !== null)
      getMethod(named).parameters.forEach(([key], index) => {
        const value = numbers[index]!;
        // ESRI writes angles beyond a half turn as negative ones.
        parameters[key] = (key === "azimuth" || key === "gamma") && value < 0 ? value + 360 : value;
      });
    const method = named === "mercator-b" ? asMercatorVariantA(parameters) : named;
    return {
      id,
      name,
      geodetic,
      projection: {
        method,
        methodName: method === null ? `EPSG method ${methodCode}` : getMethod(method).wkt2,
        parameters,
        unit: this.getUnit(unit!),
        ...(southWestSystems.has(cells[0]!) ? { axes: "south-west" as const } : {}),
      },
      unsupportedReason: null,
    };
  }

  private parseGeographic(cells: readonly string[]): GeographicCrs {
    const [code, kind, name, , , , datum, unit] = cells;
    const datumLine = this.datums.get(datum!)!;
    return {
      code: code!,
      name: name!,
      datum: this.getDatum(datum!),
      declaredDatum: datumLine[6] ? { code: datum!, name: datumLine[1]! } : null,
      meridian: this.getMeridian(datumLine[5]!),
      unit: this.getUnit(unit!),
      is3D: kind === "H",
    };
  }

  private getUnit(code: string): Unit {
    const cells = this.units.get(code);
    return !cells || code === "9122" ? degree : { name: cells[1]!, conversionFactor: Number(cells[3]) };
  }

  getEllipsoid(code: string): Ellipsoid {
    const [, name, , a, inverse] = this.ellipsoids.get(code)!;
    return { name: name!, a: Number(a), inverseFlattening: Number(inverse) };
  }

  private getMeridian(code: string): PrimeMeridian {
    const [, name, degrees] = this.meridians.get(code)!;
    return { name: name!, degrees: Number(degrees) };
  }

  /** A datum that has a twin with another prime meridian only is that twin: `Geodetic.meridian` distinguishes them. */
  getDatum(code: string): Datum {
    const cells = this.datums.get(code)!;
    // ESRI lists some of EPSG's under the same number or name.
    for (const twin of code[0] === "E" ? [code.slice(1), ...this.findDatumsByName(cells[1]!)] : []) {
      if (twin[0] !== "E" && this.datums.get(twin)?.[4] === cells[4]) return this.getDatum(twin);
    }
    if (cells[6]) return this.getDatum(cells[6]);
    return {
      code,
      name: cells[1]!.replace(/ ensemble$/, ""),
      ellipsoid: this.getEllipsoid(cells[4]!),
      toWgs84: null,
      nadgrids: null,
    };
  }

  /** The datums on one ellipsoid, by EPSG's code of it. */
  findDatumsOnEllipsoid(ellipsoid: string): Datum[] {
    return [...this.datums.values()]
      .filter((cells) => cells[4] === ellipsoid && !cells[6])
      .map(([code]) => this.getDatum(code!));
  }

  hasDatum(code: string): boolean {
    return this.datums.has(code);
  }

  /** Codes of the datums of this name, in the spelling of EPSG, ESRI or a WKT1; EPSG's first. */
  findDatumsByName(name: string): readonly string[] {
    if (!this.datumNames) {
      this.datumNames = new Map();
      for (const [code, cells] of this.datums) {
        const names = new Set([cells[1]!, cells[2]!, ...cells[3]!.split(";")].map(normalizeDatumName));
        for (const key of names) if (key !== "") addName(this.datumNames, key, code);
      }
    }
    return this.datumNames.get(normalizeDatumName(name)) ?? [];
  }

  /** Ids of the systems of this name, EPSG's or ESRI's name of it. */
  findSystemsByName(name: string): readonly string[] {
    if (!this.systemNames) {
      this.systemNames = new Map();
      for (const text of [this.epsg, this.esri]) {
        for (const line of text.slice(1, -1).split("\n")) {
          const [code, kind, title, deprecated, , esriName] = line.split("|", 6);
          if (kind === "C" || kind === "V") continue;
          const names = new Set([normalizeName(title!), kind === "W" ? "" : normalizeName(esriName!)]);
          for (const key of names) if (key !== "") addName(this.systemNames, key, idOf(code!), deprecated === "d");
        }
      }
    }
    return this.systemNames.get(normalizeName(name)) ?? [];
  }

  /** Ids of EPSG's projected systems that are not deprecated. */
  *listProjectedSystems(): Generator<string> {
    this.lineStarts ??= indexLineStarts(this.epsg);
    for (const line of this.epsg.slice(1, -1).split("\n")) {
      const [code, kind, , deprecated] = line.split("|", 4);
      if (kind === "P" && deprecated !== "d") yield idOf(code!);
    }
  }

  getArea(id: string): Area | null {
    const code = codeOfId(id);
    const cells = code === null ? null : this.findLine(code);
    return cells ? parseArea(cells[4]!) : null;
  }

  /** ESRI's names: of a system, a datum, an ellipsoid, a unit; null if ESRI has none. */
  esriSystemName(id: string): string | null {
    const code = codeOfId(id);
    const cells = code === null ? null : this.findLine(code);
    if (!cells || cells[1] === "V") return null;
    return (cells[1] === "W" ? cells[2] : cells[5]) || null;
  }
  esriDatumName(code: string): string | null {
    return this.datums.get(code)?.[2] || null;
  }
  esriEllipsoidName(name: string): string | null {
    return this.findByName(this.ellipsoids, name)?.[2] || null;
  }
  esriUnitName(name: string): string | null {
    return this.findByName(this.units, name)?.[2] || null;
  }
  ellipsoidCode(name: string): string | null {
    return this.findByName(this.ellipsoids, name)?.[0] ?? null;
  }
  findMeridianByName(name: string): PrimeMeridian | null {
    const found = this.findByName(this.meridians, name);
    return found && { name: found[1]!, degrees: Number(found[2]) };
  }
  private findByName(lines: TableLines, name: string): readonly string[] | null {
    const key = normalizeName(name);
    for (const cells of lines.values()) if (normalizeName(cells[1]!) === key) return cells;
    return null;
  }

  /** The registered operations from one datum to another, in this direction only. */
  getOperations(source: string, target: string): RegisteredOperation[] {
    return findOperationLines(this.operationText, `\n${source}|${target}|`, () => true);
  }

  getOperation(code: string): RegisteredOperation | null {
    return findOperationLines(this.operationText, `|${code}|`, (_s, _t, own) => own === code)[0] ?? null;
  }

  /** Those that take their shift from this file, by its name in any case. */
  findOperationsByGrid(file: string): RegisteredOperation[] {
    const wanted = file.toLowerCase();
    return findOperationLines(this.operationText, "|@", () => true).filter(({ grids }) =>
      grids.some((choice) => choice.file.toLowerCase() === wanted),
    );
  }

  /** The datums that an operation joins to this one, in either direction. */
  findConnectedDatums(code: string): Set<string> {
    const found = new Set<string>();
    for (const { target } of findOperationLines(this.operationText, `\n${code}|`, () => true)) found.add(target);
    const ending = (_: string, target: string) => target === code;
    for (const { source } of findOperationLines(this.operationText, `|${code}|`, ending)) found.add(source);
    return found;
  }

  /** Name of the area of use of a system; null if it has several or none. */
  async findAreaName(id: string): Promise<string | null> {
    const { areaNameLines } = await import("./area-names.js");
    const code = codeOfId(id);
    for (const line of areaNameLines.slice(1, -1).split("\n")) {
      const [name, codes] = line.split("|");
      if (code !== null && codes!.split(",").includes(code)) return name!;
    }
    return null;
  }

  /**
   * Operations to WGS 84, including superseded ones, with the shift values that a definition declares: of the datum or, if
   * it has no code, of all datums on its ellipsoid.
   */
  async findOperationsByShift(values: readonly number[], datum: Datum): Promise<RegisteredOperation[]> {
    const { supersededOperationLines } = await import("./superseded-operations.js");
    return [this.operationText, supersededOperationLines]
      .flatMap((text) =>
        findOperationLines(
          text,
          datum.code === null ? "|6326|" : `\n${datum.code}|6326|`,
          (_, target) => target === "6326",
        ),
      )
      .filter((known) => hasShiftValues(known) && this.hasDatum(known.source) && isSameShift(values, known.values))
      .filter(({ source }) => isSameEllipsoid(this.getDatum(source).ellipsoid, datum.ellipsoid));
  }
}

/** Offset of the line break before the line of each code. */
function indexLineStarts(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (let start = 0; start < text.length - 1; start = text.indexOf("\n", start + 1))
    found.set(text.slice(start + 1, text.indexOf("|", start)), start);
  return found;
}

function addName(names: Map<string, string[]>, key: string, id: string, last = true): void {
  const had = names.get(key);
  if (!had) names.set(key, [id]);
  else if (last) had.push(id);
  else had.unshift(id);
}

let loadedRegistry: Promise<CrsRegistry> | null = null;

/** Returns the tables, which are loaded on first use. */
export function getRegistry(): Promise<CrsRegistry> {
  loadedRegistry ??= loadRegistry();
  return loadedRegistry;
}

async function loadRegistry(): Promise<CrsRegistry> {
  const tables = await import("./index.js");
  return new CrsRegistry(
    tables.epsgLines,
    tables.esriLines,
    tables.datumLines,
    tables.ellipsoidLines,
    tables.meridianLines,
    tables.unitLines,
    tables.operationLines,
  );
}
