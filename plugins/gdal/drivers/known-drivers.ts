/** A GDAL driver whose files are recognized, even if GDAL is not installed. */
export interface KnownDriver {
  /** GDAL's name of the driver. */
  readonly driver: string;
  readonly label: string;
  readonly extensions: readonly string[];
  /** Extensions of files beside the main one. */
  readonly companions?: readonly string[];
  /** Extensions of datasets that are folders. */
  readonly folders?: readonly string[];
  /** Extensions of zips of such a folder. */
  readonly zips?: readonly string[];
  readonly writes?: true;
  /** Tests the first bytes of a file; if absent, only the extension counts. */
  readonly signature?: (head: Buffer) => boolean;
}

const startsWithBytes =
  (bytes: string) =>
  (head: Buffer): boolean =>
    head.subarray(0, bytes.length).toString("latin1") === bytes;

const matchesPattern =
  (pattern: RegExp) =>
  (head: Buffer): boolean =>
    pattern.test(head.subarray(0, 4096).toString("latin1"));

/** Formats without a plugin of their own. */
export const knownDrivers: readonly KnownDriver[] = [
  {
    driver: "GML",
    label: "Geography Markup Language",
    extensions: ["gml"],
    companions: ["xsd", "gfs"],
    writes: true,
    // A built-in format reads it.
    signature: () => false,
  },
  {
    driver: "MapInfo File",
    label: "MapInfo TAB and MID/MIF",
    extensions: ["tab", "mif"],
    companions: ["dat", "map", "id", "ind", "mid"],
    writes: true,
    signature: matchesPattern(
      /^\s*(!table\s*!version|version\s+\d+\s*(charset|delimiter|columns|unique|index|coordsys)\b)/i,
    ),
  },
  {
    driver: "DXF",
    label: "AutoCAD DXF",
    extensions: ["dxf"],
    writes: true,
    signature: matchesPattern(/^(\s*999\s*\r?\n[^\n]*\n)*\s*0\s*\r?\n\s*SECTION\s*\r?\n/),
  },
  {
    driver: "OpenFileGDB",
    label: "Esri File Geodatabase",
    extensions: ["gdb", "gdb.zip"],
    folders: ["gdb"],
    zips: ["gdb.zip"],
    writes: true,
  },
  {
    driver: "Arrow",
    label: "GeoArrow IPC",
    extensions: ["arrow", "feather"],
    writes: true,
    signature: startsWithBytes("ARROW1"),
  },
  { driver: "OSM", label: "OpenStreetMap", extensions: ["osm", "pbf"] },
  { driver: "DGN", label: "MicroStation DGN 7", extensions: ["dgn"], writes: true },
  { driver: "CAD", label: "AutoCAD DWG", extensions: ["dwg"] },
  { driver: "S57", label: "S-57 nautical chart", extensions: ["000"] },
  {
    driver: "JML",
    label: "OpenJUMP JML",
    extensions: ["jml"],
    writes: true,
    signature: matchesPattern(/<JCSDataFile\b/),
  },
  {
    driver: "OGR_GMT",
    label: "GMT ASCII vectors",
    extensions: ["gmt"],
    writes: true,
    signature: startsWithBytes("# @VGMT"),
  },
  { driver: "MBTiles", label: "MBTiles with vector tiles", extensions: ["mbtiles"] },
  {
    driver: "PMTiles",
    label: "PMTiles with vector tiles",
    extensions: ["pmtiles"],
    signature: startsWithBytes("PMTiles"),
  },
  { driver: "MapML", label: "MapML", extensions: ["mapml"], writes: true },
  { driver: "AVCE00", label: "Arc/Info E00", extensions: ["e00"] },
  { driver: "SXF", label: "Panorama SXF", extensions: ["sxf"], signature: startsWithBytes("SXF\0") },
  { driver: "VFK", label: "Czech cadastral exchange", extensions: ["vfk"] },
  { driver: "Idrisi", label: "Idrisi vectors", extensions: ["vct"], companions: ["vdc", "avl", "adc"] },
  { driver: "Interlis 1", label: "INTERLIS 1", extensions: ["itf"] },
  { driver: "Interlis 2", label: "INTERLIS 2", extensions: ["xtf"] },
  { driver: "PGDUMP", label: "PostgreSQL SQL dump", extensions: ["sql"], writes: true },
];

/**
 * Drivers that follow references in a file to other files, programs or the network, or run code in it. Used only if named
 * explicitly (`--from gdal:OGR_VRT`).
 */
export const referencingDrivers: ReadonlySet<string> = new Set([
  ...["OGR_VRT", "VRT", "GMLAS", "PDS4", "OGR_PDS", "SQLite", "GPSBabel", "OGR_OGDI", "EDIGEO", "OGR_SDTS"],
  ...["WFS", "OAPIF", "OGCAPI", "CSW", "HTTP", "Elasticsearch", "Carto", "AmigoCloud", "NGW", "PLSCENES", "EEDA"],
  ...["PostgreSQL", "MySQL", "MSSQLSpatial", "ODBC", "PGeo", "OCI", "HANA", "IDB", "MongoDBv3", "DODS", "Memory"],
]);

/** Drivers that read folders; with `--from`, a folder of any name. */
export const folderDrivers: ReadonlySet<string> = new Set(["AVCBin", "TIGER", "MVT", "OpenFileGDB", "LVBAG"]);
