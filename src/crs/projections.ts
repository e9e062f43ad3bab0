import type { Ellipsoid, Parameters, Projection } from "./definition.js";
import { eccentricitySquared, type Kernel, lambertConic, mercator, mercatorScale, webMercator } from "./kernels.js";
import { cassini, equidistantConic, equidistantCylindrical } from "./meridian-kernels.js";
import type { MethodId } from "./methods.js";
import { robinson } from "./robinson.js";
import { transverseMercator } from "./transverse-mercator.js";

const radians = (degrees: number | undefined) => ((degrees ?? 0) * Math.PI) / 180;

/** The projection as arithmetic, or null where geoferry has none that is known to agree with PROJ. */
export async function kernelOf(projection: Projection, ellipsoid: Ellipsoid): Promise<Kernel | null> {
  if (projection.method === null) return null;
  const p = projection.parameters;
  const x0 = (p.x0 ?? 0) * projection.unit.size;
  const y0 = (p.y0 ?? 0) * projection.unit.size;
  const lat0 = radians(p.lat0);
  const lon0 = radians(p.lon0);
  const lat1 = radians(p.lat1);
  const k = p.k ?? 1;
  // ESRI turns an axis by a scale of −1 here and there, others do not understand it.
  if (!(k > 0)) return null;
  switch (projection.method) {
    case "web-mercator":
      return p.lat0 === 0 ? webMercator(ellipsoid.a, lon0, x0, y0) : null;
    case "transverse-mercator":
      return ellipsoid.inverseFlattening === 0 ? null : transverseMercator(ellipsoid, { lat0, lon0, k, x0, y0 });
    case "transverse-mercator-south":
      return turned(transverseMercator(ellipsoid, { lat0, lon0, k, x0: -x0, y0: -y0 }));
    case "mercator-a":
      return p.lat0 === 0 ? mercator(ellipsoid, lon0, k, x0, y0) : null;
    case "mercator-b":
      return mercator(ellipsoid, lon0, mercatorScale(ellipsoid, lat1), x0, y0);
    case "lambert-conic-1sp":
      return lambertConic(ellipsoid, { lat0, lon0, lat1: lat0, lat2: lat0, k, x0, y0 });
    case "lambert-conic-2sp":
      return lambertConic(ellipsoid, { lat0, lon0, lat1, lat2: radians(p.lat2), k: 1, x0, y0 });
    case "lambert-conic-michigan":
      return lambertConic(ellipsoid, { lat0, lon0, lat1, lat2: radians(p.lat2), k: p.ellipsoidScale ?? 1, x0, y0 });
    case "equidistant-conic":
      return equidistantConic(ellipsoid, { lat0, lon0, lat1, lat2: radians(p.lat2), k: 1, x0, y0 });
    case "robinson":
      return robinson(ellipsoid.a, lon0, x0, y0);
    case "cassini":
      return cassini(ellipsoid, { lat0, lon0, x0, y0 }, radians(5));
    case "equidistant-cylindrical":
      return equidistantCylindrical(ellipsoid, lat1, lon0, x0, y0);
    case "lambert-conic-belgium":
      // Guidance note 7-2, 3.1.1.3: as 2SP, turned by 29.2985 seconds.
      return lambertConic(ellipsoid, {
        lat0,
        lon0: lon0 + radians(29.2985 / 3600) / belgianConstant(ellipsoid, p),
        lat1,
        lat2: radians(p.lat2),
        k: 1,
        x0,
        y0,
      });
    default:
      return throughProj4(projection.method, p, ellipsoid, x0, y0);
  }
}

/** The Belgian variant turns the map, not the meridian: θ − a; the same as a meridian further east by a/n. */
function belgianConstant(ellipsoid: Ellipsoid, p: Parameters): number {
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const m = (lat: number) => Math.cos(lat) / Math.sqrt(1 - e2 * Math.sin(lat) ** 2);
  const psi = (lat: number) => Math.asinh(Math.tan(lat)) - e * Math.atanh(e * Math.sin(lat));
  const [a, b] = [radians(p.lat1), radians(p.lat2)];
  return Math.log(m(a) / m(b)) / (psi(b) - psi(a));
}

/** Both axes the other way: westing and southing. */
function turned(kernel: Kernel): Kernel {
  const turn = (xy: Float64Array, from: number, to: number) => {
    for (let i = from; i < to; i++) {
      xy[2 * i] = -xy[2 * i]!;
      xy[2 * i + 1] = -xy[2 * i + 1]!;
    }
  };
  return {
    forward(xy, from, to) {
      kernel.forward(xy, from, to);
      turn(xy, from, to);
    },
    inverse(xy, from, to) {
      turn(xy, from, to);
      kernel.inverse(xy, from, to);
    },
  };
}

type Words = Readonly<Record<string, number | true>>;

/**
 * How a method is asked of proj4; null where proj4 lacks it or answers otherwise than PROJ does (test/crs/transform.test.ts
 * holds the ones below against PROJ to a millimetre).
 */
function words(method: MethodId, p: Parameters, ellipsoid: Ellipsoid): [proj: string, words: Words] | null {
  const lat_0 = p.lat0 ?? 0;
  const lon_0 = p.lon0 ?? 0;
  // proj4 takes a first parallel of 0 for none.
  const lat_1 = p.lat1 || 1e-30;
  const lat_2 = p.lat2 ?? lat_1;
  const sphere = ellipsoid.inverseFlattening === 0;
  switch (method) {
    case "albers":
      return ["aea", { lat_0, lon_0, lat_1, lat_2 }];
    case "lambert-azimuthal-spherical":
      return sphere ? ["laea", { lat_0, lon_0 }] : null;
    case "lambert-azimuthal":
      return ["laea", { lat_0, lon_0 }];
    case "polar-stereographic-a":
      return Math.abs(lat_0) === 90 ? ["stere", { lat_0, lon_0, k_0: p.k ?? 1 }] : null;
    case "polar-stereographic-b":
      return ["stere", { lat_0: (p.lat1 ?? 0) < 0 ? -90 : 90, lat_ts: p.lat1 ?? 90, lon_0 }];
    case "stereographic":
      return ["stere", { lat_0, lon_0, k_0: p.k ?? 1 }];
    case "oblique-stereographic":
      return ["sterea", { lat_0, lon_0, k_0: p.k ?? 1 }];
    case "oblique-mercator-a":
    case "oblique-mercator-b":
      return obliqueMercator(method, p);
    case "polyconic":
      return ["poly", { lat_0, lon_0 }];
    case "new-zealand":
      return ["nzmg", { lat_0, lon_0 }];
    case "krovak-north":
      return p.pseudoParallel === 78.5 && Math.abs((p.colatitude ?? 0) - 30.28813975) < 1e-7
        ? ["krovak", { lat_0, lon_0, k_0: p.k ?? 1 }]
        : null;
    case "equidistant-cylindrical-spherical":
      return ["eqc", { lat_ts: p.lat1 ?? 0, lon_0 }];
    case "equal-area-cylindrical":
      return ["cea", { lat_ts: p.lat1 ?? 0, lon_0 }];
    case "azimuthal-equidistant":
      return ["aeqd", { lat_0, lon_0 }];
    case "equal-earth":
      return ["eqearth", { lon_0 }];
    // On an ellipsoid GDAL takes a sphere of the same surface, ESRI one of the semi-major axis: 20 km apart.
    case "miller":
      return sphere ? ["mill", { lon_0 }] : null;
    case "van-der-grinten":
      return sphere ? ["vandg", { lon_0 }] : null;
    case "mollweide":
      return ["moll", { lon_0 }];
    case "sinusoidal":
      return ["sinu", { lon_0 }];
    case "eckert-6":
      return ["eck6", { lon_0 }];
    case "gnomonic":
      return sphere ? ["gnom", { lat_0, lon_0 }] : null;
    case "bonne":
      return ["bonne", { lat_1: lat_0, lon_0 }];
    default:
      return null;
  }
}

/** EPSG's variant B with an azimuth of 90° is the Swiss projection, which the general formulas cannot do. */
function obliqueMercator(method: MethodId, p: Parameters): [string, Words] | null {
  const lat_0 = p.lat0 ?? 0;
  const k_0 = p.k ?? 1;
  if (method === "oblique-mercator-b" && p.azimuth === 90 && p.gamma === 90)
    return ["somerc", { lat_0, lon_0: p.lon0 ?? 0, k_0 }];
  if (p.azimuth === undefined || p.gamma === undefined) return null;
  const given: Words = { lat_0, lonc: p.lon0 ?? 0, alpha: p.azimuth, gamma: p.gamma, k_0 };
  return ["omerc", method === "oblique-mercator-a" ? { ...given, no_uoff: true } : given];
}

async function throughProj4(
  method: MethodId,
  p: Parameters,
  ellipsoid: Ellipsoid,
  x0: number,
  y0: number,
): Promise<Kernel | null> {
  const asked = words(method, p, ellipsoid);
  if (!asked) return null;
  const { default: proj4 } = await import("proj4");
  const b = ellipsoid.inverseFlattening === 0 ? ellipsoid.a : ellipsoid.a * (1 - 1 / ellipsoid.inverseFlattening);
  // Some of proj4's projections read b, one (somerc) 1/f.
  const rf = ellipsoid.inverseFlattening === 0 ? "" : ` +rf=${ellipsoid.inverseFlattening}`;
  const text = Object.entries(asked[1]).map(([key, value]) => (value === true ? `+${key}` : `+${key}=${value}`));
  const projection = new proj4.Proj(
    `+proj=${asked[0]} ${text.join(" ")} +x_0=${x0} +y_0=${y0} +a=${ellipsoid.a} +b=${b}${rf} +no_defs`,
  );
  // One step, which proj4 takes of itself, leaves millimetres at the edges of New Zealand.
  if (method === "new-zealand") Object.assign(projection, { iterations: 4 });
  const { forward, inverse } = projection;
  if (!forward || !inverse) return null;
  const point = { x: 0, y: 0 };
  // proj4's own entry copies each position several times; its projections themselves work on one point that is reused.
  const through =
    (call: (at: { x: number; y: number }) => { x: number; y: number } | null | undefined, latitudes: boolean) =>
    (xy: Float64Array, from: number, to: number) => {
      for (let i = from; i < to; i++) {
        point.x = xy[2 * i]!;
        point.y = xy[2 * i + 1]!;
        const sane =
          Number.isFinite(point.x) && (latitudes ? Math.abs(point.y) <= Math.PI / 2 + 1e-12 : Number.isFinite(point.y));
        let result: { x: number; y: number } | null | undefined = null;
        if (sane) {
          try {
            result = call(point);
          } catch {
            result = null;
          }
        }
        xy[2 * i] = result?.x ?? Number.NaN;
        xy[2 * i + 1] = result?.y ?? Number.NaN;
      }
    };
  return { forward: through(forward.bind(projection), true), inverse: through(inverse.bind(projection), false) };
}
