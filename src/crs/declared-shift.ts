import type { Area } from "./area.js";
import { isUnnamedDatum } from "./assumed-wgs84.js";
import { type Datum, isGeocentric } from "./definition.js";
import type { Registry } from "./registry.js";
import { type Candidate, order, type Route, route, steps, touches, wgs84Datum } from "./routes.js";

/**
 * Metres: a shift of zeros on an ellipsoid of satellite geodesy only says that the datum is such a frame. Of those that
 * EPSG moves by zeros, NAD83 has the worst figure.
 */
const frameAccuracy = 4;

const none: Candidate = {
  code: null,
  name: "none",
  values: [],
  inverse: false,
  accuracy: 0,
  offshore: false,
  area: null,
};

/**
 * The ways between two datums by way of WGS84 where one or both declare their shift to it (TOWGS84, `+towgs84`). One
 * whose numbers EPSG has for an operation of a datum on that ellipsoid is that operation, with its accuracy and area; of
 * any other the accuracy is unknown.
 */
export async function declaredRoutes(a: Datum, b: Datum, tables: Registry, area: Area | null): Promise<Route[]> {
  if (!a.toWgs84 && !b.toWgs84) return [];
  const [first, second] = await Promise.all([sideOf(a, false, tables), sideOf(b, true, tables)]);
  const routes = first.flatMap((one) => second.map((other) => route([one, other].filter((side) => side !== none))));
  return order(
    routes.filter((candidate) => touches(candidate, area)),
    area,
  );
}

/** From a datum to WGS84, or back. */
async function sideOf(datum: Datum, inverse: boolean, tables: Registry): Promise<Candidate[]> {
  if (datum.code === wgs84Datum) return [none];
  const { toWgs84 } = datum;
  if (!toWgs84) {
    if (datum.code === null) return [];
    return inverse ? steps(wgs84Datum, datum.code, tables) : steps(datum.code, wgs84Datum, tables);
  }
  const declared = { code: null, name: "TOWGS84 of the definition", values: toWgs84, inverse, offshore: false };
  if (toWgs84.every((value) => value === 0) && isGeocentric(datum.ellipsoid))
    return [{ ...declared, accuracy: frameAccuracy, area: null }];
  const known = await tables.shiftsOf(toWgs84, datum);
  if (known.length === 0) return [{ ...declared, accuracy: null, area: null }];
  return known.map(({ name, accuracy, area, offshore }) => ({
    ...declared,
    name: `TOWGS84 of the definition, which is ${name}`,
    accuracy,
    area,
    offshore,
  }));
}

/**
 * A sphere of which nobody says how its latitudes lie to those of the ellipsoid: taken for the same ones, as PROJ and
 * ESRI do, which is right for what was drawn so and up to 20 km off for what was not.
 */
export function sphereRoute(a: Datum, b: Datum): Route[] {
  const isSphere = (datum: Datum) => datum.ellipsoid.inverseFlattening === 0 && isUnnamedDatum(datum);
  if (!(isSphere(a) ? isGeocentric(b.ellipsoid) : isSphere(b) && isGeocentric(a.ellipsoid))) return [];
  const name = "latitudes of the sphere taken for those of the ellipsoid";
  return [{ name, accuracy: null, area: null, offshore: false, steps: [] }];
}
