/** What somebody meets who types what ogr2ogr or mapshaper takes. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry } from "../../support/command.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
writeFileSync(scratch.path("in.geojson"), '{"type":"Point","coordinates":[16.37,48.21]}');

const explain = (line: readonly string[]) => {
  const { status, stdout, stderr } = geoferry(line, { cwd: scratch.folder });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  return stderr.replace(/^geoferry: /, "").trimEnd();
};

/** The command that a message proposes, as words. */
const proposedCommand = (message: string): string[] => {
  const [, line] = /Try: geoferry (.*)$/.exec(message)!;
  return [...line!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
};

describe("flags of ogr2ogr", () => {
  test.each([
    ["-t_srs EPSG:3857", "-t_srs is --target-crs here", "--target-crs EPSG:3857"],
    ["-s_srs EPSG:4258", "-s_srs is --source-crs here", "--source-crs EPSG:4258"],
    ["-a_srs EPSG:4258", "-a_srs is --source-crs with --no-reproject here", "--source-crs EPSG:4258 --no-reproject"],
    ["-f GPKG", "-f is --to here", "--to geopackage"],
    ["-f Parquet", "-f is --to here", "--to geoparquet"],
    ["-of FlatGeobuf", "-of is --to here", "--to flatgeobuf"],
    ["-f TopoJSON", "-f is --to here", "--to topojson"],
    ["-where a=1", "-where is --where here", "--where a=1"],
    ["-select a,b", "-select is --select here", "--select a,b"],
    ["-nln towns", "-nln is --layer-name here", "--layer-name towns"],
    ["-nlt PROMOTE_TO_MULTI", "-nlt is --geometry-type here", "--geometry-type multi"],
    ["-spat -10 40 5 50", "-spat is --bbox here", "--bbox=-10,40,5,50"],
    ["-overwrite", "-overwrite is --overwrite here", "--overwrite"],
    ["-append", "-append is --append here", "--append"],
    ["-skipfailures -progress", "-skipfailures is not needed here", ""],
    ["-makevalid", "-makevalid is --make-valid here", "--make-valid"],
    ["--t_srs EPSG:3857", "--t_srs is --target-crs here", "--target-crs EPSG:3857"],
    ["--strict -t_srs=EPSG:3857", "-t_srs is --target-crs here", "--strict --target-crs EPSG:3857"],
  ])("%s is explained with the equivalent command", (flags, sentence, here) => {
    const message = explain(["convert", "in.geojson", "out.gpkg", ...flags.split(" ")]);
    expect(message).toContain(sentence);
    expect(proposedCommand(message)).toEqual(["convert", "in.geojson", "out.gpkg", ...here.split(" ").filter(Boolean)]);
  });

  test.each([
    ["-sql", "select 1", "--where, --select"],
    ["-clipsrc", "1,2,3,4", "--bbox west,south,east,north keeps whole features"],
    ["-simplify", "10", "geoferry does not simplify geometries"],
    ["-segmentize", "10", "geoferry does not segmentize geometries"],
    ["-lco", "ENCODING=UTF-8", "is --out key=value here"],
    ["-oo", "X_POSSIBLE_NAMES=x", "is --in key=value here"],
    ["-update", "", "--append here, which adds to the output, or --replace-layer"],
    ["-nlt", "CURVEPOLYGON", "point, line, polygon or multi"],
    ["-mapFieldType", "All=String", "--cast population=integer"],
  ])("%s is explained without a command, since the user must decide", (flag, value, sentence) => {
    const message = explain(["convert", "in.geojson", "out.gpkg", flag, ...(value === "" ? [] : [value])]);
    expect(message).toContain(sentence);
    expect(message).toMatch(/; see geoferry convert --help$/);
  });
});

test("a whole ogr2ogr command line is translated to a working command", () => {
  const message = explain([
    "-f",
    "ESRI Shapefile",
    "towns.shp",
    "in.geojson",
    "-t_srs",
    "EPSG:25833",
    "-nln",
    "my towns",
  ]);
  expect(message).toContain("use convert to convert files");
  expect(message).toContain("INPUT comes before OUTPUT here");
  const line = proposedCommand(message);
  expect(line).toEqual(
    "convert in.geojson towns.shp --to shapefile --target-crs EPSG:25833 --layer-name".split(" ").concat("my towns"),
  );
  expect(geoferry(line, { cwd: scratch.folder }).status).toBe(0);
});

test("layers after the input of ogr2ogr become --layer", () => {
  const message = explain(["convert", "-f", "CSV", "out.csv", "in.geojson", "roads", "rivers"]);
  expect(proposedCommand(message)).toEqual("convert in.geojson out.csv --layer roads,rivers --to csv".split(" "));
});

test.each([
  ["convert -i in.geojson -o out.shp -proj wgs84", "convert in.geojson out.shp --target-crs EPSG:4326"],
  ["convert in.geojson -filter-fields a,b -o out.csv", "convert in.geojson out.csv --select a,b"],
])("the mapshaper flags of %s are translated", (line, here) => {
  expect(proposedCommand(explain(line.split(" ")))).toEqual(here.split(" "));
});

test.each([
  [["in.geojson", "out.csv"], 'no command "in.geojson"; to convert files: geoferry convert in.geojson out.csv'],
  [["my roads.shp"], "no command \"my roads.shp\"; to convert files: geoferry convert 'my roads.shp' OUTPUT"],
  [["--hepl"], "no flag --hepl; did you mean --help?"],
  [
    ["login", "--url", "https://maps.example.org"],
    "no flag --url: it is an argument here, geoferry login URL; see geoferry login --help",
  ],
  [["convert", "a.shp", "b.csv", "--split-by", "name"], "no flag --split-by; see geoferry convert --help"],
  [
    ["convert", "a.shp", "b.csv", "--format", "csv"],
    "no flag --format; did you mean --to? See geoferry convert --help",
  ],
  [["convert", "a.shp", "b.csv", "--force"], "no flag --force; did you mean --overwrite? See geoferry convert --help"],
  [
    ["convert", "a.shp", "b.csv", "-bbox", "1,2,3,4"],
    "no flag -bbox: it has two dashes here, --bbox; see geoferry convert --help",
  ],
  [["convert", "a.shp", "b.csv", "-x"], "no flag -x; see geoferry convert --help"],
  [
    ["convert", "a.shp", "b.csv", "--overwrite=yes"],
    '--overwrite takes no value: remove "=yes", or write --no-overwrite for the opposite; see geoferry convert --help',
  ],
  [
    ["convert", "a.shp", "b.csv", "--where", "-x > 3"],
    "--where has no value; write a value that starts with a dash as --where='-x > 3'; see geoferry convert --help",
  ],
  [
    ["convert", "a.shp", "b.csv", "--layer", "--to", "csv"],
    "--layer has no value; add one, or remove the flag; see geoferry convert --help",
  ],
  [["formats", "csv", "shp"], 'formats takes one FORMAT, but "shp" was also given; see geoferry formats --help'],
  [["whoami", "me"], 'whoami takes no arguments, but "me" was also given; see geoferry whoami --help'],
] as const)("the invalid command line %j gets advice", (line, message) => {
  expect(explain(line)).toBe(message);
});

describe("an output format that cannot be detected", () => {
  const known =
    "--to (shapefile, csv, geopackage, geojson, geojsonseq, topojson, geoparquet, flatgeobuf, xlsx, ods, gpx, kml, postgis, gdal)";
  test.each([
    [
      "out.xyz",
      `out.xyz: the extension .xyz is not known; name the format with ${known}; geoferry formats lists the extensions`,
    ],
    [
      "out.geojsn",
      `out.geojsn: the extension .geojsn is not known; did you mean .geojson? Or name the format with ${known}; geoferry formats lists the extensions`,
    ],
    ["out", `out: which format? Give it an extension, or name the format with ${known}`],
    ["folder/", `folder/: which format? Name it with ${known}`],
    ["-", `stdout: which format? Name it with ${known}`],
  ])("the output %s needs a format", (output, message) => {
    expect(explain(["convert", "in.geojson", output])).toBe(message);
  });
});

test("no command is suggested that could overwrite the input, if both files exist", () => {
  const files = [scratch.path("kept.gpkg"), scratch.path("source.csv")] as const;
  for (const file of files) writeFileSync(file, "");
  for (const flags of [["-overwrite"], ["-append"], ["-t_srs", "EPSG:3857"]]) {
    const message = explain(["convert", "-f", "GPKG", ...files, ...flags]);
    expect(message).toContain("INPUT comes before OUTPUT here. Try: geoferry convert INPUT OUTPUT --to geopackage");
  }
});
