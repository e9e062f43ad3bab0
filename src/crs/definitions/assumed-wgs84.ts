import { isInArea } from "../area.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type CrsDefinition, type Datum, wgs84Definition } from "./definition.js";
import { normalizeName } from "./normalize-name.js";

/** Metres: EPSG's accuracy of the WGS 84 ensemble. Requests for better accuracy refuse the assumption. */
export const assumedWgs84Accuracy = 2;

const wgs84Datum = wgs84Definition.geodetic!.datum;

/**
 * Datum names of writers that only know the ellipsoid: `Unknown datum`, `D_Unknown`, `Not specified (based on WGS 84
 * ellipsoid)`, or none. A name with `using towgs84=…` refers to a shift that is not in the definition.
 */
const isUnnamedDatumName = (name: string): boolean =>
  /^d?(unk|unnamed|undefined|(unknown|unspecified|notspecified)(?!.*using).*)?$/.test(normalizeName(name));

export const isUnnamedDatum = ({ name }: Datum): boolean => isUnnamedDatumName(name);

/** Compares all written digits, since GRS 1980 differs in the ninth. */
const isWgs84Ellipsoid = ({ ellipsoid }: Datum): boolean =>
  Math.abs(ellipsoid.a - wgs84Datum.ellipsoid.a) < 1e-6 &&
  Math.abs(ellipsoid.inverseFlattening - wgs84Datum.ellipsoid.inverseFlattening) < 1e-7;

/** Whether a datum without a name is taken for WGS 84, since it has exactly that ellipsoid and no shift of its own. */
export const isAssumedWgs84 = (datum: Datum): boolean =>
  (datum.code === null || datum.code === "6030") &&
  datum.toWgs84 === null &&
  datum.nadgrids === null &&
  isUnnamedDatumName(datum.name) &&
  isWgs84Ellipsoid(datum);

/** Returns the system on WGS 84 if its datum is taken for that; else the system itself. */
export function assumeWgs84(definition: CrsDefinition): CrsDefinition {
  const { geodetic } = definition;
  if (!geodetic || !isAssumedWgs84(geodetic.datum)) return definition;
  return { ...definition, geodetic: { ...geodetic, datum: wgs84Datum } };
}

/** The notice about the assumption; names a datum with the same ellipsoid that is far from WGS 84 and used in the area. */
export function describeAssumption(definition: CrsDefinition, tables: CrsRegistry | null): string {
  const said = "the datum is not named; its ellipsoid is WGS 84's own, so WGS 84 is assumed";
  const meridian = definition.projection?.parameters.lon0;
  if (definition.projection?.method !== "transverse-mercator" || meridian === undefined || !tables) return said;
  const rivals = tables.findDatumsOnEllipsoid("7030").flatMap((datum) => {
    for (const { values, area } of tables.getOperations(datum.code!, wgs84Datum.code!)) {
      const metres = Math.hypot(values[0] ?? 0, values[1] ?? 0, values[2] ?? 0);
      if (metres > 5 && area && isInArea(area, meridian, (area[1] + area[3]) / 2))
        return [`${datum.name}, which has that ellipsoid too and may be meant, lies ${Math.round(metres)} m off`];
    }
    return [];
  });
  return [said, ...rivals].join("; ");
}
