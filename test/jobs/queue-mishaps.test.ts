/** What befalls workers and a queue in the middle of work: nothing is lost, and nothing is waited for that cannot come. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { main } from "../support/command.js";
import { Fleet, until } from "../support/fleet.js";
import type { JobRunOptions } from "../support/job-desk.js";
import { hasRedis, OwnRedis } from "../support/redis.js";
import { ServedDesk } from "../support/served-desk.js";

const { at, put, world, environment, runServed: run } = await ServedDesk.open();

/** Machines on which tests run side by side are slow. */
describe.runIf(hasRedis)("with workers", { timeout: 600_000 }, () => {
  const fleet = new Fleet(environment);
  const runThere = (job: string, flags: readonly string[] = [], options: JobRunOptions = {}) =>
    run(job, [...fleet.flags, ...flags], options);

  const bytes = (folder: string) =>
    Object.fromEntries(readdirSync(at(folder)).map((name) => [name, readFileSync(at(join(folder, name)), "base64")]));

  test("pieces that one worker has cut are put together by one that would cut them otherwise", async () => {
    const lines = Array.from({ length: 90_000 }, (_, n) => `place number ${n},${n % 180},${n % 90},${"x".repeat(40)}`);
    mkdirSync(at("in"));
    put("in/large.csv", `name,lon,lat,text\n${lines.join("\n")}\n`);
    for (const folder of ["out", "local"]) {
      mkdirSync(at(folder));
      put(
        `${folder}.yaml`,
        `name: ${folder}\nsteps:\n  - {name: a, source: in/large.csv, target: ${folder}/a.geojson}\n`,
      );
    }
    const first = await fleet.worker("first", ["--spread-from", "1", "--grace", "0"]);
    const ran = runThere("out.yaml");
    await until(() => first.of("done").some(({ what }) => what!.includes("pieces")));
    expect(await first.end()).toBe(0);
    const second = await fleet.worker("second", ["--spread-from", "3"]);
    expect((await ran).status).toBe(0);
    expect((await run("local.yaml")).status).toBe(0);
    expect(Object.keys(bytes("out"))).toEqual(["a.geojson"]);
    expect(bytes("out")["a.geojson"]!.length).toBe(bytes("local")["a.geojson"]!.length);
    expect(bytes("out")).toEqual(bytes("local"));
    await second.end();
    expect([first.isAtWork, second.isAtWork]).toEqual([false, false]);
  });

  test("a map that a worker cannot finish when it is told to stop is handed back, and finished by another", async () => {
    const map = await world.newMap();
    const names = Array.from({ length: 3000 }, (_, n) => `p${n}`);
    put("a.csv", `name,lon,lat\n${names.map((name, n) => `${name},${n % 180},50`).join("\n")}\n`);
    put("job.yaml", `name: m\nsteps:\n  - {name: m, source: a.csv, target: {map: ${map}, remoteField: name}}\n`);
    const first = await fleet.worker("first", ["--grace", "0", "--rate", "1"]);
    const ran = runThere("job.yaml");
    await until(async () => (await world.features(map)).length > 0);
    expect(first.isAtWork).toBe(true);
    expect(await first.end()).toBe(0);
    expect(first.of("returned")).toHaveLength(1);
    await fleet.worker("second");
    const { status, report } = await ran;
    expect([status, report.result, report.steps[0]!.items[0]!.worker]).toEqual([0, "done", "second"]);
    const there = (await world.features(map)).map(({ properties }) => properties.name);
    expect(there.sort()).toEqual(names.sort());
    expect(await fleet.left()).toEqual([]);
  });

  test("nobody goes on with appending to a map where a worker was killed, since it would be there twice", async () => {
    const map = await world.newMap();
    const names = Array.from({ length: 3000 }, (_, n) => `p${n}`);
    put("a.csv", `name,lon,lat\n${names.map((name, n) => `${name},${n % 180},50`).join("\n")}\n`);
    put("job.yaml", `name: m\nsteps:\n  - {name: m, source: a.csv, target: {map: ${map}, mode: append}}\n`);
    const first = await fleet.worker("first", ["--rate", "1"]);
    const ran = runThere("job.yaml");
    await until(async () => (await world.features(map)).length > 0);
    await first.end("SIGKILL");
    await fleet.worker("second");
    const { status, report } = await ran;
    expect([status, report.steps[0]!.error!.code]).toEqual([12, "append-cut"]);
    const there = (await world.features(map)).map(({ properties }) => properties.name);
    expect(new Set(there).size).toBe(there.length);
    expect(await fleet.left()).toEqual([]);
  });

  test("a worker that is told to stop ends where its Redis is away", async () => {
    const redis = await OwnRedis.start();
    const flags = ["--queue", redis.url, "--grace", "1", "--concurrency", "1", "--json"];
    const worker = await fleet.begin([main, "worker", ...flags]);
    await redis.stop();
    await until(() => worker.of("away").length > 0);
    const ended = worker.end();
    expect(await Promise.race([ended, pause(60_000, "hangs")])).toBe(0);
  });
});
