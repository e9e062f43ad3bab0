import type { Crs } from "../../model/layer.js";
import type { Area } from "../area.js";
import { definitionArea, findSystemWithArea } from "../operations/find-operation.js";
import { getRegistry } from "../tables/registry.js";
import { resolveDefinition } from "./parse.js";

/** Details of a system for reports. */
export interface CrsDescription {
  /** Area of use: west, south, east, north in degrees; null if unknown. */
  readonly area: Area | null;
  /** EPSG's name of the area of use, the widest of several; null if there is none. */
  readonly areaName: string | null;
  /** The meaning of x and y in geoferry, independent of the declared axis order. */
  readonly axes: readonly [x: string, y: string];
  /** Unit of x and y; null if unknown. */
  readonly unit: string | null;
  readonly datum: string | null;
}

/** @throws crs-unknown */
export async function describeCrs(crs: Crs): Promise<CrsDescription> {
  const [definition, tables] = await Promise.all([resolveDefinition(crs), getRegistry()]);
  const { geodetic, projection } = definition;
  const system = findSystemWithArea(definition, tables);
  return {
    area: definitionArea(definition, tables),
    areaName: system === null ? null : await tables.findAreaName(system),
    axes: geodetic === null ? ["x", "y"] : projection === null ? ["longitude", "latitude"] : ["easting", "northing"],
    unit: projection?.unit.name ?? geodetic?.unit.name ?? null,
    datum: geodetic?.datum.name ?? null,
  };
}
