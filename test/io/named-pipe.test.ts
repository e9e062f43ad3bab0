import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, startGeoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const table = `name,lon,lat\n${Array.from({ length: 20_000 }, (_, i) => `place ${i},${i % 90},1\n`).join("")}`;
writeFileSync(scratch.path("places.csv"), table);

function pipe(name: string): string {
  execFileSync("mkfifo", [scratch.path(name)]);
  return scratch.path(name);
}

describe.skipIf(process.platform === "win32")("named pipes", () => {
  test("are read to the end, however slowly they are written", async () => {
    const input = pipe("slow.csv");
    const running = startGeoferry(["convert", input, scratch.path("slow.geojson"), "--from", "csv"]);
    await delay(500);
    spawn("sh", ["-c", `(head -c 70000 places.csv; sleep 1; tail -c +70001 places.csv) > ${input}`], {
      cwd: scratch.folder,
    });
    expect((await once(running, "exit"))[0]).toBe(0);
    expect(JSON.parse(readFileSync(scratch.path("slow.geojson"), "utf8")).features).toHaveLength(20_000);
  });

  test("are written to a reader that comes later", async () => {
    const output = pipe("late.csv");
    const running = startGeoferry(["convert", scratch.path("places.csv"), output, "--to", "csv"]);
    await delay(500);
    const copied = spawn("sh", ["-c", `cat ${output} > copied.csv`], { cwd: scratch.folder });
    const [[status]] = await Promise.all([once(running, "exit"), once(copied, "exit")]);
    expect(status).toBe(0);
    expect(readFileSync(scratch.path("copied.csv"), "utf8").split("\n")).toHaveLength(20_002);
  });

  test.each([
    ["reading", () => ["convert", pipe("silent.csv"), scratch.path("never.geojson"), "--from", "csv"]],
    ["writing", () => ["convert", scratch.path("places.csv"), pipe("unread.csv"), "--to", "csv"]],
  ])("without another program end with 130 after one signal: %s", async (_, args) => {
    const running = startGeoferry(args());
    await delay(1500);
    running.kill("SIGTERM");
    expect((await once(running, "exit"))[0]).toBe(130);
  });

  test("that another program closes without writing are empty inputs", () => {
    const input = pipe("empty.csv");
    spawn("sh", ["-c", `: > ${input}`]);
    const { status, stderr } = geoferry(["convert", input, scratch.path("empty.geojson"), "--from", "csv"]);
    expect([status, stderr]).toEqual([3, expect.stringContaining("empty")]);
  });
});
