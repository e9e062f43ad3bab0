/** Programs beside ogr2ogr that the bench compares, where they are installed: how each does the same, and what it cannot do. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { formats } from "./ogr2ogr.mjs";

function isReadable(path) {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A program: at `given`, or of that name on PATH; null without one. @throws if there is none at `given` */
function findProgram(name, given) {
  const places = given ? [given] : process.env.PATH.split(delimiter).map((folder) => join(folder, name));
  const found = places.find(isReadable);
  if (given && !found) throw new Error(`there is no ${name} at ${given}`);
  return found ?? null;
}

const outputOf = (command, args) => spawnSync(command, args, { encoding: "utf8" }).stdout?.trim() ?? "";

const mapshaper = {
  name: "mapshaper",
  /** The script, which Node runs. */
  find(given) {
    const found = findProgram("mapshaper", given);
    return found && realpathSync(found);
  },
  version: (script) => outputOf(process.execPath, [script, "--version"]),
  why({ from, to, geometry }) {
    if (from === "gpx") return "reads no GPX";
    if (to === "gpx") return "writes no GPX";
    if (from === "csv" && geometry !== "points") return "reads no geometry from CSV but points";
    if (to === "csv" && geometry !== "points") return "writes no geometry to CSV";
    return null;
  },
  /** It keeps everything in memory, which exceeds Node's default heap limit. */
  call: (script, { from, to, input }, output) => ({
    command: process.execPath,
    args: [
      ...["--max-old-space-size=8192", script],
      ...["-i", input, "encoding=utf8"],
      ...(from === "csv" ? ["-points", "x=lon", "y=lat"] : []),
      ...(to === "csv" && from !== "csv" ? ["-each", "lon = this.x, lat = this.y"] : []),
      ...["-o", output],
    ],
  }),
};

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/** DuckDB's own code for CSV; the GDAL of its extension `spatial`, which must be installed, for other formats. */
const duckdb = {
  name: "duckdb",
  find: (given) => findProgram("duckdb", given),
  version: (program) => outputOf(program, ["--version"]).split(" ")[0],
  why({ from, to }, program) {
    if ([from, to].some((format) => format === "kml" || format === "gpx")) return "not compared";
    if (from === "csv" && to === "csv") return null;
    const hasSpatial = spawnSync(program, ["-c", "LOAD spatial"]).status === 0;
    return hasSpatial ? null : "needs its extension spatial";
  },
  call(program, { from, to, geometry, input }, output) {
    if (from === "csv" && to === "csv") {
      const copy = `COPY (FROM read_csv(${quoted(input)})) TO ${quoted(output)} (HEADER);`;
      return { command: program, args: ["-c", copy] };
    }
    const isPoints = geometry === "points";
    const fromCsv = isPoints
      ? `SELECT * EXCLUDE (lon, lat), ST_Point(lon, lat) AS geom FROM read_csv(${quoted(input)})`
      : `SELECT * EXCLUDE (wkt), ST_GeomFromText(wkt) AS geom FROM read_csv(${quoted(input)})`;
    const rows = from === "csv" ? fromCsv : `SELECT * FROM ST_Read(${quoted(input)})`;
    const asText = isPoints ? "ST_X(geom) AS lon, ST_Y(geom) AS lat" : "ST_AsText(geom) AS wkt";
    const [driver] = formats[to].drivers;
    const settings = [
      "FORMAT GDAL",
      `DRIVER ${quoted(driver.name)}`,
      "SRS 'EPSG:4326'",
      ...(driver.writing ? [`LAYER_CREATION_OPTIONS ${quoted(driver.writing(geometry)[1])}`] : []),
    ];
    const copy =
      to === "csv"
        ? `COPY (SELECT ${asText}, * EXCLUDE (geom) FROM (${rows})) TO ${quoted(output)} (HEADER)`
        : `COPY (${rows}) TO ${quoted(output)} WITH (${settings.join(", ")})`;
    return { command: program, args: ["-c", `LOAD spatial; ${copy};`] };
  },
};

/** Reads with GDAL's Arrow interface and writes what it read, without pandas between. */
const pyogrioScript = `
import sys
import pyogrio
source, target, driver, geometry = sys.argv[1:5]
given = [pair.split("=", 1) for pair in sys.argv[5:]]
reading = {name[1:]: value for name, value in given if name[0] == "<"}
writing = {name[1:]: value for name, value in given if name[0] == ">"}
with pyogrio.open_arrow(source, **reading) as (meta, reader):
    kind = {"points": "Point", "lines": "LineString", "polygons": "Polygon"}[geometry]
    pyogrio.write_arrow(reader, target, driver=driver, geometry_name=meta["geometry_name"] or "wkb_geometry",
        geometry_type=kind, crs=meta["crs"] or "EPSG:4326", **writing)
`;

const options = (sign, list) => list.filter((text) => /^[A-Z0-9_]+=/.test(text)).map((text) => `${sign}${text}`);

const pyogrio = {
  name: "pyogrio",
  /** A Python that has pyogrio and pyarrow. */
  find(given) {
    const python = findProgram("python3", given);
    return python && spawnSync(python, ["-c", "import pyogrio, pyarrow"]).status === 0 ? python : null;
  },
  version: (python) =>
    outputOf(python, [
      "-c",
      "import pyogrio; print(f'{pyogrio.__version__} (GDAL {pyogrio.__gdal_version_string__})')",
    ]),
  why({ from, to, geometry }) {
    if ([from, to].some((format) => format === "kml" || format === "gpx")) return "not compared";
    return to === "csv" && geometry === "points" ? "writes no coordinates to columns by Arrow" : null;
  },
  call(python, { from, to, geometry, input }, output) {
    const [source] = formats[from].drivers;
    const [target] = formats[to].drivers;
    const reading = options("<", source.reading?.(geometry) ?? []);
    const writing = options(">", target.writing?.(geometry) ?? []);
    return {
      command: python,
      args: ["-c", pyogrioScript, input, output, target.name, geometry, ...reading, ...writing],
    };
  },
};

const all = [mapshaper, duckdb, pyogrio];
export const peerNames = all.map(({ name }) => name);

/** The peers that are there. @param given paths by name; "no" leaves a peer out @throws if there is none at a path */
export function findPeers(given) {
  return all.flatMap((peer) => {
    const path = given[peer.name] === "no" ? null : peer.find(given[peer.name]);
    return path ? [{ ...peer, path }] : [];
  });
}

/** How a peer converts a pair, or why it does not. */
export function peerProgram(peer, pair) {
  const why = peer.why(pair, peer.path);
  if (why) return { name: peer.name, why };
  const output = (folder) => join(folder, `out.${formats[pair.to].extension}`);
  const { command } = peer.call(peer.path, pair, "");
  return { name: peer.name, command, args: (folder) => peer.call(peer.path, pair, output(folder)).args };
}
