/** Flags of ogr2ogr and mapshaper, which people type from habit: what each is here, and the command that was meant. */

/** A flag of another tool. */
interface ForeignFlagSpec {
  /** How many values follow it. */
  readonly valueCount: number;
  /** What to say of it, after its name. */
  readonly explanation: string;
  /** The same as arguments of geoferry; null where it needs a person's decision. Absent: it is left away. */
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

/** Names of GDAL's drivers whose formats geoferry has itself. */
const drivers: Readonly<Record<string, string>> = {
  "esri shapefile": "shapefile",
  geojson: "geojson",
  geojsonseq: "geojsonseq",
  gpkg: "geopackage",
  csv: "csv",
  kml: "kml",
  libkml: "kml",
  gpx: "gpx",
};

const formatOf = (driver: string): string => drivers[driver.toLowerCase()] ?? `gdal:${driver}`;

/** Kinds of geometry by the names that `-nlt` takes. */
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
  undecided(`is --${flag} key=value here, and the keys are geoferry's own: geoferry formats NAME lists them`);
const clip = absent("cuts no geometry", "--bbox west,south,east,north keeps whole features that meet a box");

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
  overwrite: same("overwrite", 0),
  append: same("append", 0),
  update: undecided(
    "is --append here, which adds to the output, or --replace-layer, which replaces one layer of it",
    0,
  ),
  upsert: absent(
    "compares with no output",
    "--replace-layer replaces a layer, and push updates the map of a service",
    0,
  ),
  makevalid: same("make-valid", 0),
  skipfailures: unneeded(
    "is not needed here: features that cannot be carried go to OUTPUT.rejects.geojsonl, and --skip-errors reads past damage of a file",
  ),
  progress: unneeded("is not needed here: a terminal shows the progress"),
  gt: unneeded("is not needed here", 1),
  preserve_fid: unneeded("is not needed here: ids are kept where the output has a place for them"),
  lco: keysOf("out"),
  dsco: keysOf("out"),
  oo: keysOf("in"),
  doo: keysOf("out"),
  sql: absent("runs no SQL", "--layer, --where, --select, --rename, --cast and --limit do a part of it"),
  dialect: absent("runs no SQL", "--where has a syntax of its own (docs/where.md)"),
  clipsrc: clip,
  clipdst: clip,
  simplify: absent("changes no shapes", "simplify the output with another program"),
  segmentize: absent("changes no shapes", "do it with another program"),
  explodecollections: absent(
    "does not take collections apart",
    "--geometry-type point, line or polygon keeps one kind",
    0,
  ),
  mapfieldtype: undecided("is --cast here, by the name of a field: --cast population=integer"),
  fieldtypetostring: undecided("is --cast here, by the name of a field: --cast name=text"),
  wrapdateline: absent("cuts no geometry at the antimeridian", "leave it away", 0),
  fid: undecided("has no counterpart: where the id is a field, --where picks a feature by it"),
  dim: undecided("has no counterpart: dimensions are kept where the output has a place for them"),
  zfield: undecided("has no counterpart: --in z=FIELD reads heights of a CSV, as geoferry formats csv says"),
  so: unneeded("is not needed here: geoferry info shows a summary of every layer"),
  al: unneeded("is not needed here: geoferry info shows a summary of every layer"),
  ro: unneeded("is not needed here: inputs are never changed"),
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
  filter: undecided("is --where here, in the syntax of SQL: --where \"population > 1e6 and name like 'B%'\""),
  "filter-fields": same("select"),
  "rename-fields": undecided("is --rename here, with the old name first: --rename old=new"),
  clean: same("make-valid", 0),
  clip,
  erase: clip,
  dissolve: absent("joins no geometry", "do it with another program"),
  each: absent("computes no fields", "--select, --rename and --cast are what it does with fields"),
  join: absent("joins no tables", "do it with another program"),
  info: undecided("is geoferry info INPUT here", 0),
};

/** What was meant by long flags that other tools have, or that could be called so. */
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

/** The flag of geoferry that one of another tool stands for, among those of the command; null where none does. */
export function synonymOf(name: string, known: Readonly<Record<string, unknown>>): string | null {
  const found = synonyms[name.toLowerCase()];
  return found !== undefined && Object.hasOwn(known, found) ? found : null;
}

/** A flag of another tool with the values that follow it. */
export interface ForeignFlag {
  /** As it was typed: "-t_srs". */
  readonly text: string;
  readonly explanation: string;
  /** What stands for it here; null where that needs a person's decision. */
  readonly replacement: readonly string[] | null;
  /** How many arguments it takes, itself among them. */
  readonly length: number;
}

/** The flag of another tool that the line has at a place, or null. */
export function foreignAt(line: readonly string[], at: number): ForeignFlag | null {
  const typed = line[at]!;
  const [, dashes, letters, value] = /^(--?)([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(typed) ?? [];
  if (dashes === undefined || letters === undefined) return null;
  const name = letters.toLowerCase();
  const foreign =
    entryOf(gdalFlags, name.replaceAll("-", "_")) ?? (dashes === "-" ? entryOf(mapshaperFlags, name) : undefined);
  // A letter behind two dashes is no flag of those tools.
  if (!foreign || (dashes === "--" && name.length === 1)) return null;
  const follow = value === undefined ? line.slice(at + 1, at + 1 + foreign.valueCount) : [value];
  const isWhole = value !== undefined || follow.length === foreign.valueCount;
  const replacement = foreign.toArguments ? (isWhole ? foreign.toArguments(follow) : null) : [];
  const taken = value === undefined ? follow.length : 0;
  return { text: `${dashes}${letters}`, explanation: foreign.explanation, replacement, length: 1 + taken };
}

const entryOf = (table: Readonly<Record<string, ForeignFlagSpec>>, name: string): ForeignFlagSpec | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
