/** A parameter of a map projection, independent of its name in a dialect. */
export type ParameterKey =
  | "lat0"
  | "lon0"
  | "lat1"
  | "lat2"
  | "lon1"
  | "lon2"
  | "k"
  | "x0"
  | "y0"
  | "azimuth"
  | "gamma"
  | "colatitude"
  | "pseudoParallel"
  | "ellipsoidScale"
  | "height"
  | "initialLongitude"
  | "zoneWidth";

/** Parameter keys by every known name, normalized. */
export const parameterKeysByName: Readonly<Record<string, ParameterKey>> = {
  latitudeoforigin: "lat0",
  latitudeofcenter: "lat0",
  latitudeofcentre: "lat0",
  centralparallel: "lat0",
  latitudeofnaturalorigin: "lat0",
  latitudeoffalseorigin: "lat0",
  latitudeofprojectioncentre: "lat0",
  latitudeofprojectioncenter: "lat0",
  centralmeridian: "lon0",
  longitudeoforigin: "lon0",
  longitudeofcenter: "lon0",
  longitudeofcentre: "lon0",
  longitudeofnaturalorigin: "lon0",
  longitudeoffalseorigin: "lon0",
  longitudeofprojectioncentre: "lon0",
  longitudeofprojectioncenter: "lon0",
  standardparallel1: "lat1",
  latitudeof1ststandardparallel: "lat1",
  latitudeofstandardparallel: "lat1",
  standardparallel2: "lat2",
  latitudeof2ndstandardparallel: "lat2",
  scalefactor: "k",
  scalefactoratnaturalorigin: "k",
  scalefactoroninitialline: "k",
  scalefactoronpseudostandardparallel: "k",
  scalefactoratprojectioncentre: "k",
  falseeasting: "x0",
  eastingatfalseorigin: "x0",
  eastingatprojectioncentre: "x0",
  falsenorthing: "y0",
  northingatfalseorigin: "y0",
  northingatprojectioncentre: "y0",
  azimuth: "azimuth",
  azimuthofinitialline: "azimuth",
  azimuthatprojectioncentre: "azimuth",
  rectifiedgridangle: "gamma",
  anglefromrectifiedtoskewgrid: "gamma",
  colatitudeofconeaxis: "colatitude",
  pseudostandardparallel1: "pseudoParallel",
  latitudeofpseudostandardparallel: "pseudoParallel",
  ellipsoidscalingfactor: "ellipsoidScale",
  projectionplaneoriginheight: "height",
  height: "height",
  satelliteheight: "height",
  latitudeof1stpoint: "lat1",
  longitudeof1stpoint: "lon1",
  latitudeof2ndpoint: "lat2",
  longitudeof2ndpoint: "lon2",
  initiallongitude: "initialLongitude",
  zonewidth: "zoneWidth",
};

/** EPSG's names of parameters, as WKT2 writes them. */
export const epsgParameterNames: Readonly<Record<number, string>> = {
  8801: "Latitude of natural origin",
  8802: "Longitude of natural origin",
  8805: "Scale factor at natural origin",
  8806: "False easting",
  8807: "False northing",
  8811: "Latitude of projection centre",
  8812: "Longitude of projection centre",
  8813: "Azimuth at projection centre",
  8814: "Angle from Rectified to Skew Grid",
  8815: "Scale factor at projection centre",
  8816: "Easting at projection centre",
  8817: "Northing at projection centre",
  8818: "Latitude of pseudo standard parallel",
  8819: "Scale factor on pseudo standard parallel",
  8821: "Latitude of false origin",
  8822: "Longitude of false origin",
  8823: "Latitude of 1st standard parallel",
  8824: "Latitude of 2nd standard parallel",
  8826: "Easting at false origin",
  8827: "Northing at false origin",
  8830: "Initial longitude",
  8831: "Zone width",
  8832: "Latitude of standard parallel",
  8833: "Longitude of origin",
  1036: "Co-latitude of cone axis",
  1038: "Ellipsoid scaling factor",
  1039: "Projection plane origin height",
};

export const isLengthParameter = (key: ParameterKey): boolean => key === "x0" || key === "y0" || key === "height";
export const isRatioParameter = (key: ParameterKey): boolean => key === "k" || key === "ellipsoidScale";
