/**
 * Names and values of inputs and services reach the terminal as text only: a control character in them could otherwise
 * move the cursor, retitle the window or imitate a line of geoferry (ECMA-48; Unicode UAX #9 for directions).
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { geoferry, root, startGeoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { AnsweringServer } from "../support/servers/answering-server.js";

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

describe("control characters of a service", () => {
  const map = "0190a0e0-0000-7000-8000-000000000002";
  const listed = { id: hostile, name: hostile, private: false, owner: { name: hostile, email: hostile }, features: 1 };
  const times = { revision: 1, created: hostile, updated: hostile };
  const failed = { id: hostile, path: hostile, message: hostile };
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await AnsweringServer.start(({ method, path }) => {
      if (path === "/token") return { token_type: "Bearer", expires_in: 3600, access_token: "gft_a" };
      if (path === "/api/v1/maps") return { maps: [{ ...listed, ...times }] };
      if (method === "GET") return { type: "FeatureCollection", features: [] };
      return { success: [], failed: [failed] };
    });
  });
  afterAll(() => server.close());

  const places = scratch.path("places.geojson");
  const point = { type: "Point", coordinates: [1, 2] };
  writeFileSync(
    places,
    JSON.stringify({ type: "FeatureCollection", features: [feature({ ref: hostile.replace(/[\r\n]/g, "") }, point)] }),
  );

  test.each([
    [["maps"], 0],
    [["whoami"], 0],
    [["push", places, "--map", map, "--remote-field", "ref", "--rejects", scratch.path("rejects.geojsonl")], 5],
  ])("control characters of a service never reach the terminal: %s", async (argv, status) => {
    const child = startGeoferry([...argv, ...(argv[0] === "push" ? ["--state", scratch.path("state")] : [])], root, {
      GEOFERRY_URL: server.origin,
      GEOFERRY_CLIENT_ID: "gfc_a",
      GEOFERRY_CLIENT_SECRET: "gfs_a",
    });
    const [stdout, stderr, [exitStatus]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "close"),
    ]);
    expect(exitStatus, stderr).toBe(status);
    expect(`${stdout}${stderr}`).toContain("\\u001b]0;owned");
    expectPlain({ stdout, stderr });
  });
});
