import {
  type EsriParameter,
  fe,
  fn,
  type Method,
  meridian,
  method,
  type Parameter,
  parallel1,
  xy,
  xyMeridian,
} from "./method.js";
import { worldMethods } from "./world-methods.js";

const natural: readonly Parameter[] = [
  ["lat0", 8801, "latitude_of_origin"],
  ["lon0", 8802, "central_meridian"],
];
const centred: readonly Parameter[] = [
  ["lat0", 8801, "latitude_of_center"],
  ["lon0", 8802, "longitude_of_center"],
];
const scale: Parameter = ["k", 8805, "scale_factor"];
const falseOrigin = (lat: string, lon: string): readonly Parameter[] => [
  ["lat0", 8821, lat],
  ["lon0", 8822, lon],
  parallel1,
  ["lat2", 8824, "standard_parallel_2"],
  ["x0", 8826, "false_easting"],
  ["y0", 8827, "false_northing"],
];
const oblique: readonly Parameter[] = [
  ["lat0", 8811, "latitude_of_center"],
  ["lon0", 8812, "longitude_of_center"],
  ["azimuth", 8813, "azimuth"],
  ["gamma", 8814, "rectified_grid_angle"],
  ["k", 8815, "scale_factor"],
];
/** Of maps whose grid is not turned back to north. */
const turned: readonly Parameter[] = oblique.filter(([key]) => key !== "gamma");
const centreEasting: Parameter = ["x0", 8816, "false_easting"];
const centreNorthing: Parameter = ["y0", 8817, "false_northing"];
const krovak: readonly Parameter[] = [
  ["lat0", 8811, "latitude_of_center"],
  ["lon0", 8833, "longitude_of_center"],
  ["colatitude", 1036, "azimuth"],
  ["pseudoParallel", 8818, "pseudo_standard_parallel_1"],
  ["k", 8819, "scale_factor"],
  fe,
  fn,
];

const esriNatural: readonly EsriParameter[] = [...xyMeridian, ["Latitude_Of_Origin", "lat0"]];
const esriScaled: readonly EsriParameter[] = [...xyMeridian, ["Scale_Factor", "k"], ["Latitude_Of_Origin", "lat0"]];
const esriConic: readonly EsriParameter[] = [
  ...xyMeridian,
  ["Standard_Parallel_1", "lat1"],
  ["Standard_Parallel_2", "lat2"],
  ["Latitude_Of_Origin", "lat0"],
];
const esriParallel: readonly EsriParameter[] = [...xyMeridian, ["Standard_Parallel_1", "lat1"]];
const esriCentred: readonly EsriParameter[] = [...xy, ["Longitude_Of_Center", "lon0"], ["Latitude_Of_Center", "lat0"]];
const esriOblique: readonly EsriParameter[] = [
  ...xy,
  ["Scale_Factor", "k"],
  ["Azimuth", "azimuth"],
  ["Longitude_Of_Center", "lon0"],
  ["Latitude_Of_Center", "lat0"],
];
const esriKrovak = (x: number, rotation: number): readonly EsriParameter[] => [
  ...xy,
  ["Pseudo_Standard_Parallel_1", "pseudoParallel"],
  ["Scale_Factor", "k"],
  ["Azimuth", "colatitude"],
  ["Longitude_Of_Center", "lon0"],
  ["Latitude_Of_Center", "lat0"],
  ["X_Scale", x],
  ["Y_Scale", 1],
  ["XY_Plane_Rotation", rotation],
];

/** Every projection method that geoferry can name. Which of them it computes is `projections.ts`'s matter. */
export const methods = {
  "transverse-mercator": method(
    9807,
    "Transverse Mercator",
    "Transverse_Mercator",
    "Transverse_Mercator",
    [...natural, scale, fe, fn],
    esriScaled,
  ),
  "transverse-mercator-south": method(
    9808,
    "Transverse Mercator (South Orientated)",
    "Transverse_Mercator_South_Orientated",
    null,
    [...natural, scale, fe, fn],
    [],
  ),
  "lambert-conic-1sp": method(
    9801,
    "Lambert Conic Conformal (1SP)",
    "Lambert_Conformal_Conic_1SP",
    "Lambert_Conformal_Conic",
    [...natural, scale, fe, fn],
    [...xyMeridian, ["Standard_Parallel_1", "lat0"], ["Scale_Factor", "k"], ["Latitude_Of_Origin", "lat0"]],
  ),
  "lambert-conic-2sp": method(
    9802,
    "Lambert Conic Conformal (2SP)",
    "Lambert_Conformal_Conic_2SP",
    "Lambert_Conformal_Conic",
    falseOrigin("latitude_of_origin", "central_meridian"),
    esriConic,
  ),
  "lambert-conic-belgium": method(
    9803,
    "Lambert Conic Conformal (2SP Belgium)",
    "Lambert_Conformal_Conic_2SP_Belgium",
    null,
    falseOrigin("latitude_of_origin", "central_meridian"),
    [],
  ),
  "lambert-conic-michigan": method(
    1051,
    "Lambert Conic Conformal (2SP Michigan)",
    null,
    null,
    [...falseOrigin("latitude_of_origin", "central_meridian"), ["ellipsoidScale", 1038, "ellipsoid_scaling_factor"]],
    [],
  ),
  "lambert-conic-west": method(
    9826,
    "Lambert Conic Conformal (West Orientated)",
    null,
    null,
    [...natural, scale, fe, fn],
    [],
  ),
  "mercator-a": method(9804, "Mercator (variant A)", "Mercator_1SP", null, [...natural, scale, fe, fn], []),
  "mercator-b": method(
    9805,
    "Mercator (variant B)",
    "Mercator_2SP",
    "Mercator",
    [parallel1, meridian, fe, fn],
    esriParallel,
  ),
  "web-mercator": method(
    1024,
    "Popular Visualisation Pseudo Mercator",
    "Mercator_1SP",
    "Mercator_Auxiliary_Sphere",
    [...natural, fe, fn],
    [...xyMeridian, ["Standard_Parallel_1", 0], ["Auxiliary_Sphere_Type", 0]],
  ),
  cassini: method(
    9806,
    "Cassini-Soldner",
    "Cassini_Soldner",
    "Cassini",
    [...natural, fe, fn],
    [...xyMeridian, ["Scale_Factor", 1], ["Latitude_Of_Origin", "lat0"]],
  ),
  "oblique-stereographic": method(
    9809,
    "Oblique Stereographic",
    "Oblique_Stereographic",
    "Double_Stereographic",
    [...natural, scale, fe, fn],
    esriScaled,
  ),
  "polar-stereographic-a": method(
    9810,
    "Polar Stereographic (variant A)",
    "Polar_Stereographic",
    null,
    [...natural, scale, fe, fn],
    [],
  ),
  "polar-stereographic-b": method(
    9829,
    "Polar Stereographic (variant B)",
    "Polar_Stereographic",
    "Stereographic_North_Pole",
    [["lat1", 8832, "latitude_of_origin"], ["lon0", 8833, "central_meridian"], fe, fn],
    esriParallel,
  ),
  "polar-stereographic-c": method(
    9830,
    "Polar Stereographic (variant C)",
    null,
    null,
    [
      ["lat1", 8832, "latitude_of_origin"],
      ["lon0", 8833, "central_meridian"],
      ["x0", 8826, "false_easting"],
      ["y0", 8827, "false_northing"],
    ],
    [],
  ),
  stereographic: method(
    null,
    "Stereographic",
    "Stereographic",
    "Stereographic",
    [...natural, scale, fe, fn],
    esriScaled,
  ),
  "new-zealand": method(
    9811,
    "New Zealand Map Grid",
    "New_Zealand_Map_Grid",
    "New_Zealand_Map_Grid",
    [...natural, fe, fn],
    [...xy, ["Longitude_Of_Origin", "lon0"], ["Latitude_Of_Origin", "lat0"]],
  ),
  "oblique-mercator-a": method(
    9812,
    "Hotine Oblique Mercator (variant A)",
    "Hotine_Oblique_Mercator",
    "Hotine_Oblique_Mercator_Azimuth_Natural_Origin",
    [...oblique, fe, fn],
    esriOblique,
  ),
  "oblique-mercator-b": method(
    9815,
    "Hotine Oblique Mercator (variant B)",
    "Hotine_Oblique_Mercator_Azimuth_Center",
    "Hotine_Oblique_Mercator_Azimuth_Center",
    [...oblique, centreEasting, centreNorthing],
    esriOblique,
  ),
  laborde: method(
    9813,
    "Laborde Oblique Mercator",
    "Laborde_Oblique_Mercator",
    "Laborde_Oblique_Mercator",
    [...turned, fe, fn],
    esriOblique,
  ),
  polyconic: method(9818, "American Polyconic", "Polyconic", "Polyconic", [...natural, fe, fn], esriNatural),
  krovak: method(9819, "Krovak", null, "Krovak", krovak, esriKrovak(1, 0)),
  "krovak-north": method(1041, "Krovak (North Orientated)", "Krovak", "Krovak", krovak, esriKrovak(-1, 90)),
  "lambert-azimuthal": method(
    9820,
    "Lambert Azimuthal Equal Area",
    "Lambert_Azimuthal_Equal_Area",
    "Lambert_Azimuthal_Equal_Area",
    [...centred, fe, fn],
    esriNatural,
  ),
  "lambert-azimuthal-spherical": method(
    1027,
    "Lambert Azimuthal Equal Area (Spherical)",
    null,
    null,
    [...centred, fe, fn],
    [],
  ),
  "equal-area-cylindrical-spherical": method(
    9834,
    "Lambert Cylindrical Equal Area (Spherical)",
    null,
    null,
    [parallel1, meridian, fe, fn],
    [],
  ),
  albers: method(
    9822,
    "Albers Equal Area",
    "Albers_Conic_Equal_Area",
    "Albers",
    falseOrigin("latitude_of_center", "longitude_of_center"),
    esriConic,
  ),
  "equidistant-cylindrical": method(
    1028,
    "Equidistant Cylindrical",
    "Equirectangular",
    "Equidistant_Cylindrical_Ellipsoidal",
    [parallel1, meridian, fe, fn],
    esriParallel,
  ),
  "equidistant-cylindrical-spherical": method(
    1029,
    "Equidistant Cylindrical (Spherical)",
    null,
    "Equidistant_Cylindrical",
    [parallel1, meridian, fe, fn],
    esriParallel,
  ),
  "equal-area-cylindrical": method(
    9835,
    "Lambert Cylindrical Equal Area",
    "Cylindrical_Equal_Area",
    "Cylindrical_Equal_Area",
    [parallel1, meridian, fe, fn],
    esriParallel,
  ),
  "equidistant-conic": method(
    1119,
    "Equidistant Conic",
    "Equidistant_Conic",
    "Equidistant_Conic",
    falseOrigin("latitude_of_center", "longitude_of_center"),
    esriConic,
  ),
  "azimuthal-equidistant": method(
    9832,
    "Modified Azimuthal Equidistant",
    "Azimuthal_Equidistant",
    "Azimuthal_Equidistant",
    [...centred, fe, fn],
    esriNatural,
  ),
  orthographic: method(9840, "Orthographic", "Orthographic", null, [...natural, fe, fn], []),
  "orthographic-local": method(
    1130,
    "Local Orthographic",
    "Local Orthographic",
    "Local",
    [...turned, centreEasting, centreNorthing],
    esriOblique,
  ),
  gnomonic: method(null, "Gnomonic", "Gnomonic", "Gnomonic", [...natural, fe, fn], esriCentred),
  "orthographic-spherical": method(
    null,
    "Orthographic (Spherical)",
    null,
    "Orthographic",
    [...natural, fe, fn],
    esriCentred,
  ),
  "bonne-south": method(9828, "Bonne (South Orientated)", null, null, [...natural, fe, fn], []),
  "cassini-hyperbolic": method(9833, "Hyperbolic Cassini-Soldner", null, null, [...natural, fe, fn], []),
  guam: method(9831, "Guam Projection", null, null, [...natural, fe, fn], []),
  "lambert-conic-near-conformal": method(
    9817,
    "Lambert Conic Near-Conformal",
    null,
    null,
    [...natural, scale, fe, fn],
    [],
  ),
  "krovak-modified": method(1042, "Krovak Modified", null, null, krovak, []),
  "krovak-modified-north": method(1043, "Krovak Modified (North Orientated)", null, null, krovak, []),
  "transverse-mercator-zoned": method(
    9824,
    "Transverse Mercator Zoned Grid System",
    null,
    null,
    [
      ["lat0", 8801, "latitude_of_origin"],
      ["initialLongitude", 8830, "initial_longitude"],
      ["zoneWidth", 8831, "zone_width"],
      scale,
      fe,
      fn,
    ],
    [],
  ),
  "tunisia-mining": method(
    9816,
    "Tunisia Mining Grid",
    null,
    null,
    [
      ["lat0", 8821, "latitude_of_false_origin"],
      ["lon0", 8822, "longitude_of_false_origin"],
      ["x0", 8826, "false_easting"],
      ["y0", 8827, "false_northing"],
    ],
    [],
  ),
  bonne: method(
    9827,
    "Bonne",
    "Bonne",
    "Bonne",
    [["lat0", 8801, "standard_parallel_1"], meridian, fe, fn],
    [...xyMeridian, ["Standard_Parallel_1", "lat0"]],
  ),
  "colombia-urban": method(
    1052,
    "Colombia Urban",
    null,
    "IGAC_Plano_Cartesiano",
    [...natural, fe, fn, ["height", 1039, "projection_plane_origin_height"]],
    [...xy, ["Longitude_Of_Center", "lon0"], ["Latitude_Of_Center", "lat0"], ["Height", "height"]],
  ),
  ...worldMethods,
} as const satisfies Record<string, Method>;

export type MethodId = keyof typeof methods;

/** Of a map whose formulas on a sphere are those of another method, that method's name for it there. */
export const onSphere: Readonly<Partial<Record<MethodId, MethodId>>> = {
  "equidistant-cylindrical": "equidistant-cylindrical-spherical",
  // WKT 1 and ESRI have the sphere's under the names of the ellipsoid's.
  "lambert-azimuthal-spherical": "lambert-azimuthal",
  "equal-area-cylindrical-spherical": "equal-area-cylindrical",
};

export const methodOf = (id: MethodId): Method => methods[id];
