/** The server of a view: who gets an answer, and how it ends. */
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeTile } from "../../src/view/tiles/tile-content.js";
import { geoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { startView } from "./running-view.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

beforeAll(() => {
  writeFileSync(scratch.path("towns.csv"), "name,lon,lat,people\nBerlin,13.4,52.5,3600000\nParis,2.35,48.85,2100000\n");
});
const start = (args: readonly string[] = ["towns.csv"], env?: NodeJS.ProcessEnv) =>
  startView(args, { cwd: scratch.folder, ...(env ? { env } : {}) });

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A request whose path is sent as it is. */
function ask(
  url: string,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, ...options }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
    });
    sent.on("error", reject);
    sent.end();
  });
}

const secretOf = (url: string): string => new URL(url).pathname.slice(1, -1);

describe("a running view", () => {
  test("answers below its secret, and says nothing without it", async () => {
    const { url } = await start();
    const secret = secretOf(url);
    expect(secret).toMatch(/^[\w-]{32}$/);
    expect((await ask(url, `/${secret}/`)).status).toBe(200);
    expect(JSON.parse(String((await ask(url, `/${secret}/view.json`)).body)).layers[0].name).toBe("towns");
    const wrong = `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`;
    for (const path of [
      "/",
      "/view.json",
      `/${wrong}/`,
      `/${wrong}/view.json`,
      `/${secret}`,
      `//${secret}/`,
      `/start/${secret}`,
      "/start/",
    ]) {
      const { status, body } = await ask(url, path);
      expect([path, status, String(body)]).toEqual([
        path,
        404,
        '{"error":"this address is not that of the view; geoferry printed it when it started"}',
      ]);
    }
  });

  test("answers to no other name, so that a site cannot point its own name here", async () => {
    const { url } = await start();
    const path = new URL(url).pathname;
    const { port } = new URL(url);
    for (const host of [`evil.example:${port}`, "127.0.0.1", `127.0.0.1.evil.example:${port}`, `0.0.0.0:${port}`])
      expect((await ask(url, path, { headers: { host } })).status).toBe(421);
    expect((await ask(url, path, { headers: { host: `localhost:${port}` } })).status).toBe(200);
  });

  test("listens on the loopback address only", async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    const outer = Object.values(networkInterfaces())
      .flat()
      .find((one) => one && !one.internal && one.family === "IPv4");
    if (!outer) return;
    const socket = connect(port, outer.address);
    const [error] = await once(socket, "error");
    expect((error as NodeJS.ErrnoException).code).toBe("ECONNREFUSED");
  });

  test("sends headers that keep the page to itself", async () => {
    const { url } = await start();
    const { headers } = await ask(url, new URL(url).pathname);
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("allows pictures of the base map that the user names, and of nothing else", async () => {
    const { url } = await start(["towns.csv", "--basemap", "https://tiles.example.org/a/{z}/{x}/{y}.png"]);
    const { headers } = await ask(url, new URL(url).pathname);
    expect(headers["content-security-policy"]).toContain("img-src 'self' https://tiles.example.org;");
  });

  test("serves no files, however they are asked for", async () => {
    const { url } = await start();
    const secret = secretOf(url);
    for (const path of [
      "../package.json",
      "..%2f..%2fetc%2fpasswd",
      "%2e%2e/%2e%2e/etc/passwd",
      "layer/0/../../view.js/../x",
      "layer/0/constructor",
      "layer/0/toString",
      "layer/9/count",
      "layer/-1/count",
      "nothing",
    ]) {
      const { status } = await ask(url, `/${secret}/${path}`);
      expect([path, status]).toEqual([path, 404]);
    }
  });

  test("supports GET and HEAD only", async () => {
    const { url } = await start();
    const path = new URL(url).pathname;
    const { status, headers } = await ask(url, path, { method: "POST" });
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
    const head = await ask(url, path, { method: "HEAD" });
    expect([head.status, head.body.length, Number(head.headers["content-length"]) > 1000]).toEqual([200, 0, true]);
  });

  test("refuses numbers outside of their ranges, and goes on", async () => {
    const { url } = await start();
    const path = new URL(url).pathname;
    for (const [name, reason] of [
      ["layer/0/tile/21/0/0", "the parameter z must be a number from 0 to 20"],
      ["layer/0/tile/1/2/0", "the parameter x must be a number from 0 to 1"],
      ["layer/0/rows?from=0&count=100000", "the parameter count must be a number from 0 to 1000"],
      ["layer/0/rows?from=-1&count=1", "the parameter from must be a number from 0 to 2"],
      ["layer/0/rows?from=0&count=1&sort=asc-9", "the parameter sort must be a number from -1 to 1"],
      ["layer/0/rows?from=0&count=1&sort=up-1", "there is no such order"],
      ["layer/0/feature?row=2&zoom=3", "the parameter row must be a number from 0 to 1"],
      ["layer/0/legend?color=magic-0", "there is no such way to color"],
      ["layer/0/legend", "the parameter color is missing"],
      ["pick?layers=7&x=0&y=0&zoom=0", "the layers are not a list"],
      ["layer/0/locate?longitude=x&latitude=0", "the parameter longitude must be a number from -540 to 540"],
    ] as const) {
      const { status, body } = await ask(url, `${path}${name}`);
      expect([name, status, JSON.parse(String(body)).error]).toEqual([name, 400, reason]);
    }
    const { status, body } = await ask(url, `${path}layer/0/count?where=${encodeURIComponent("people >")}`);
    expect([status, JSON.parse(String(body)).error]).toEqual([400, expect.stringContaining("--where")]);
    expect(JSON.parse(String((await ask(url, `${path}layer/0/count?where=people%20%3E%203e6`)).body))).toEqual({
      rows: 1,
      located: 1,
    });
  });

  test("serves tiles, rows and features", async () => {
    const { url } = await start();
    const path = new URL(url).pathname;
    const tile = (await ask(url, `${path}layer/0/tile/0/0/0`)).body;
    const content = decodeTile(tile.buffer.slice(tile.byteOffset, tile.byteOffset + tile.length) as ArrayBuffer);
    // cs2cs to EPSG:3857, as shares of the world times 4096: Berlin 2200.46, 1343.68; Paris 2074.74, 1409.25.
    expect([content.dotted, [...content.dots.xy].sort((a, b) => a - b)]).toEqual([2, [1344, 1409, 2075, 2200]]);
    const rows = await ask(url, `${path}layer/0/rows?from=0&count=9&sort=asc-1`);
    expect(JSON.parse(String(rows.body)).map(({ cells }: { cells: unknown[] }) => cells)).toEqual([
      ["Paris", 2_100_000],
      ["Berlin", 3_600_000],
    ]);
    const feature = JSON.parse(String((await ask(url, `${path}layer/0/feature?row=0&zoom=5`)).body));
    expect([feature.wkt, feature.cells]).toEqual(["POINT (13.4 52.5)", ["Berlin", 3_600_000]]);
  });
});

describe("the end", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("by %s leaves no temporary files, and is a success", async (signal) => {
    const folder = scratch.path(`tmp-${signal}`);
    mkdirSync(folder);
    const view = await start(["towns.csv"], { TMPDIR: folder });
    expect(readdirSync(folder).length).toBe(1);
    const open = fetch(`${view.url}analysis`);
    await open;
    expect(await view.stop(signal)).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    await expect(fetch(view.url)).rejects.toThrow();
  });
});

describe("the command", () => {
  const run = (...args: string[]) => geoferry(["view", ...args], { cwd: scratch.folder });

  test("prints the address alone on stdout, and with --json as a record", async () => {
    const view = await start();
    await expect.poll(() => view.stderr()).toContain("showing 1 layer until Ctrl-C");
    const json = await start(["towns.csv", "--json"]);
    expect(json.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
  });

  test("fails as other commands do if no input can be read", () => {
    expect(run("missing.gpkg")).toMatchObject({
      status: 3,
      stderr: "geoferry: missing.gpkg: there is no such file or folder\n",
    });
  });

  test("shows the inputs that can be read, and names the others", async () => {
    const view = await start(["towns.csv", "missing.gpkg"]);
    const { inputs, layers } = (await (await fetch(`${view.url}view.json`)).json()) as {
      inputs: { input: string; error: string | null }[];
      layers: unknown[];
    };
    expect([layers.length, inputs.map(({ error }) => error)]).toEqual([
      1,
      [null, "missing.gpkg: there is no such file or folder"],
    ]);
    expect(await view.stop()).toBe(3);
  });

  test("shows features that cannot be on the map in the table", async () => {
    writeFileSync(scratch.path("metres.csv"), "name,x,y\nA,500000,5800000\nB,510000,5810000\n");
    const view = await start(["metres.csv", "--in", "x=x", "--in", "y=y"]);
    expect(view.stderr()).toMatch(/--source-crs.*; until then its features are in the table only/);
    expect(view.stderr()).not.toContain("--no-reproject");
    const { layers } = (await (await fetch(`${view.url}view.json`)).json()) as {
      layers: { rows: number; located: number }[];
    };
    expect(layers.map(({ rows, located }) => [rows, located])).toEqual([[2, 0]]);
  });

  test("checks its options before it reads", () => {
    writeFileSync(scratch.path("there.html"), "");
    expect(run("towns.csv", "-o", "there.html")).toMatchObject({
      status: 2,
      stderr: "geoferry: there.html: exists already; use --overwrite to replace it\n",
    });
    expect(run("towns.csv", "--basemap", "tiles").stderr).toBe(
      'geoferry: option --basemap: "tiles" is not an http or https address with {z}, {x} and {y}: https://tiles.example.org/{z}/{x}/{y}.png\n',
    );
    expect(run("towns.csv", "--max-size", "5").stderr).toBe(
      "geoferry: --max-size and --overwrite are for a page that -o writes\n",
    );
    expect(run("towns.csv", "-o", "x.html", "--max-size", "0.1").stderr).toBe(
      'geoferry: option --max-size: "0.1" is not a number from 0.5\n',
    );
    expect(existsSync(scratch.path("x.html"))).toBe(false);
  });

  test("does not replace an input by a page", () => {
    const before = readFileSync(scratch.path("towns.csv"), "utf8");
    expect(run("towns.csv", "-o", "towns.csv", "--overwrite")).toMatchObject({
      status: 2,
      stderr: "geoferry: towns.csv: is read and written in one run; write to another name\n",
    });
    expect(readFileSync(scratch.path("towns.csv"), "utf8")).toBe(before);
  });

  test("writes a page to stdout, but not between records", () => {
    const { status, stdout } = run("towns.csv", "-o", "-");
    expect([status, stdout.slice(0, 15), stdout.trimEnd().slice(-7)]).toEqual([0, "<!doctype html>", "</html>"]);
    expect(run("towns.csv", "-o", "-", "--json")).toMatchObject({
      status: 2,
      stdout: expect.stringContaining('"code":"usage"'),
      stderr: "geoferry: both the page (-o is -) and the records of --json would go to stdout: choose one\n",
    });
    const record = run("towns.csv", "-o", "record.html", "--json").stdout.trimEnd().split("\n").at(-1)!;
    expect(JSON.parse(record)).toMatchObject({ type: "page", output: "record.html", layers: 1, generalized: [] });
  });

  test("opens the browser with an address that works once", async () => {
    const folder = scratch.path("bin");
    mkdirSync(folder);
    writeFileSync(`${folder}/xdg-open`, `#!/bin/sh\necho "$1" > "${folder}/opened"\n`, { mode: 0o755 });
    const { spawn } = await import("node:child_process");
    const { main } = await import("../support/command.js");
    const child = spawn(process.execPath, [main, "view", "towns.csv"], {
      cwd: scratch.folder,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}`, DISPLAY: ":9" },
    });
    try {
      const [text] = await once(child.stdout, "data");
      const url = String(text).trim();
      await expect.poll(() => existsSync(`${folder}/opened`), { timeout: 20_000 }).toBe(true);
      const opened = readFileSync(`${folder}/opened`, "utf8").trim();
      expect(opened).not.toContain(secretOf(url));
      const first = await ask(url, new URL(opened).pathname);
      expect([first.status, first.headers.location]).toEqual([303, url]);
      expect((await ask(url, new URL(opened).pathname)).status).toBe(404);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
