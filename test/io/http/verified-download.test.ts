/** Downloads whose content is known before, from a server with faults. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { downloadVerified, isVerified } from "../../../src/io/http/verified-download.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import { root } from "../../support/command.js";
import { deadMark } from "../../support/marks.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { GridServer } from "../../support/servers/grid-server.js";

const scratch = new TemporaryFolder();
const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) >>> 5));
const sha256 = createHash("sha256").update(content).digest("hex");
let server: GridServer;
beforeAll(async () => {
  server = await GridServer.start(
    new Map([
      ["one.tif", content],
      ["moved/one.tif", content],
    ]),
  );
});
afterEach(() => {
  server.misbehave(null);
  server.ranges = true;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  scratch.remove();
});

let folders = 0;
const download = (options: { bytes?: number; signal?: AbortSignal; name?: string } = {}) => {
  const folder = scratch.path(`cache-${folders++}`);
  const { bytes = content.length, signal = new AbortController().signal, name = "one.tif" } = options;
  const done: number[] = [];
  const run = downloadVerified({ url: `${server.endpoint}/${name}`, bytes, sha256 }, `${folder}/one.tif`, {
    signal,
    progress: (count) => done.push(count),
    createChecksumError: (source, reason) => new Error(`${source}: ${reason}`),
  });
  return { folder, done, run };
};
/** Nothing of a failed download is left. */
const isEmpty = (folder: string) => readdirSync(folder).length === 0;

describe("a verified download", () => {
  test("a verified download writes the file, reports progress, and leaves no other file", async () => {
    const { folder, done, run } = download();
    await run;
    expect(content.equals(readFileSync(`${folder}/one.tif`))).toBe(true);
    expect(readdirSync(folder)).toEqual(["one.tif"]);
    expect(done.at(-1)).toBe(content.length);
    expect(await isVerified(`${folder}/one.tif`, { bytes: content.length, sha256 })).toBe(true);
  });

  test("a verified download resumes after a closed connection, with the same file", async () => {
    server.misbehave({ kind: "cut", after: 100_000, times: 2 });
    const { folder, run } = download();
    await run;
    expect(content.equals(readFileSync(`${folder}/one.tif`))).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[0]!.range).toBeNull();
    expect(server.requests[2]!.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  test("a verified download starts over if the server has no ranges", async () => {
    server.ranges = false;
    server.misbehave({ kind: "cut", after: 100_000, times: 1 });
    const { folder, run } = download();
    await run;
    expect(content.equals(readFileSync(`${folder}/one.tif`))).toBe(true);
  });

  test("a verified download is retried after temporary errors only", async () => {
    server.misbehave({ kind: "status", status: 503, times: 1 });
    await download().run;
    expect(server.requests).toHaveLength(2);
    server.misbehave({ kind: "status", status: 404 });
    const { folder, run } = download();
    await expect(run).rejects.toMatchObject({ code: "input-download" });
    expect(server.requests).toHaveLength(1);
    expect(isEmpty(folder)).toBe(true);
  });

  test("a verified download follows redirects", async () => {
    server.misbehave({ kind: "redirect", to: "/moved" });
    const { folder, run } = download();
    await run;
    expect(content.equals(readFileSync(`${folder}/one.tif`))).toBe(true);
  });

  test("a verified download rejects other content and keeps none of it", async () => {
    server.misbehave({ kind: "altered" });
    const { folder, run } = download();
    await expect(run).rejects.toThrow(/one\.tif: its SHA-256 is [0-9a-f]{64}; expected /);
    expect(isEmpty(folder)).toBe(true);
    server.misbehave(null);
    await expect(download({ bytes: 299_999 }).run).rejects.toThrow("it has 300000 bytes; expected 299999");
  });

  test("a verified download times out if the server stops sending", async () => {
    server.misbehave({ kind: "silent", after: 1000 });
    const { folder, run } = withNetworkSettings({ timeout: 50 }, () => download());
    await expect(run).rejects.toMatchObject({ code: "input-unavailable" });
    expect(isEmpty(folder)).toBe(true);
  });

  test("an interrupted verified download leaves nothing", async () => {
    server.misbehave({ kind: "silent", after: 1000 });
    const aborter = new AbortController();
    const { folder, run } = download({ signal: aborter.signal });
    setTimeout(() => aborter.abort(), 100);
    await expect(run).rejects.toMatchObject({ code: "interrupted" });
    expect(isEmpty(folder)).toBe(true);
  });

  test("a verified download removes files of a killed process, and replaces a damaged file", async () => {
    const { folder, run } = download();
    await run;
    const abandoned = `${folder}/.one.tif.${deadMark}.part`;
    writeFileSync(abandoned, "x");
    writeFileSync(`${folder}/one.tif`, "damaged");
    expect(await isVerified(`${folder}/one.tif`, { bytes: content.length, sha256 })).toBe(false);
    await downloadVerified({ url: `${server.endpoint}/one.tif`, bytes: content.length, sha256 }, `${folder}/one.tif`, {
      signal: new AbortController().signal,
      createChecksumError: (_, reason) => new Error(reason),
    });
    expect(existsSync(abandoned)).toBe(false);
    expect(content.equals(readFileSync(`${folder}/one.tif`))).toBe(true);
  });

  test("two processes can download one file into one folder", async () => {
    const folder = scratch.path("shared");
    const module = pathToFileURL(join(root, "dist/src/io/http/verified-download.js")).href;
    const file = JSON.stringify({ url: `${server.endpoint}/one.tif`, bytes: content.length, sha256 });
    const script = `const { downloadVerified } = await import(${JSON.stringify(module)});
      await downloadVerified(${file}, ${JSON.stringify(`${folder}/one.tif`)}, {
        signal: new AbortController().signal, altered: (_, reason) => new Error(reason) });`;
    const run = () =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
        child.on("close", resolve);
      });
    expect(await Promise.all([run(), run(), run()])).toEqual([0, 0, 0]);
    expect(readdirSync(folder)).toEqual(["one.tif"]);
    expect(content.equals(readFileSync(`${folder}/one.tif`))).toBe(true);
  });

  test("a verified download reports a folder that cannot be written", async () => {
    mkdirSync(scratch.path("file-in-the-way"), { recursive: true });
    writeFileSync(scratch.path("file-in-the-way/cache"), "");
    const run = downloadVerified(
      { url: `${server.endpoint}/one.tif`, bytes: content.length, sha256 },
      scratch.path("file-in-the-way/cache/one.tif"),
      { signal: new AbortController().signal, createChecksumError: (_, reason) => new Error(reason) },
    );
    await expect(run).rejects.toMatchObject({ code: "output-failed" });
  });
});
