import {
  type EsriParameter,
  fe,
  fn,
  type Method,
  meridian,
  method,
  parallel1,
  world,
  xy,
  xyMeridian,
} from "./method.js";

/** A world map that GDAL calls by ESRI's name. */
const plain = (name: string) => world(null, name.replaceAll("_", " "), name);
const centred = (wkt2: string, wkt1: string, esri: string) =>
  method(null, wkt2, wkt1, esri, [["lon0", 8802, "longitude_of_center"], fe, fn], xyMeridian);
/** A mean with the equidistant cylinder of a parallel. */
const winkel = (name: string) =>
  method(
    null,
    name.replaceAll("_", " "),
    name,
    name,
    [meridian, parallel1, fe, fn],
    [...xyMeridian, ["Standard_Parallel_1", "lat1"]],
  );
const viewed: readonly EsriParameter[] = [...xy, ["Longitude_Of_Center", "lon0"]];

/** Maps of the whole earth, or of the half that is seen of it. */
export const worldMethods = {
  "equal-earth": world(1078, "Equal Earth", "Equal_Earth"),
  miller: centred("Miller Cylindrical", "Miller_Cylindrical", "Miller_Cylindrical"),
  mollweide: plain("Mollweide"),
  robinson: centred("Robinson", "Robinson", "Robinson"),
  sinusoidal: centred("Sinusoidal", "Sinusoidal", "Sinusoidal"),
  "eckert-1": plain("Eckert_I"),
  "eckert-2": plain("Eckert_II"),
  "eckert-3": plain("Eckert_III"),
  "eckert-4": plain("Eckert_IV"),
  "eckert-5": plain("Eckert_V"),
  "eckert-6": plain("Eckert_VI"),
  "wagner-4": plain("Wagner_IV"),
  "wagner-5": plain("Wagner_V"),
  "wagner-7": plain("Wagner_VII"),
  "gall-stereographic": plain("Gall_Stereographic"),
  "quartic-authalic": plain("Quartic_Authalic"),
  "flat-polar-quartic": plain("Flat_Polar_Quartic"),
  craster: plain("Craster_Parabolic"),
  times: plain("Times"),
  "natural-earth": plain("Natural_Earth"),
  "natural-earth-2": plain("Natural_Earth_II"),
  patterson: plain("Patterson"),
  "compact-miller": plain("Compact_Miller"),
  aitoff: plain("Aitoff"),
  hammer: plain("Hammer_Aitoff"),
  "winkel-1": winkel("Winkel_I"),
  "winkel-2": winkel("Winkel_II"),
  "winkel-tripel": winkel("Winkel_Tripel"),
  loximuthal: method(
    null,
    "Loximuthal",
    "Loximuthal",
    "Loximuthal",
    [["lat0", 8801, "latitude_of_origin"], meridian, fe, fn],
    [...xyMeridian, ["Central_Parallel", "lat0"]],
  ),
  "goode-land": method(
    null,
    "Interrupted Goode Homolosine",
    "Interrupted_Goode_Homolosine",
    "Goode_Homolosine",
    [meridian, fe, fn],
    [...xyMeridian, ["Option", 1]],
  ),
  "goode-ocean": method(
    null,
    "Interrupted Goode Homolosine Ocean",
    null,
    "Goode_Homolosine",
    [meridian, fe, fn],
    [...xyMeridian, ["Option", 2]],
  ),
  "van-der-grinten": method(
    null,
    "Van Der Grinten",
    "VanDerGrinten",
    "Van_der_Grinten_I",
    [meridian, fe, fn],
    xyMeridian,
  ),
  "two-point-equidistant": method(
    null,
    "Two Point Equidistant",
    "Two_Point_Equidistant",
    "Two_Point_Equidistant",
    [
      ["lat1", null, "Latitude_Of_1st_Point"],
      ["lon1", null, "Longitude_Of_1st_Point"],
      ["lat2", null, "Latitude_Of_2nd_Point"],
      ["lon2", null, "Longitude_Of_2nd_Point"],
      fe,
      fn,
    ],
    [
      ...xy,
      ["Latitude_Of_1st_Point", "lat1"],
      ["Latitude_Of_2nd_Point", "lat2"],
      ["Longitude_Of_1st_Point", "lon1"],
      ["Longitude_Of_2nd_Point", "lon2"],
    ],
  ),
  "near-side-perspective": method(
    null,
    "Vertical Near-Side Perspective",
    null,
    "Vertical_Near_Side_Perspective",
    [["lat0", null, "latitude_of_center"], ["lon0", null, "longitude_of_center"], ["height", null, "height"], fe, fn],
    [...viewed, ["Latitude_Of_Center", "lat0"], ["Height", "height"]],
  ),
  geostationary: method(
    null,
    "Geostationary Satellite (Sweep Y)",
    "Geostationary_Satellite",
    "Geostationary_Satellite",
    [meridian, ["height", null, "satellite_height"], fe, fn],
    [...viewed, ["Height", "height"], ["Option", 0]],
  ),
} as const satisfies Record<string, Method>;
