/** Passwords and keys in addresses appear in no record, message or file name. */
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { startGeoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { AnsweringServer } from "../support/servers/answering-server.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const secret = "S3CR3T";

async function run(args: readonly string[], cwd: string) {
  const child = startGeoferry(args, cwd);
  child.stdin!.end();
  const texts = [child.stdout!, child.stderr!].map((stream) => text(stream));
  const [status] = (await once(child, "close")) as [number];
  const [stdout, stderr] = await Promise.all(texts);
  return { status, stdout: stdout!, stderr: stderr! };
}

describe("records of --json", () => {
  it.each([
    ["convert", ["good.geojson"], ["out.csv", "--overwrite"], 0],
    ["convert", ["bad.geojson"], ["bad.csv"], 3],
    ["info", ["good.geojson", "bad.geojson"], [], 3],
    ["info", ["good.geojson", "bad.geojson"], ["--stats"], 3],
    ["info", ["good.geojson"], ["--head", "1"], 0],
    ["check", ["good.geojson", "bad.geojson"], [], 3],
    ["diff", ["good.geojson", "good.geojson"], [], 0],
  ])("%s %j %j", async (command, files, rest, status) => {
    const server = await AnsweringServer.start(({ path }) => ({
      body: path.endsWith("/good.geojson") ? '{"type":"Point","coordinates":[1,2]}' : '{"type":"Point","coord',
    }));
    const { origin } = server;
    const place = origin.replace("://", `://user:${secret}-password@`);
    const inputs = files.map((file) => `${place}/${file}?key=${secret}-key`);
    const { stdout, stderr, status: found } = await run([command, ...inputs, ...rest, "--json"], scratch.folder);
    await server.close();
    expect(found).toBe(status);
    expect(stdout).toContain(origin);
    expect(stdout + stderr).not.toContain(secret);
  });
});

it.each([
  `https://user:${secret}@example.org/upload/parks.csv`,
  "ftp://example.org/parks.csv",
  `gdal:PG:host=example.org password=${secret}.csv`,
  "/vsicurl/https://example.org/parks.csv",
])("%s is refused as an output, and creates nothing", async (output) => {
  const folder = scratch.path("outputs");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/a.csv`, "id,lon,lat\n1,2,3\n");
  const { stderr, status } = await run(["convert", "a.csv", output], folder);
  expect(status).toBe(2);
  expect(stderr).toContain("is an address");
  expect(stderr).not.toContain(secret);
  expect(readdirSync(folder)).toEqual(["a.csv"]);
});
