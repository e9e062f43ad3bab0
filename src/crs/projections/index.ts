import type { Ellipsoid, Projection, ProjectionParameters } from "../definitions/definition.js";
import type { MethodId } from "../definitions/methods.js";
import {
  gnomonic,
  guam,
  isPole,
  lambertAzimuthal,
  localOrthographic,
  obliqueStereographic,
  orthographic,
  polarRadius,
  polarStereographic,
  stereographic,
} from "./azimuthal.js";
import { cassini } from "./cassini.js";
import { albers, bonne, equidistantConic, nearConformal, polyconic } from "./conics.js";
import { azimuthalEquidistant, twoPointEquidistant } from "./equidistant.js";
import { goode, goodeLobes } from "./goode.js";
import {
  eccentricitySquared,
  lambertConic,
  mercator,
  mercatorScale,
  type ProjectionKernel,
  webMercator,
} from "./kernels.js";
import { kernelFromMapping, type MapFrame, type Mapping } from "./mapping.js";
import { colombiaUrban, krovak, krovakModified, newZealand, tunisiaMining } from "./national.js";
import { hotine, laborde, swissObliqueMercator } from "./oblique-mercator.js";
import { reorderAxes, zonedGrid } from "./orientation.js";
import { geostationary, nearSide } from "./perspective.js";
import { robinson } from "./robinson.js";
import { transverseMercator } from "./transverse-mercator.js";
import {
  authalicRadius,
  equalAreaCylinder,
  equalEarth,
  equidistantCylinder,
  equidistantCylinderOfSphere,
  isParameterlessMap,
  loximuthal,
  parameterlessMaps,
  sinusoidal,
  winkel1,
  winkel2,
  winkelTripel,
} from "./world-maps.js";

const radians = (degrees: number | undefined) => ((degrees ?? 0) * Math.PI) / 180;

/** The parameters of a projection for its formulas: angles in radians, lengths in metres. */
interface ProjectionInput {
  readonly ellipsoid: Ellipsoid;
  readonly parameters: ProjectionParameters;
  readonly lat0: number;
  readonly lon0: number;
  readonly lat1: number;
  readonly lat2: number;
  readonly k: number;
  readonly x0: number;
  readonly y0: number;
  /** Metres in a unit of the system. */
  readonly unit: number;
}

/** Builds the formulas of a projection; null if its method is not implemented or its parameters are invalid. */
export function buildKernel(projection: Projection, ellipsoid: Ellipsoid): ProjectionKernel | null {
  const { method, parameters, unit } = projection;
  const k = parameters.k ?? 1;
  // ESRI sometimes mirrors an axis by a scale of −1, which other programs do not support.
  if (method === null || !(k > 0)) return null;
  const given: ProjectionInput = {
    ellipsoid,
    parameters,
    lat0: radians(parameters.lat0),
    lon0: radians(parameters.lon0),
    lat1: radians(parameters.lat1),
    lat2: radians(parameters.lat2),
    k,
    x0: (parameters.x0 ?? 0) * unit.conversionFactor,
    y0: (parameters.y0 ?? 0) * unit.conversionFactor,
    unit: unit.conversionFactor,
  };
  const kernel = isParameterlessMap(method)
    ? buildFromMapping(given, parameterlessMaps[method](), sphereRadius(method, ellipsoid))
    : kernelBuilders[method](given);
  if (kernel === null) return null;
  return projection.axes === "south-west" ? reorderAxes(kernel, "southing, westing") : kernel;
}

/** On an ellipsoid Miller and Van der Grinten take the sphere of its surface, as PROJ has them; the others its axis. */
const sphereRadius = (method: MethodId, ellipsoid: Ellipsoid): number =>
  method === "miller" || method === "van-der-grinten" ? ellipsoid.a * authalicRadius(ellipsoid) : ellipsoid.a;

const buildFromMapping = (frame: MapFrame, mapping: Mapping | null, a: number): ProjectionKernel | null =>
  mapping && kernelFromMapping(a, frame, mapping);
const fromMapping =
  (make: (given: ProjectionInput) => Mapping | null) =>
  (given: ProjectionInput): ProjectionKernel | null =>
    buildFromMapping(given, make(given), given.ellipsoid.a);
/** The sphere of a radius in metres, on which latitudes are those of the ellipsoid. */
const sphereOfRadius = (ellipsoid: Ellipsoid, radius: number): Ellipsoid => ({
  ...ellipsoid,
  a: radius,
  inverseFlattening: 0,
});
/** EPSG's equal-area maps of a sphere: for an ellipsoid that of its surface (guidance note 7-2, table 3). */
const onAuthalicSphere = (make: (sphere: Ellipsoid, given: ProjectionInput) => Mapping) => (given: ProjectionInput) => {
  const sphere = sphereOfRadius(given.ellipsoid, given.ellipsoid.a * authalicRadius(given.ellipsoid));
  return buildFromMapping(given, make(sphere, given), sphere.a);
};
const isSphere = ({ inverseFlattening }: Ellipsoid): boolean => inverseFlattening === 0;

const krovakParameters = ({ parameters, lat0, k }: ProjectionInput) => ({
  lat0,
  colatitude: radians(parameters.colatitude),
  pseudoParallel: radians(parameters.pseudoParallel),
  k,
});
/** Krovak's southing and westing count from the apex; the false origin applies to these, for any order of the axes. */
const southWestKrovak =
  (make: typeof krovak, inward: boolean) =>
  (given: ProjectionInput): ProjectionKernel => {
    const { ellipsoid, lon0, x0, y0 } = given;
    const kernel = kernelFromMapping(ellipsoid.a, { lon0, x0: y0, y0: x0 }, make(ellipsoid, krovakParameters(given)));
    return inward ? reorderAxes(kernel, "southing, westing") : kernel;
  };

function buildHotine(given: ProjectionInput, fromCenter: boolean): ProjectionKernel | null {
  const { ellipsoid, parameters, lat0, lon0, k, x0, y0 } = given;
  if (parameters.azimuth === undefined || parameters.gamma === undefined) return null;
  // The Swiss projection: at an azimuth of 90° the general formulas lose precision.
  if (fromCenter && parameters.azimuth === 90 && parameters.gamma === 90)
    return buildFromMapping(given, swissObliqueMercator(ellipsoid, lat0, k), ellipsoid.a);
  const line = { lon0, azimuth: radians(parameters.azimuth), gamma: radians(parameters.gamma) };
  const found = hotine(ellipsoid, lat0, k, line, fromCenter);
  return found && kernelFromMapping(ellipsoid.a, { lon0: found.lon0, x0, y0 }, found.mapping);
}

const conicParameters = ({ lat0, lon0, lat1, lat2, x0, y0 }: ProjectionInput) => ({ lat0, lon0, lat1, lat2, x0, y0 });

/** The Belgian variant turns the map, not the meridian: θ − a; the same as a meridian further east by a/n. */
function buildBelgianConic(given: ProjectionInput): ProjectionKernel | null {
  const { ellipsoid, lon0, lat1, lat2 } = given;
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const m = (lat: number) => Math.cos(lat) / Math.sqrt(1 - e2 * Math.sin(lat) ** 2);
  const psi = (lat: number) => Math.asinh(Math.tan(lat)) - e * Math.atanh(e * Math.sin(lat));
  const n = Math.log(m(lat1) / m(lat2)) / (psi(lat2) - psi(lat1));
  // Guidance note 7-2, 3.1.1.3: as 2SP, turned by 29.2985 seconds.
  return lambertConic(ellipsoid, { ...conicParameters(given), lon0: lon0 + radians(29.2985 / 3600) / n, k: 1 });
}

type KernelBuilder = (given: ProjectionInput) => ProjectionKernel | null;

const kernelBuilders: Readonly<Record<Exclude<MethodId, keyof typeof parameterlessMaps>, KernelBuilder>> = {
  "web-mercator": ({ ellipsoid, parameters, lon0, x0, y0 }) =>
    parameters.lat0 === 0 ? webMercator(ellipsoid.a, lon0, x0, y0) : null,
  "transverse-mercator": ({ ellipsoid, ...given }) => transverseMercator(ellipsoid, given),
  // Guidance note 7-2, 3.2.3.2: x and y are westing and southing, from which the false origin is taken off.
  "transverse-mercator-south": ({ ellipsoid, x0, y0, ...given }) =>
    reorderAxes(transverseMercator(ellipsoid, { ...given, x0: 0, y0: 0 }), "westing, southing", x0, y0),
  "transverse-mercator-zoned": ({ ellipsoid, parameters, lat0, k, x0, y0 }) =>
    zonedGrid(parameters.initialLongitude ?? 0, parameters.zoneWidth ?? 0, (lon0) =>
      transverseMercator(ellipsoid, { lat0, lon0: radians(lon0), k, x0, y0 }),
    ),
  "mercator-a": ({ ellipsoid, parameters, lon0, k, x0, y0 }) =>
    parameters.lat0 === 0 ? mercator(ellipsoid, lon0, k, x0, y0) : null,
  "mercator-b": ({ ellipsoid, lat1, lon0, x0, y0 }) =>
    mercator(ellipsoid, lon0, mercatorScale(ellipsoid, lat1), x0, y0),
  "lambert-conic-1sp": (given) =>
    lambertConic(given.ellipsoid, { ...conicParameters(given), lat1: given.lat0, lat2: given.lat0, k: given.k }),
  "lambert-conic-2sp": (given) => lambertConic(given.ellipsoid, { ...conicParameters(given), k: 1 }),
  "lambert-conic-michigan": (given) =>
    lambertConic(given.ellipsoid, { ...conicParameters(given), k: given.parameters.ellipsoidScale ?? 1 }),
  "lambert-conic-belgium": buildBelgianConic,
  // Guidance note 7-2, 3.1.1.4: x is the westing, and the false one is of it.
  "lambert-conic-west": (given) => {
    const { ellipsoid, lat0, k, x0 } = given;
    const east = lambertConic(ellipsoid, { ...conicParameters(given), lat1: lat0, lat2: lat0, k, x0: 0 });
    return east && reorderAxes(east, "westing, northing", x0);
  },
  "lambert-conic-near-conformal": fromMapping(({ ellipsoid, lat0, k }) => nearConformal(ellipsoid, lat0, k)),
  albers: fromMapping((given) => albers(given.ellipsoid, given)),
  "equidistant-conic": fromMapping((given) => equidistantConic(given.ellipsoid, given)),
  bonne: fromMapping(({ ellipsoid, lat0 }) => (lat0 === 0 ? sinusoidal(ellipsoid) : bonne(ellipsoid, lat0))),
  // Guidance note 7-2, 3.5.3: southing and westing, in this order as the axes of Portugal's systems have it.
  "bonne-south": ({ ellipsoid, lat0, lon0, x0, y0 }) => {
    const north = buildFromMapping({ lon0, x0: 0, y0: 0 }, bonne(ellipsoid, lat0), ellipsoid.a);
    return north && reorderAxes(north, "southing, westing", x0, y0);
  },
  polyconic: fromMapping(({ ellipsoid, lat0 }) => polyconic(ellipsoid, lat0)),
  cassini: fromMapping(({ ellipsoid, lat0 }) => cassini(ellipsoid, lat0, false)),
  "cassini-hyperbolic": fromMapping(({ ellipsoid, lat0 }) => cassini(ellipsoid, lat0, true)),
  "polar-stereographic-a": fromMapping(({ ellipsoid, lat0, k }) =>
    isPole(lat0) ? polarStereographic(ellipsoid, lat0, k) : null,
  ),
  "polar-stereographic-b": fromMapping(({ ellipsoid, lat1 }) => polarStereographic(ellipsoid, lat1, 1)),
  // Guidance note 7-2, 3.3.2.3: the origin lies on the standard parallel.
  "polar-stereographic-c": ({ ellipsoid, lat1, lon0, x0, y0 }) => {
    const toPole = polarRadius(ellipsoid, lat1) * ellipsoid.a * (lat1 < 0 ? -1 : 1);
    return kernelFromMapping(ellipsoid.a, { lon0, x0, y0: y0 + toPole }, polarStereographic(ellipsoid, lat1, 1));
  },
  stereographic: fromMapping(({ ellipsoid, lat0, k }) => stereographic(ellipsoid, lat0, k)),
  "oblique-stereographic": fromMapping(({ ellipsoid, lat0, k }) => obliqueStereographic(ellipsoid, lat0, k)),
  "lambert-azimuthal": fromMapping(({ ellipsoid, lat0 }) => lambertAzimuthal(ellipsoid, lat0)),
  "lambert-azimuthal-spherical": onAuthalicSphere((sphere, { lat0 }) => lambertAzimuthal(sphere, lat0)),
  "azimuthal-equidistant": fromMapping(({ ellipsoid, lat0 }) => azimuthalEquidistant(ellipsoid, lat0)),
  guam: fromMapping(({ ellipsoid, lat0 }) => guam(ellipsoid, lat0)),
  orthographic: fromMapping(({ ellipsoid, lat0 }) => orthographic(ellipsoid, lat0)),
  "orthographic-spherical": fromMapping(({ ellipsoid, lat0 }) =>
    orthographic(sphereOfRadius(ellipsoid, ellipsoid.a), lat0),
  ),
  "orthographic-local": fromMapping(({ ellipsoid, lat0, parameters, k }) =>
    localOrthographic(ellipsoid, lat0, radians(parameters.azimuth), k),
  ),
  gnomonic: fromMapping(({ ellipsoid, lat0 }) => (isSphere(ellipsoid) ? gnomonic(lat0) : null)),
  "near-side-perspective": fromMapping(({ ellipsoid, lat0, parameters, unit }) =>
    nearSide(ellipsoid, lat0, (parameters.height ?? 0) * unit),
  ),
  geostationary: fromMapping(({ ellipsoid, parameters, unit }) =>
    geostationary(ellipsoid, (parameters.height ?? 0) * unit),
  ),
  "two-point-equidistant": ({ ellipsoid, parameters, x0, y0 }) => {
    const middle = twoPointEquidistant(
      [radians(parameters.lon1), radians(parameters.lat1)],
      [radians(parameters.lon2), radians(parameters.lat2)],
    );
    return buildFromMapping({ lon0: 0, x0, y0 }, middle, ellipsoid.a);
  },
  "new-zealand": fromMapping(({ lat0 }) => newZealand(lat0)),
  "oblique-mercator-a": (given) => buildHotine(given, false),
  "oblique-mercator-b": (given) => buildHotine(given, true),
  laborde: fromMapping(({ ellipsoid, lat0, parameters, k }) =>
    laborde(ellipsoid, lat0, radians(parameters.azimuth), k),
  ),
  krovak: southWestKrovak(krovak, false),
  "krovak-north": southWestKrovak(krovak, true),
  "krovak-modified": southWestKrovak(krovakModified, false),
  "krovak-modified-north": southWestKrovak(krovakModified, true),
  "colombia-urban": fromMapping(({ ellipsoid, lat0, parameters, unit }) =>
    colombiaUrban(ellipsoid, lat0, (parameters.height ?? 0) * unit),
  ),
  // Kilometers with a false origin of its own.
  "tunisia-mining": () => kernelFromMapping(1000, { lon0: 0, x0: 0, y0: 0 }, tunisiaMining()),
  "equidistant-cylindrical": fromMapping(({ ellipsoid, lat1 }) => equidistantCylinder(ellipsoid, lat1)),
  "equidistant-cylindrical-spherical": fromMapping(({ lat1 }) => equidistantCylinderOfSphere(lat1)),
  "equal-area-cylindrical": fromMapping(({ ellipsoid, lat1 }) => equalAreaCylinder(ellipsoid, lat1)),
  "equal-area-cylindrical-spherical": onAuthalicSphere((sphere, { lat1 }) => equalAreaCylinder(sphere, lat1)),
  "equal-earth": fromMapping(({ ellipsoid }) => equalEarth(ellipsoid)),
  sinusoidal: fromMapping(({ ellipsoid }) => sinusoidal(ellipsoid)),
  robinson: ({ ellipsoid, lon0, x0, y0 }) => robinson(ellipsoid.a, lon0, x0, y0),
  loximuthal: fromMapping(({ lat0 }) => loximuthal(lat0)),
  "winkel-1": fromMapping(({ lat1 }) => winkel1(lat1)),
  "winkel-2": fromMapping(({ lat1 }) => winkel2(lat1)),
  "winkel-tripel": fromMapping(({ lat1 }) => winkelTripel(lat1)),
  "goode-land": fromMapping(() => goode(goodeLobes.land)),
  "goode-ocean": fromMapping(() => goode(goodeLobes.ocean)),
};
