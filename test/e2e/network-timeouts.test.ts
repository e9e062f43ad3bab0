/** Unresponsive peers: commands end within their timeout, print advice, and leave no files. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../support/command.js";
import { type SilenceMode, SilentServer } from "../support/servers/silent-server.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-silent-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => rmSync(join(folder, "out.geojson"), { force: true }));
let peer: SilentServer;
afterEach(() => peer.close());

const quick = ["--connect-timeout", "0.5", "--timeout", "0.5"];

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: folder, TMPDIR: folder, ...env },
    timeout: 25_000,
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const stderr = await text(child.stderr!);
  return { status: await ended, stderr };
}

const s3 = (port: number): NodeJS.ProcessEnv => ({
  AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
  AWS_ACCESS_KEY_ID: "a",
  AWS_SECRET_ACCESS_KEY: "b",
});

const nothingIsLeft = () => {
  expect(existsSync(join(folder, "out.geojson"))).toBe(false);
  expect(readdirSync(folder).filter((name) => /^geoferry-\w+-\d/.test(name))).toEqual([]);
};

describe("a download", () => {
  test.each<[SilenceMode, string]>([
    ["silent", "no answer within 0.5 s (--timeout)"],
    ["silent after the head", "the server sends nothing for 0.5 s (--timeout)"],
    ["a byte now and then", "fewer than 1000 (--minimum-rate, --timeout)"],
  ])("a download from a server that is %s ends with 8", async (manner, reason) => {
    peer = await SilentServer.start(manner);
    const done = await run(["convert", `http://127.0.0.1:${peer.port}/a.geojson`, "out.geojson", ...quick]);
    expect(done).toEqual({ status: 8, stderr: expect.stringContaining(reason) });
    expect(peer.requests).toBe(1);
    nothingIsLeft();
  });

  test("a download from a server that never finishes the TLS handshake ends with 8", async () => {
    peer = await SilentServer.start();
    const done = await run(["convert", `https://127.0.0.1:${peer.port}/a.geojson`, "out.geojson", ...quick]);
    expect(done).toEqual({
      status: 8,
      stderr: expect.stringContaining("there is no connection within 0.5 s (--connect-timeout)"),
    });
    nothingIsLeft();
  });

  test("a download takes its timeouts from the environment", async () => {
    peer = await SilentServer.start();
    const done = await run(["convert", `http://127.0.0.1:${peer.port}/a.geojson`, "out.geojson"], {
      GEOFERRY_TIMEOUT: "0.3",
    });
    expect(done).toEqual({ status: 8, stderr: expect.stringContaining("no answer within 0.3 s") });
  });
});

describe("a store of objects that is silent", () => {
  test.each<[string, readonly string[], number]>([
    ["is asked once more", [], 2],
    ["is asked once with --retries 0", ["--retries", "0"], 1],
  ])("a silent object store: %s", async (_name, more, requests) => {
    peer = await SilentServer.start();
    const done = await run(["convert", "s3://bucket/a.geojson", "out.geojson", ...quick, ...more], s3(peer.port));
    expect(done).toEqual({ status: 8, stderr: expect.stringContaining("no answer within 0.5 s (--timeout)") });
    expect(peer.requests).toBe(requests);
    nothingIsLeft();
  });

  test("a silent object store ends an upload with 8", async () => {
    peer = await SilentServer.start();
    writeFileSync(join(folder, "in.geojson"), '{"type":"Point","coordinates":[1,2]}');
    const args = ["convert", "in.geojson", "s3://bucket/a.geojson", ...quick, "--retries", "0"];
    expect((await run(args, s3(peer.port))).status).toBe(8);
  });
});

describe("a service that is silent", () => {
  test.each<[readonly string[], number]>([
    [[], 2],
    [["--retries", "0"], 1],
  ])("a silent service with %j gets %i requests", async (more, requests) => {
    peer = await SilentServer.start();
    const env = {
      GEOFERRY_URL: `http://127.0.0.1:${peer.port}`,
      GEOFERRY_CLIENT_ID: "a",
      GEOFERRY_CLIENT_SECRET: "b",
    };
    const done = await run(["pull", "--map", "a", "out.geojson", ...quick, ...more], env);
    expect(done).toEqual({ status: 8, stderr: expect.stringContaining("no answer within 0.5 s (--timeout)") });
    expect(peer.requests).toBe(requests);
    nothingIsLeft();
  });
});

test("a silent database ends a command with 8", async () => {
  peer = await SilentServer.start();
  const address = `postgresql://a@127.0.0.1:${peer.port}/b?sslmode=disable`;
  const done = await run(["convert", address, "out.geojson", ...quick]);
  expect(done).toEqual({ status: 8, stderr: expect.stringContaining("timeout expired") });
});

test("a silent queue ends a command with 8", async () => {
  peer = await SilentServer.start();
  writeFileSync(join(folder, "in.geojson"), '{"type":"Point","coordinates":[1,2]}');
  writeFileSync(join(folder, "job.yaml"), "name: a\nsteps:\n  - {name: a, source: in.geojson, target: out.csv}\n");
  const done = await run(["run", "job.yaml", "--queue", `redis://127.0.0.1:${peer.port}`, ...quick]);
  expect(done).toEqual({ status: 8, stderr: expect.stringContaining("the queue does not answer") });
});

// One request, unless the command line sets retries.
test.each([
  [[], 1],
  [["--retries", "2"], 3],
])("a silent queue with %j gets %i requests", async (more, requests) => {
  peer = await SilentServer.start();
  writeFileSync(join(folder, "in.geojson"), '{"type":"Point","coordinates":[1,2]}');
  writeFileSync(join(folder, "job.yaml"), "name: a\nsteps:\n  - {name: a, source: in.geojson, target: out.csv}\n");
  const queue = ["--queue", `redis://127.0.0.1:${peer.port}`, "--timeout", "0.4"];
  const began = performance.now();
  const done = await run(["run", "job.yaml", ...queue, ...more]);
  expect(done).toEqual({ status: 8, stderr: expect.stringContaining("the queue does not answer") });
  expect(peer.requests).toBe(requests);
  // Less than the default of five seconds.
  expect(performance.now() - began).toBeLessThan(4500);
});

describe("a job", () => {
  const job = (address: string, network: string) => {
    const steps = `steps:\n  - {name: a, source: "${address}", target: out.geojson, retries: 0}\n`;
    writeFileSync(join(folder, "job.yaml"), `name: a\n${network}${steps}`);
    return ["run", "job.yaml"];
  };

  test("a job with retries: 0 sends one request to a silent store, and names its own keys", async () => {
    peer = await SilentServer.start();
    const done = await run(job("s3://bucket/a.geojson", "network: {timeout: 400ms}\n"), s3(peer.port));
    expect(done).toEqual({ status: 8, stderr: expect.stringContaining("no answer within 0.4 s (network.timeout)") });
    expect(peer.requests).toBe(1);
  });

  test("the command line overrides the settings of a job", async () => {
    peer = await SilentServer.start();
    const args = job(`http://127.0.0.1:${peer.port}/a.geojson`, "network: {timeout: 1h}\n");
    const done = await run([...args, "--timeout", "0.4"]);
    expect(done).toEqual({ status: 8, stderr: expect.stringContaining("no answer within 0.4 s") });
    // A request for metadata, and one for content.
    expect(peer.requests).toBe(2);
  });
});
