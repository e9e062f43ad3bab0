/**
 * Advice in the messages of a job can be followed: they name keys of the job file, and the undo command can be copied.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { main } from "../support/command.js";
import { pointsCsv } from "../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../support/jobs/served-job-fixture.js";
import { createPlace } from "../support/sync/sync-fixture.js";

const desk = await ServedJobFixture.open();
const { at, put, world, runServed: run } = desk;

describe("messages of a job name keys of its file", () => {
  test("a missing reference system of a source is reported with the key of the job file", async () => {
    put("a.csv", "name,x,y\na,691000,5334000\n");
    put("job.yaml", "name: n\nsteps:\n  - {name: file, source: a.csv, target: a.geojson}\n");
    const { report, stderr } = await run("job.yaml");
    const { message } = report.steps[0]!.items[0]!.error!;
    expect(message).toContain("name it with sourceCrs, or copy the coordinates unchanged with reproject: false");
    for (const said of [message, report.steps[0]!.error!.message, stderr]) expect(said).not.toContain("--");
  });

  test("reasons in rejects files of files and maps name keys of the job file", async () => {
    const map = await world.newMap();
    put("odd.csv", "name,latitude,longitude\na,53°12'N,9°30'O\nb,53°12'N,9°30'O\n");
    put(
      "job.yaml",
      `name: n\nsteps:\n  - {name: file, source: odd.csv, target: odd.geojson}\n  - {name: map, source: odd.csv, target: {map: ${map}, remoteField: name}, rejects: map.geojsonl}\n`,
    );
    await run("job.yaml");
    for (const name of ["odd.geojson.rejects.geojsonl", "map.geojsonl"]) {
      const [line] = readFileSync(at(name), "utf8").split("\n");
      const { reason } = JSON.parse(line!).reject;
      expect(reason).toContain("in: { letter-o: east } or in: { letter-o: west } says which");
      expect(reason).not.toContain("--");
    }
  });

  test("a guard of a map is reported with the key of the job file", async () => {
    const map = await world.newMap();
    await world.fill(
      map,
      [...Array(20).keys()].map((n) => createPlace(n, { name: `old ${n}` })),
    );
    put("a.csv", pointsCsv("a"));
    put(
      "job.yaml",
      `name: n\nsteps:\n  - {name: map, source: a.csv, target: {map: ${map}, mode: full, remoteField: name}}\n`,
    );
    const { report, stderr } = await run("job.yaml");
    expect(report.steps[0]!.error!.message).toContain("maxDelete: 20");
    expect(stderr).not.toContain("--max-delete");
  });
});

test("the step of a map names its backup, and the undo command works from any folder", async () => {
  const map = await world.newMap();
  await world.fill(map, [createPlace(1, { name: "a", title: "old" }), createPlace(2, { name: "b" })]);
  const before = await world.features(map);
  put("a.csv", pointsCsv("a", "c"));
  put(
    "job.yaml",
    `name: n\npage: runs.html\nsteps:\n  - {name: map, source: a.csv, target: {map: ${map}, remoteField: name}}\n`,
  );
  const { report, stderr } = await run("job.yaml");
  expect(report.steps[0]!.counts).toMatchObject({ created: 1, updated: 1 });
  const [backup] = report.steps[0]!.items[0]!.backups!;
  expect(backup).toMatchObject({ created: 1 });
  expect(isAbsolute(backup!.path)).toBe(true);
  expect(JSON.parse(readFileSync(backup!.path, "utf8")).features).toHaveLength(1);
  const [, command = ""] = / {4}to undo this: geoferry (.*)\n/.exec(stderr) ?? [];
  expect(command).toBe(`restore ${backup!.path} --max-delete 1`);
  expect(readFileSync(at("runs.html"), "utf8")).toContain(`geoferry ${command}`);
  const env = {
    ...process.env,
    XDG_STATE_HOME: at("state"),
    GEOFERRY_CLIENT_ID: world.ada.clientId,
    GEOFERRY_CLIENT_SECRET: world.ada.clientSecret,
  };
  const args = [main, ...command.split(" "), "--yes", "--insecure-http"];
  // Credentials are not sent to an address that only the backup names.
  const refused = promisify(execFile)(process.execPath, args, { cwd: tmpdir(), env });
  await expect(refused).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(`add --url ${world.url}`) });
  Object.assign(env, { GEOFERRY_URL: world.url });
  await promisify(execFile)(process.execPath, args, { cwd: tmpdir(), env });
  expect((await world.features(map)).map(({ properties }) => properties)).toEqual(
    before.map(({ properties }) => properties),
  );
  const again = await run("job.yaml");
  const unchanged = await run("job.yaml");
  expect(again.stderr).toContain("to undo this");
  expect(unchanged.stderr).not.toContain("to undo this");
});
