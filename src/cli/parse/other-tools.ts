/** Flags of ogr2ogr and mapshaper, with explanations and the equivalent flags of geoferry. */

interface ForeignFlagSpec {
  /** Number of values that follow the flag. */
  readonly valueCount: number;
  /** Follows the name of the flag in the message. */
  readonly explanation: string;
  /** The equivalent arguments of geoferry; null if the user must decide. Absent: the flag is dropped. */
  readonly toArguments?: (values: readonly string[]) => readonly string[] | null;
}

const same = (flag: string, valueCount = 1): ForeignFlagSpec => ({
  valueCount,
  explanation: `is --${flag} here`,
  toArguments: (values) => [`--${flag}`, ...values],
});
const unneeded = (explanation: string, valueCount = 0): ForeignFlagSpec => ({ valueCount, explanation });
const undecided = (explanation: string, valueCount = 1): ForeignFlagSpec => ({
  valueCount,
  explanation,
  toArguments: () => null,
});
const absent = (what: string, instead: string, takes = 1): ForeignFlagSpec =>
  undecided(`has no counterpart, as geoferry ${what}; ${instead}`, takes);

/** GDAL driver names with a built-in format of geoferry. */
const drivers: Readonly<Record<string, string>> = {
  "esri shapefile": "shapefile",
  geojson: "geojson",
  geojsonseq: "geojsonseq",
  gpkg: "geopackage",
  csv: "csv",
  kml: "kml",
  libkml: "kml",
  gpx: "gpx",
  parquet: "geoparquet",
  flatgeobuf: "flatgeobuf",
  topojson: "topojson",
  xlsx: "xlsx",
  ods: "ods",
};

const formatOf = (driver: string): string => drivers[driver.toLowerCase()] ?? `gdal:${driver}`;

/** Geometry types of `-nlt`. */
const kinds: Readonly<Record<string, string>> = {
  promote_to_multi: "multi",
  multipoint: "multi",
  multilinestring: "multi",
  multipolygon: "multi",
  point: "point",
  linestring: "line",
  polygon: "polygon",
};

const kindOf = (type: string): readonly string[] | null => {
  const kind = kinds[type.toLowerCase()];
  return kind === undefined ? null : ["--geometry-type", kind];
};

const format: ForeignFlagSpec = {
  valueCount: 1,
  explanation: "is --to here",
  toArguments: ([name]) => ["--to", formatOf(name!)],
};
const keysOf = (flag: "in" | "out") =>
  undecided(`is --${flag} key=value here, and the keys are geoferry's own: geoferry formats FORMAT lists them`);
const clip = absent(
  "does not clip geometries",
  "--bbox west,south,east,north keeps whole features that intersect a box",
);

/** https://gdal.org/programs/ogr2ogr.html, and ogrinfo's flags for a summary. */
const gdalFlags: Readonly<Record<string, ForeignFlagSpec>> = {
  t_srs: same("target-crs"),
  s_srs: same("source-crs"),
  a_srs: {
    valueCount: 1,
    explanation: "is --source-crs with --no-reproject here",
    toArguments: ([crs]) => ["--source-crs", crs!, "--no-reproject"],
  },
  f: format,
  of: format,
  if: { valueCount: 1, explanation: "is --from here", toArguments: ([name]) => ["--from", formatOf(name!)] },
  where: same("where"),
  select: same("select"),
  limit: same("limit"),
  nln: same("layer-name"),
  nlt: {
    valueCount: 1,
    explanation: "is --geometry-type here, which takes point, line, polygon or multi",
    toArguments: ([type]) => kindOf(type!),
  },
  spat: {
    valueCount: 4,
    explanation: "is --bbox here, in the coordinates of the output",
    toArguments: (box) => [`--bbox=${box.join(",")}`],
  },
  spat_srs: undecided("has no counterpart: --bbox is in the coordinates of the output"),
  overwrite: {
    valueCount: 0,
    explanation: "is --overwrite here, which replaces the whole file; --replace-layer replaces one layer of it",
    toArguments: () => ["--overwrite"],
  },
  append: same("append", 0),
  update: undecided(
    "is --append here, which adds to the output, or --replace-layer, which replaces one layer of it",
    0,
  ),
  upsert: absent(
    "does not compare with an existing output",
    "--replace-layer replaces a layer, and push updates the map of a service",
    0,
  ),
  makevalid: same("make-valid", 0),
  skipfailures: unneeded(
    "is not needed here: rejected features go to OUTPUT.rejects.geojsonl, and --skip-errors skips corrupt parts of a file",
  ),
  progress: unneeded("is not needed here: progress is shown on a terminal"),
  gt: unneeded("is not needed here", 1),
  preserve_fid: unneeded("is not needed here: ids are kept if the output format supports them"),
  lco: keysOf("out"),
  dsco: keysOf("out"),
  oo: keysOf("in"),
  doo: keysOf("out"),
  sql: absent("does not run SQL", "use --layer, --where, --select, --rename, --cast and --limit"),
  dialect: absent("does not run SQL", "--where has its own syntax (docs/where.md)"),
  clipsrc: clip,
  clipdst: clip,
  simplify: absent("does not simplify geometries", "simplify the output with another program"),
  segmentize: absent("does not segmentize geometries", "use another program"),
  explodecollections: absent("does not split collections", "--geometry-type point, line or polygon keeps one kind", 0),
  mapfieldtype: undecided("is --cast here, with the name of a field: --cast population=integer"),
  fieldtypetostring: undecided("is --cast here, with the name of a field: --cast name=text"),
  wrapdateline: absent("does not split geometries at the antimeridian", "remove the flag", 0),
  fid: undecided("has no counterpart: if the id is a field, use --where"),
  dim: undecided("has no counterpart: dimensions are kept if the output format supports them"),
  zfield: undecided("has no counterpart: --in z=FIELD reads heights of a CSV (see geoferry formats csv)"),
  so: unneeded("is not needed here: geoferry info shows a summary of every layer"),
  al: unneeded("is not needed here: geoferry info shows a summary of every layer"),
  ro: unneeded("is not needed here: inputs are never modified"),
};

/** https://github.com/mbloch/mapshaper/wiki/Command-Reference */
const mapshaperFlags: Readonly<Record<string, ForeignFlagSpec>> = {
  i: { valueCount: 1, explanation: "is not needed here: INPUT comes first", toArguments: (input) => input },
  o: { valueCount: 1, explanation: "is not needed here: OUTPUT comes last", toArguments: (output) => output },
  proj: {
    valueCount: 1,
    explanation: "is --target-crs here",
    toArguments: ([crs]) => [
      "--target-crs",
      /^wgs84$/i.test(crs!) ? "EPSG:4326" : /^webmercator$/i.test(crs!) ? "EPSG:3857" : crs!,
    ],
  },
  filter: undecided("is --where here, with SQL-like syntax: --where \"population > 1e6 and name like 'B%'\""),
  "filter-fields": same("select"),
  "rename-fields": undecided("is --rename here, with the old name first: --rename old=new"),
  clean: same("make-valid", 0),
  clip,
  erase: clip,
  dissolve: absent("does not dissolve geometries", "use another program"),
  each: absent("does not compute fields", "--select, --rename and --cast change fields"),
  join: absent("does not join tables", "use another program"),
  info: undecided("is geoferry info INPUT here", 0),
};

/** Long flags of other tools, or likely guesses, with the equivalent flag. */
const synonyms: Readonly<Record<string, string>> = {
  format: "to",
  "output-format": "to",
  "input-format": "from",
  output: "to",
  crs: "target-crs",
  srs: "target-crs",
  epsg: "target-crs",
  "to-crs": "target-crs",
  "from-crs": "source-crs",
  projection: "target-crs",
  filter: "where",
  query: "where",
  fields: "select",
  columns: "select",
  extent: "bbox",
  bounds: "bbox",
  force: "overwrite",
  replace: "overwrite",
  clobber: "overwrite",
  encoding: "in",
  delimiter: "in",
  threads: "workers",
  jobs: "workers",
  head: "limit",
  count: "limit",
  type: "geometry-type",
  "skip-failures": "skip-errors",
  silent: "quiet",
  debug: "verbose",
};

/** The flag of the command that corresponds to a flag of another tool, or null. */
export function synonymOf(name: string, known: Readonly<Record<string, unknown>>): string | null {
  const found = synonyms[name.toLowerCase()];
  return found !== undefined && Object.hasOwn(known, found) ? found : null;
}

/** A flag of another tool with the values that follow it. */
export interface ForeignFlag {
  /** As typed: "-t_srs". */
  readonly text: string;
  readonly explanation: string;
  /** The equivalent arguments; null if the user must decide. */
  readonly replacement: readonly string[] | null;
  /** Number of arguments, including the flag itself. */
  readonly length: number;
}

/** The flag of another tool at a position of the line, or null. */
export function foreignAt(line: readonly string[], at: number): ForeignFlag | null {
  const typed = line[at]!;
  const [, dashes, letters, value] = /^(--?)([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(typed) ?? [];
  if (dashes === undefined || letters === undefined) return null;
  const name = letters.toLowerCase();
  const foreign =
    entryOf(gdalFlags, name.replaceAll("-", "_")) ?? (dashes === "-" ? entryOf(mapshaperFlags, name) : undefined);
  // Those tools have no one-letter flags with two dashes.
  if (!foreign || (dashes === "--" && name.length === 1)) return null;
  const follow = value === undefined ? line.slice(at + 1, at + 1 + foreign.valueCount) : [value];
  const isWhole = value !== undefined || follow.length === foreign.valueCount;
  const replacement = foreign.toArguments ? (isWhole ? foreign.toArguments(follow) : null) : [];
  const taken = value === undefined ? follow.length : 0;
  return { text: `${dashes}${letters}`, explanation: foreign.explanation, replacement, length: 1 + taken };
}

const entryOf = (table: Readonly<Record<string, ForeignFlagSpec>>, name: string): ForeignFlagSpec | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
