import { fault } from "../errors.js";
import type { Crs } from "../model/layer.js";
import type { CrsContext } from "../plugin/format.js";

export const wgs84: Crs = { id: "EPSG:4326", name: "WGS 84", definition: "EPSG:4326", kind: "geographic" };

const names = /^(EPSG:(:|\/0\/)?4326|OGC:CRS84|CRS:84|WGS84|WGS 84|4326)$/i;
const links =
  /^(urn:ogc:def:crs:(EPSG:[^:]*:4326|OGC:[^:]*:CRS84)|https?:\/\/www\.opengis\.net\/(def\/crs\/(EPSG\/[^/]*\/4326|OGC\/[^/]*\/CRS84)|gml\/srs\/epsg\.xml#4326))$/i;
const plainWkt = /^GEOGCS\["(GCS_WGS_1984|WGS 84)"/i;

const text = {
  esri: 'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]',
  wkt1: 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]',
  wkt2: 'GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],AXIS["geodetic latitude (Lat)",north,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],AXIS["geodetic longitude (Lon)",east,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]],ID["EPSG",4326]]',
} as const;

export const crsContext: CrsContext = {
  wgs84,
  async parse(definition) {
    const trimmed = definition.replace(/^\uFEFF/, "").trim();
    if (names.test(trimmed) || links.test(trimmed) || plainWkt.test(trimmed)) return wgs84;
    throw fault("crs-unknown", { text: trimmed });
  },
  async wkt(crs, flavour) {
    return crs.id === "EPSG:4326" ? text[flavour] : null;
  },
};
