/** Errors for typing mistakes of new users. */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, main, samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const records = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a mistyped command line", () => {
  test.each([
    [
      ["conver", "a.shp", "b.csv"],
      'no command "conver"; did you mean convert? Commands: convert, info, check, view, diff, formats, grids, push, plan, apply, delete, pull, verify, restore, dedupe, login, logout, whoami, maps, run, worker, serve, admin, help, completion',
    ],
    [
      ["frob", "a.shp"],
      'no command "frob"; commands: convert, info, check, view, diff, formats, grids, push, plan, apply, delete, pull, verify, restore, dedupe, login, logout, whoami, maps, run, worker, serve, admin, help, completion',
    ],
    [["convert", "a.shp", "b.csv", "--wher", "x"], "no flag --wher; did you mean --where? See geoferry convert --help"],
    [
      ["convert", "a.shp", "b.csv", "--replace-lyaer"],
      "no flag --replace-lyaer; did you mean --replace-layer? See geoferry convert --help",
    ],
    [["convert", "a.shp", "b.csv", "--frobnicate"], "no flag --frobnicate; see geoferry convert --help"],
    [
      ["convert", "-dash.geojson", "d.csv"],
      "-dash.geojson: no such flags; for a file with this name, write ./-dash.geojson or put -- before it",
    ],
    [["convert", "", "b.csv"], "the name of an INPUT is empty; check whether a variable is unset"],
    [["info", ""], "the name of an INPUT is empty; check whether a variable is unset"],
    [["convert", "a.shp", ""], "OUTPUT is an empty name; check that the variable is set"],
    ...["append", "overwrite", "replace-layer", "if-newer"].map((flag): [string[], string] => [
      ["convert", "a.shp", "-", "--to", "csv", `--${flag}`],
      `--${flag} applies to an existing file, but OUTPUT is stdout: remove the flag`,
    ]),
    [["convert", "a.shp", "b.csv", "--limit", "few"], 'option --limit: "few" is not a whole number from 0'],
    [["convert", "a.shp", "b.csv", "--accuracy", "good"], 'option --accuracy: "good" is not a number from 0'],
    [["info", "a.shp", "--workers", "0"], 'option --workers: "0" is not a whole number from 1'],
    [["convert", "a.shp", "b.csv", "--limit", "3", "--limit", "4"], "--limit is given 2 times (3, 4): choose one"],
    [["convert", "a.shp", "b.csv", "--rejects="], "--rejects has no value; add one, or remove the flag"],
    [["convert"], "convert needs INPUT... OUTPUT; see geoferry convert --help"],
    [["info"], "info needs INPUT...; see geoferry info --help"],
    [["push", "places.csv"], "push needs --map; see geoferry push --help"],
    [["pull", "places.csv"], "pull needs --map; see geoferry pull --help"],
    [["admin", "map", "add", "Parks"], "admin map add needs --owner; see geoferry admin map add --help"],
    [
      ["convert", "a.shp", "b.gpkg", "--append", "--replace-layer"],
      "--replace-layer replaces one layer of the output, --append adds to it: choose one",
    ],
    [
      ["convert", "a.shp", "b.gpkg", "--overwrite", "--replace-layer"],
      "--replace-layer replaces one layer of the output, --overwrite replaces all of it: choose one",
    ],
    [["admin"], "admin needs a command; see geoferry admin --help"],
    [["admin", "user"], "admin user needs a command; see geoferry admin user --help"],
    [
      ["admin", "usr", "add", "a@b"],
      'no command "admin usr"; did you mean admin user? Commands: admin user, admin map, admin credential',
    ],
    [
      ["admin", "map", "frob"],
      'no command "admin map frob"; commands: admin map add, admin map list, admin map remove',
    ],
    [
      ["admin", "map", "add", "Parks", "--owner", "a@b", "--dta", "maps"],
      "no flag --dta; did you mean --data? See geoferry admin map add --help",
    ],
    [["admin", "map", "add"], "admin map add needs NAME; see geoferry admin map add --help"],
    [["serve", "--prt", "80"], "no flag --prt; did you mean --port? See geoferry serve --help"],
    [["convert", "a.shp"], "convert needs an INPUT and an OUTPUT: geoferry convert roads.shp roads.geojson"],
  ])("the arguments %j cause a usage error with advice", (args, message) => {
    expect(geoferry(args)).toEqual({ status: 2, stdout: "", stderr: `geoferry: ${message}\n` });
  });
});

describe("a mistake in the request", () => {
  const there = scratch.path("there.csv");
  writeFileSync(there, "id\n1\n");
  const huts = `${samples}/csv/huts.csv`;

  test.each([
    ["--from cvs", 'no format "cvs"; did you mean "csv"? Known are shapefile, csv,'],
    ["--to geojsn", 'no format "geojsn"; did you mean "geojson"? Known are'],
    ["--in delimter=tab", 'csv has no option "delimter"; did you mean "delimiter"? It has delimiter, decimal,'],
    ["--from csv --in decimal=x", "option decimal:"],
    ["--out querty=1", 'csv has no option "querty"; it has delimiter,'],
    ["--out delimter=tab", 'csv has no option "delimter"; did you mean "delimiter"?'],
    ["--target-crs EPSG:99999999", '--target-crs: "EPSG:99999999" is not a coordinate reference system'],
    ["--source-crs nowhere", '--source-crs: "nowhere" is not a coordinate reference system'],
    ["--where a=(", "--where: "],
    ["--geometry-type pint", "option --geometry-type:"],
    ["--max-rejects many", "option --max-rejects:"],
    [
      "--bbox 3,0,1,2 --target-crs EPSG:25832",
      'option --bbox: "3,0,1,2" is not least x before greatest x, since EPSG:25832 is not in longitude and latitude',
    ],
  ])("the invalid %s is reported before the existing output", (flags, message) => {
    const { status, stderr } = geoferry(["convert", huts, there, ...flags.split(" ")]);
    expect(stderr).toContain(`geoferry: ${message}`);
    expect(status).toBe(2);
    expect(readFileSync(there, "utf8")).toBe("id\n1\n");
  });

  test("an existing output is reported if the command has no other error", () => {
    const { status, stderr } = geoferry(["convert", huts, there, "--in", "delimiter=comma", "--in", "fid=name"]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("exists already") });
  });
});

describe("a field that is not there", () => {
  const text = JSON.stringify({
    type: "Feature",
    properties: { name: "Berlin", people: 3_700_000 },
    geometry: { type: "Point", coordinates: [13.4, 52.5] },
  });
  const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>Berlin</name>
    <ExtendedData><Data name="people"><value>1</value></Data></ExtendedData>
    <Point><coordinates>13.4,52.5</coordinates></Point></Placemark></kml>`;
  const gpx = `<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">
    <wpt lat="52.5" lon="13.4"><name>Berlin</name></wpt></gpx>`;
  writeFileSync(scratch.path("towns.geojson"), text);
  writeFileSync(scratch.path("towns.csv"), "lon,lat,name\n13.4,52.5,Berlin\n");
  writeFileSync(scratch.path("towns.kml"), kml);
  writeFileSync(scratch.path("towns.gpx"), gpx);
  const run = (file: string, ...flags: string[]) =>
    geoferry(["convert", file, "to.geojsonl", "--overwrite", ...flags], { cwd: scratch.folder });

  test.each(["towns.geojson", "towns.csv", "towns.kml", "towns.gpx"])(
    "an unknown field in %s: the error lists the existing fields",
    (file) => {
      const { status, stderr } = run(file, "--where", "nmae is not null");
      expect(status).toBe(3);
      expect(stderr).toContain(`${file}: has no field "nmae"; did you mean "name"? It has "`);
      expect(existsSync(scratch.path("to.geojsonl"))).toBe(false);
    },
  );

  test.each(["name = Berlin", 'name = "Berlin"', "name in (Berlin)", "not name between Berlin and 'C'"])(
    "an unquoted text in a condition is reported with advice to quote it: %s",
    (where) => {
      for (const file of ["towns.geojson", "towns.csv"]) {
        const { status, stderr } = run(file, "--where", where);
        expect(status).toBe(3);
        expect(stderr).toContain(`has no field "Berlin"; text stands in single quotes: 'Berlin'; it has "`);
      }
    },
  );
});

test("the advice for too many fields for a Shapefile does not suggest a GeoPackage, which holds fewer", () => {
  const names = Array.from({ length: 2500 }, (_, i) => `f${i}`);
  writeFileSync(scratch.path("wide.csv"), `lon,lat,${names.join(",")}\n1,2,${names.map(() => "x").join(",")}\n`);
  const { status, stderr } = geoferry(["convert", "wide.csv", "wide.shp"], { cwd: scratch.folder });
  expect(status).toBe(4);
  expect(stderr).toContain("the layer has 2500; choose some with --select, or write GeoJSON or CSV");
});

test("./ before a name that begins with a dash makes it a path", () => {
  writeFileSync(scratch.path("-dash.csv"), "lon,lat\n16.37,48.21\n");
  const done = geoferry(["convert", "./-dash.csv", "-", "--to", "csv"], { cwd: scratch.folder });
  expect(done).toMatchObject({ status: 0, stdout: "lon,lat\n16.37,48.21\n" });
});

test("all arguments after -- are paths", () => {
  writeFileSync(scratch.path("-1.geojson"), '{"type":"Point","coordinates":[16.37,48.21]}');
  const done = geoferry(["convert", "--to", "csv", "--", "-1.geojson", "-"], { cwd: scratch.folder });
  expect(done).toMatchObject({ status: 0, stdout: "lon,lat\n16.37,48.21\n" });
});

describe("info and check of many", () => {
  const folder = scratch.path("many");
  mkdirSync(folder);
  writeFileSync(`${folder}/a.json`, '{"name":"no features"}');
  writeFileSync(`${folder}/b.geojson`, '{"type":"Point","coordinates":[16.37,48.21]}');

  test("info continues after an invalid file, and exits with the most severe status", () => {
    const { status, stdout, stderr } = geoferry(["info", folder, `${samples}/trail.geojson`]);
    expect(status).toBe(3);
    expect(stdout.match(/^\S+: \w+ \(geojson\)$/gm)).toHaveLength(2);
    expect(stderr).toMatch(/^geoferry: .*a\.json: /);
  });

  test("check --json reports an invalid file as a record among the others", () => {
    const { status, stdout } = geoferry(["check", folder, "--json"]);
    expect(status).toBe(3);
    expect(records(stdout)).toMatchObject([
      { type: "error", input: `${folder}/a.json`, exit: 3 },
      { type: "layer", featureCount: 1, problems: 0 },
    ]);
  });

  test("check counts unreadable features, and lists problems in the order of records", () => {
    const { status, stdout } = geoferry(["check", `${samples}/flawed/places.geojson`]);
    expect(status).toBe(5);
    // samples/README.md: seven features, five of them flawed.
    expect(stdout).toContain("5 of 7 features have a problem");
    const order = [...stdout.matchAll(/^ {2}record (\d+)/gm)].map((match) => Number(match[1]));
    expect(order).toEqual([2, 3, 4, 5, 6]);
  });
});

test("a message that applies to several layers is printed once", () => {
  const { status, stderr } = geoferry([
    "convert",
    `${samples}/csv/capitals.csv`,
    `${samples}/csv/parks.csv`,
    scratch.path("both.geojson"),
  ]);
  expect(status).toBe(0);
  expect(stderr.match(/crs-assumed \(2 times\) in capitals and parks: /g)).toHaveLength(1);
});

test("a message about one of several layers names the layer", () => {
  const [open, plain] = [scratch.path("open.geojson"), scratch.path("plain.geojson")];
  const ring = "[[0,0],[1,0],[1,1],[0,1]]";
  writeFileSync(open, `{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[${ring}]}}`);
  writeFileSync(plain, `{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[0,0]}}`);
  expect(geoferry(["convert", open, plain, scratch.path("layers.gpkg")]).stderr).toContain("ring-closed in open: ");
  expect(geoferry(["convert", open, scratch.path("layer.gpkg")]).stderr).toContain("ring-closed: ");
});

describe("a name that people give", () => {
  const trail = `${samples}/trail.geojson`;

  test("--to accepts an extension as the name of its format", () => {
    expect(geoferry(["convert", trail, scratch.path("shp/"), "--to", "shp", "--quiet"]).status).toBe(0);
    expect(existsSync(scratch.path("shp/trail.shp"))).toBe(true);
  });

  test("/dev/stdout is stdout, also if it is redirected to a file", () => {
    const file = openSync(scratch.path("stdout.csv"), "w");
    const { status } = spawnSync(process.execPath, [main, "convert", trail, "/dev/stdout", "--to", "csv", "-q"], {
      stdio: ["ignore", file, "ignore"],
    });
    closeSync(file);
    expect(status).toBe(0);
    expect(readFileSync(scratch.path("stdout.csv"), "utf8")).toMatch(/^wkt,/);
  });

  test.each([
    ["behind a file", `${trail}/out.csv`, "a part of its path is not a folder"],
    ["too long for a name", scratch.path(`${"n".repeat(300)}.csv`), "its name is too long"],
  ])("an output %s is refused", (_, output, reason) => {
    const { status, stderr } = geoferry(["convert", trail, output]);
    expect(stderr).toContain(`cannot be written: ${reason}`);
    expect(status).toBe(6);
  });

  test("the error for an existing rejects file names the rejects", () => {
    writeFileSync(scratch.path("kept.geojsonl"), "kept");
    const { status, stderr } = geoferry([
      ...["convert", trail, scratch.path("appended.csv"), "--append", "--rejects", scratch.path("kept.geojsonl")],
    ]);
    expect(stderr).toContain("exists already, and the rejects would go there; name another file with --rejects");
    expect(status).toBe(2);
  });
});

test("a --source-crs that contradicts the input is reported", () => {
  const noticesFor = (code: string) =>
    geoferry([
      ...["convert", `${samples}/shapefile/survey.shp`, scratch.path(`${code}.geojson`)],
      ...["--source-crs", `EPSG:${code}`],
    ]).stderr;
  expect(noticesFor("25833")).toContain("the input declares EPSG:25832; --source-crs overrides it with EPSG:25833");
  expect(noticesFor("25832")).not.toContain("crs-overridden");
});

test("rejects without a file are reported with the flag that keeps them", () => {
  const { stderr } = geoferry(["convert", `${samples}/flawed/capitals.csv`, "-", "--to", "csv"]);
  expect(stderr).toContain("3 features kept without geometry; --rejects FILE takes the geometries with their reasons");
  expect(stderr).toContain("1 feature rejected; --rejects FILE takes them with their reasons");
});

test("the accuracy that an error suggests is sufficient", () => {
  const nad27 = scratch.path("north-carolina.csv");
  writeFileSync(nad27, "name,lon,lat\nAshe,-81.47,36.43\nHyde,-76.1,35.4\n");
  const asked = (output: string, ...more: string[]) =>
    geoferry(["convert", nad27, scratch.path(output), "--source-crs", "EPSG:4267", ...more]);
  const { status, stderr } = asked("a.geojson", "--accuracy", "5");
  expect(status).toBe(4);
  const [, accuracy = ""] = /; --accuracy (\S+) takes /.exec(stderr) ?? [];
  // EPSG:1173, the best one without grids in the contiguous United States.
  expect(accuracy).toBe("10");
  expect(asked("b.geojson", "--accuracy", accuracy).status).toBe(0);
  const usual = asked("c.geojson");
  expect(usual.status).toBe(0);
  expect(usual.stderr).toContain("note crs-accuracy (2 times): positions are transformed by NAD27 to WGS 84 (4)");
});

test("an invalid command line is reported as a record if GEOFERRY_JSON is set", () => {
  const { stdout } = geoferry(["convert", "a.shp"], { env: { GEOFERRY_JSON: "1" } });
  expect(records(stdout)).toMatchObject([{ type: "error", code: "usage", exit: 2 }]);
});

describe("advice", () => {
  const run = (line: string) =>
    geoferry(line.split(" "), { cwd: scratch.folder, env: { XDG_CONFIG_HOME: scratch.folder } });
  writeFileSync(
    scratch.path("cut-off.geojson"),
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}},{"type":"Fea',
  );
  writeFileSync(scratch.path("far.csv"), "lon,lat\n1,2\n1,200\n");

  test("a pattern without matches is not reported as a missing file", () => {
    const { status, stderr } = run("info nowhere/*.shp");
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: "geoferry: nowhere/*.shp: no file matches this pattern; ** matches nested folders: 'in/**/*.shp'\n",
    });
  });

  test("the advice for a truncated file works", () => {
    const refused = run("convert cut-off.geojson cut-off.csv");
    expect(refused.status).toBe(3);
    expect(refused.stderr).toContain("get the whole file, or read what is there with --skip-errors");
    expect(run("convert cut-off.geojson cut-off.csv --skip-errors").stderr).toContain("cut-off.csv: 1 feature");
  });

  test("the advice for too many rejects works", () => {
    const line = "convert far.csv far.geojson --source-crs EPSG:4326 --max-rejects";
    const refused = run(`${line} 0`);
    expect(refused.status).toBe(7);
    expect(refused.stderr).toContain("with a higher limit they go to a rejects file with their reasons");
    expect(run(`${line} 1`).stderr).toContain(
      "1 feature kept without geometry, with the reasons in far.geojson.rejects.geojsonl",
    );
  });

  test.each(["pull x.csv --map abc", "convert map:abc x.csv", "info map:abc"])(
    "%s without a service fails with advice and without a stack trace",
    (line) => {
      const { status, stderr } = run(line);
      expect(stderr).toMatch(/^geoferry: no service is given; .*geoferry login URL --client-id ID/);
      expect(status).toBe(2);
    },
  );
});
