import type { Crs } from "../../model/layer.js";
import type { Area } from "../area.js";
import { definitionArea, findSystemWithArea } from "../operations/find-operation.js";
import { getRegistry } from "../tables/registry.js";
import { resolveDefinition } from "./parse.js";

/** What a person wants to know of a system, beside its name. */
export interface CrsDescription {
  /** Where it is meant to be used: west, south, east, north in degrees; null where the tables do not say. */
  readonly area: Area | null;
  /** EPSG's name of that, of several the widest; null where it has none. */
  readonly areaName: string | null;
  /** What x and y are here, whatever order the definition declares. */
  readonly axes: readonly [x: string, y: string];
  /** Of x and y; null where it is not known. */
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
