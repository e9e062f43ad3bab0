/** Notices of `geoferry info`. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

describe("what a GPX says of itself", () => {
  const path = scratch.path("walk.gpx");
  writeFileSync(
    path,
    `<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><metadata><name>Walk</name><desc>d</desc>
     <time>2024-05-06T07:08:09Z</time><bounds minlat="1" minlon="2" maxlat="1" maxlon="2"/><extensions><x/></extensions></metadata>
     <wpt lat="1" lon="2"/></gpx>`,
  );
  const left = "metadata elements that geoferry does not keep were left out: extensions";

  test("info reports elements of GPX metadata that are not kept as a loss", () => {
    const { status, stderr } = geoferry(["info", path]);
    expect(stderr).toBe(`  lost metadata-left-out: ${left}\n`);
    expect(status).toBe(0);
  });

  test("a notice of several layers is printed once as text, and for each layer with --json", () => {
    const { stderr } = geoferry(["info", path, "--in", "layers=kinds"]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    const { stdout } = geoferry(["info", path, "--json"]);
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.filter(({ type }) => type === "loss").map(({ example }) => example)).toEqual([left]);
  });
});
