import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import type { Feature } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { readFile } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const names = (option: string, list: string) => ["-oo", `${option}_POSSIBLE_NAMES=${list}`];
const openOptions = [
  ...["-oo", "AUTODETECT_TYPE=YES", "-oo", "KEEP_GEOM_COLUMNS=NO"],
  ...names("X", "lon,lng,long,longitude,x,easting"),
  ...names("Y", "lat,latitude,y,northing"),
  ...names("GEOM", "wkt,geom,geometry,the_geom"),
];

/** What ogr2ogr reads, as features and as field types by name. */
function ogr(path: string): { features: Feature[]; types: Record<string, string> } {
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const options = ["-f", "GeoJSON", "-lco", "COORDINATE_PRECISION=15", "/vsistdout/", ...openOptions, path];
  const { features } = JSON.parse(run("ogr2ogr", options)) as { features: Feature[] };
  const listing = run("ogrinfo", ["-ro", "-so", "-al", ...openOptions, path]);
  const fields = [
    ...listing.matchAll(/^(\S+): (Integer64|Integer\(Boolean\)|Integer|Real|String|DateTime|Date|Time) \(/gm),
  ];
  return { features, types: Object.fromEntries(fields.map(([, name, type]) => [name, type])) };
}

const ogrTypes: Readonly<Record<string, string>> = {
  boolean: "Integer(Boolean)",
  int32: "Integer",
  int64: "Integer64",
  double: "Real",
  text: "String",
  date: "Date",
  time: "Time",
  datetime: "DateTime",
};

test.each([
  ["types", "i,l,d,b,day,t,s\n1,5000000000,1.50,true,2020-01-02,10:20:30,x\n-2,6,1e5,false,2021/12/31,00:00:00,y\n"],
  ["points", "id,name,Latitude,Longitude\n1,a,48.85,2.35\n2,b,,\n3,c,-33.5,151.25\n"],
  ["semicolons with a decimal comma", "id;x;y\n1;2,5;3,5\n2;4,75;5\n"],
  ["tabs", "id\tlon\tlat\n1\t2\t3\n"],
  ["quotes", 'a,b\n"x, ""y""\nz",1\n"",2\n'],
  [
    "WKT",
    'id,wkt\n1,POINT (1 2)\n2,"MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))"\n3,"LINESTRING (0 0,1 1)"\n4,\n',
  ],
  ["hexadecimal WKB", "id,geom\n1,0101000000000000000000F03F0000000000000040\n"],
  ["short records", "a,b,c\n1,2\n3,4,5\n"],
  ["no header", "1,2.5,3\n4,5.5,6\n"],
  ["mixed line ends", "a,b\r\n1,x\n2,y\r\n"],
  ["a byte order mark", "\uFEFFa,b\n1,x\n"],
  ["nothing but names", "a,b\n"],
  ["spaces around names", " lat, lon, name\n1,2,3\n"],
])("%s are read as ogr2ogr reads them", async (_, content) => {
  const path = scratch.path("t.csv");
  writeFileSync(path, content);
  const expected = ogr(path);
  const { features, fields } = await readFile(path);
  // What is null, ogr2ogr may leave away, and what is quoted and empty, it may take for empty text.
  const filled = ({ geometry, properties }: Feature) => ({
    geometry,
    properties: Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null && value !== "")),
  });
  expect(features.map(filled)).toEqual(expected.features.map(filled));
  expect(Object.fromEntries(fields.map(({ name, type }) => [name, ogrTypes[type]]))).toEqual(expected.types);
});
