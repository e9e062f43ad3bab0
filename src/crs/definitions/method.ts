import type { ParameterKey } from "./parameters.js";

/** [key, EPSG's parameter code or null, name in WKT1 (OGC 01-009 as GDAL writes it)] */
export type MethodParameter = readonly [key: ParameterKey, epsg: number | null, wkt1: string];
/** [ESRI's name, key or constant value] */
export type EsriParameter = readonly [name: string, value: ParameterKey | number];

export interface ProjectionMethod {
  /** EPSG's method code, or null if EPSG has none. */
  readonly epsg: number | null;
  readonly wkt2: string;
  readonly wkt1: string | null;
  readonly esri: string | null;
  readonly parameters: readonly MethodParameter[];
  readonly esriParameters: readonly EsriParameter[];
}

export const falseEasting: MethodParameter = ["x0", 8806, "false_easting"];
export const falseNorthing: MethodParameter = ["y0", 8807, "false_northing"];
export const centralMeridian: MethodParameter = ["lon0", 8802, "central_meridian"];
export const standardParallel1: MethodParameter = ["lat1", 8823, "standard_parallel_1"];
export const esriFalseOrigin: readonly EsriParameter[] = [
  ["False_Easting", "x0"],
  ["False_Northing", "y0"],
];
export const esriFalseOriginAndMeridian: readonly EsriParameter[] = [...esriFalseOrigin, ["Central_Meridian", "lon0"]];

export const createMethod = (
  epsg: number | null,
  wkt2: string,
  wkt1: string | null,
  esri: string | null,
  parameters: readonly MethodParameter[],
  esriParameters: readonly EsriParameter[],
): ProjectionMethod => ({ epsg, wkt2, wkt1, esri, parameters, esriParameters });
/** A world map whose only parameter is the central meridian. */
export const createWorldMethod = (epsg: number | null, wkt2: string, name: string) =>
  createMethod(epsg, wkt2, name, name, [centralMeridian, falseEasting, falseNorthing], esriFalseOriginAndMeridian);
