/** What somebody meets who tries the command line for the first time, and mistypes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, samples } from "../support/command.js";
import { Scratch } from "../support/recording.js";

const scratch = new Scratch();
afterAll(() => scratch.remove());

const records = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a mistyped command line", () => {
  test.each([
    [["conver", "a.shp", "b.csv"], 'no command "conver"; there are convert, info, check, formats'],
    [["convert", "a.shp", "b.csv", "--wher", "x"], "Unknown argument: wher; see geoferry convert --help"],
    [["convert", "a.shp", "b.csv", "--limit", "few"], 'option --limit: "few" is not a whole number from 0'],
    [["convert", "a.shp", "b.csv", "--accuracy", "good"], 'option --accuracy: "good" is not a number from 0'],
    [["info", "a.shp", "--workers", "0"], 'option --workers: "0" is not a whole number from 1'],
    [["convert", "a.shp"], "convert needs an INPUT and an OUTPUT: geoferry convert roads.shp roads.geojson"],
  ])("%j is told what is wrong", (args, message) => {
    expect(geoferry(args)).toEqual({ status: 2, stdout: "", stderr: `geoferry: ${message}\n` });
  });
});

test("behind -- everything is a path", () => {
  writeFileSync(scratch.path("-1.geojson"), '{"type":"Point","coordinates":[16.37,48.21]}');
  const done = geoferry(["convert", "--to", "csv", "--", "-1.geojson", "-"], { cwd: scratch.folder });
  expect(done).toMatchObject({ status: 0, stdout: "lon,lat\n16.37,48.21\n" });
});

describe("info and check of many", () => {
  const folder = scratch.path("many");
  mkdirSync(folder);
  writeFileSync(`${folder}/a.json`, '{"name":"no features"}');
  writeFileSync(`${folder}/b.geojson`, '{"type":"Point","coordinates":[16.37,48.21]}');

  test("a bad file does not stop the others, and the status is the worst", () => {
    const { status, stdout, stderr } = geoferry(["info", folder, `${samples}/trail.geojson`]);
    expect(status).toBe(3);
    expect(stdout.match(/^\S+: \w+ \(geojson\)$/gm)).toHaveLength(2);
    expect(stderr).toMatch(/^geoferry: .*a\.json: /);
  });

  test("a bad file is a record among the others", () => {
    const { status, stdout } = geoferry(["check", folder, "--json"]);
    expect(status).toBe(3);
    expect(records(stdout)).toMatchObject([
      { type: "error", input: `${folder}/a.json`, exit: 3 },
      { type: "layer", featureCount: 1, problems: 0 },
    ]);
  });

  test("features that cannot be read are counted with the others, and problems told in their order", () => {
    const { status, stdout } = geoferry(["check", `${samples}/flawed/places.geojson`]);
    expect(status).toBe(5);
    // samples/README.md: seven features, five of them flawed.
    expect(stdout).toContain("5 of 7 features have a problem");
    const order = [...stdout.matchAll(/^ {2}record (\d+)/gm)].map((match) => Number(match[1]));
    expect(order).toEqual([2, 3, 4, 5, 6]);
  });
});

test("what is said of several layers in the same words is said once", () => {
  const { status, stderr } = geoferry([
    "convert",
    `${samples}/csv/capitals.csv`,
    `${samples}/csv/parks.csv`,
    scratch.path("both.geojson"),
  ]);
  expect(status).toBe(0);
  expect(stderr.match(/crs-assumed \(2 times\)/g)).toHaveLength(1);
});
