/**
 * Names and values of inputs and services reach the terminal as text only: a control character in them could otherwise
 * move the cursor, retitle the window or imitate a line of geoferry (ECMA-48; Unicode UAX #9 for directions).
 */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const hostile = "\u001b]0;owned\u0007\u009b31m\u202eevil\r\nname: 5 features";
/** Everything that a terminal may act on, but the end of a line. */
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function expectPlain({ stdout, stderr }: { stdout: string; stderr: string }): void {
  const found = (text: string) => [...text.matchAll(controls)].filter(([character]) => character !== "\n");
  expect(found(stdout)).toEqual([]);
  expect(found(stderr)).toEqual([]);
  for (const line of `${stdout}\n${stderr}`.split("\n")) expect(line).not.toMatch(/^name: 5 features/);
}

const feature = (properties: object, geometry: object) => ({ type: "Feature", properties, geometry });
const geojson = scratch.path("hostile.geojson");
writeFileSync(
  geojson,
  JSON.stringify({
    type: "FeatureCollection",
    name: hostile,
    features: [
      feature({ [hostile]: `${hostile} ${"x".repeat(300)}` }, { type: "Point", coordinates: [1, 2] }),
      feature({ [hostile]: 5 }, { type: hostile, coordinates: [1, 2] }),
      feature({ [hostile]: 5 }, { type: "Point", coordinates: [1, 2000] }),
    ],
  }),
);
const csv = scratch.path("hostile.csv");
writeFileSync(csv, `"${hostile}",lon,lat\n"${hostile}",1,x${hostile.replace(/[\r\n]+/g, "")}\nb,1,2\n`);

describe("control characters of an input", () => {
  test.each([
    ["info", geojson],
    ["info", csv],
    ["check", geojson],
    ["check", csv],
    ["convert", geojson, scratch.path("out.shp")],
    ["convert", geojson, scratch.path("out.csv"), "--skip-errors", "-v"],
    ["convert", csv, scratch.path("out.gpx"), "--from", "csv", "--strict", "-v"],
    ["convert", csv, scratch.path("other.csv"), "--in", "x=nowhere"],
    ["convert", geojson, scratch.path("third.csv"), "--fields", "other"],
    ["convert", geojson, scratch.path("fourth.csv"), "--layer", "other"],
  ])("control characters of an input never reach the terminal: %s %s %s", (...argv) => {
    const result = geoferry(argv.filter((word) => word !== undefined));
    expect(`${result.stdout}${result.stderr}`).not.toBe("");
    expectPlain(result);
  });

  test("control characters of an input are shown as escapes", () => {
    expect(geoferry(["info", geojson]).stdout).toContain("\\u001b]0;owned\\u0007\\u009b31m\\u202eevil");
  });

  test("control characters of an argument never reach the terminal", () => {
    expectPlain(geoferry(["convert", `${hostile}.csv`, scratch.path("out.gpx")]));
    expectPlain(geoferry([hostile]));
    expectPlain(geoferry(["convert", csv, scratch.path("out.gpx"), `--${hostile}`]));
  });
});
