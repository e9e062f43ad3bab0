import type { ParameterKey } from "./parameters.js";

/** [key, EPSG's parameter code or null, name in WKT1 (OGC 01-009 as GDAL writes it)] */
export type Parameter = readonly [key: ParameterKey, epsg: number | null, wkt1: string];
/** [ESRI's name, key or the constant that it always has] */
export type EsriParameter = readonly [name: string, value: ParameterKey | number];

export interface Method {
  /** EPSG's method code, or null where EPSG has none. */
  readonly epsg: number | null;
  readonly wkt2: string;
  readonly wkt1: string | null;
  readonly esri: string | null;
  readonly parameters: readonly Parameter[];
  readonly esriParameters: readonly EsriParameter[];
}

export const fe: Parameter = ["x0", 8806, "false_easting"];
export const fn: Parameter = ["y0", 8807, "false_northing"];
export const meridian: Parameter = ["lon0", 8802, "central_meridian"];
export const parallel1: Parameter = ["lat1", 8823, "standard_parallel_1"];
export const xy: readonly EsriParameter[] = [
  ["False_Easting", "x0"],
  ["False_Northing", "y0"],
];
export const xyMeridian: readonly EsriParameter[] = [...xy, ["Central_Meridian", "lon0"]];

export const method = (
  epsg: number | null,
  wkt2: string,
  wkt1: string | null,
  esri: string | null,
  parameters: readonly Parameter[],
  esriParameters: readonly EsriParameter[],
): Method => ({ epsg, wkt2, wkt1, esri, parameters, esriParameters });
/** A world map without parameters but its central meridian. */
export const world = (epsg: number | null, wkt2: string, name: string) =>
  method(epsg, wkt2, name, name, [meridian, fe, fn], xyMeridian);
