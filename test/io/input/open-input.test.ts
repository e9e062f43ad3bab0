import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { type InputOptions, openInput } from "../../../src/io/input/open-input.js";
import { FileSource } from "../../../src/io/input/source.js";
import { Spool } from "../../../src/io/input/spool.js";
import { type NetworkSettings, withNetworkSettings } from "../../../src/network-settings.js";
import { CompiledSources } from "../../support/compiled-sources.js";
import { ownMark } from "../../support/marks.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
let spool: Spool;
beforeEach(() => {
  scratch = new TemporaryFolder();
  spool = new Spool(scratch.folder);
});
afterEach(async () => {
  await spool[Symbol.asyncDispose]();
  scratch.remove();
});

const open = async (address: string, options: Partial<InputOptions> = {}) => {
  const members = await openInput(address, { spool, signal: new AbortController().signal, ...options });
  return members[0]!.source;
};

async function failure(address: string, options: Partial<InputOptions> = {}): Promise<GeoferryError> {
  const error = await open(address, options).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GeoferryError);
  return error as GeoferryError;
}

const spooled = () =>
  readdirSync(scratch.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describe("a path", () => {
  test("a path is opened directly", async () => {
    writeFileSync(scratch.path("a.csv"), "x");
    const source = await open(scratch.path("a.csv"));
    expect(source.path).toBe(scratch.path("a.csv"));
    expect((await open(`file://${scratch.path("a.csv")}`)).path).toBe(source.path);
  });

  test("a missing path, a folder and an unknown scheme are rejected", async () => {
    expect((await failure(scratch.path("no.csv"))).code).toBe("input-missing");
    expect((await failure(scratch.folder)).message).toContain("it is a folder");
    writeFileSync(scratch.path("file.csv"), "x,y");
    const below = await failure(scratch.path("file.csv/a.csv"));
    expect([below.code, below.message]).toEqual(["input-unreadable", expect.stringContaining("is not a folder")]);
    const other = await failure("ftp://me:secret@host/a.csv?key=secret");
    expect(other.message).toContain("ftp://host/a.csv: cannot be read: addresses with ftp:");
    expect(other.message).not.toContain("secret");
  });

  test("a path to a pipe is spooled", async () => {
    execFileSync("mkfifo", [scratch.path("pipe")]);
    spawn("sh", ["-c", `sleep 0.1; printf 'x,y' > '${scratch.path("pipe")}'`]);
    const source = await open(scratch.path("pipe"));
    expect(readFileSync(source.path, "utf8")).toBe("x,y");
    expect(source.name).toBe(scratch.path("pipe"));
  });
});

describe("stdin", () => {
  const chunks = (count: number) =>
    Readable.from(Array.from({ length: count }, (_, index) => Buffer.alloc(70_000, index)));

  test("stdin is spooled to a private file", async () => {
    const reported: [number, number | null][] = [];
    const source = await open("-", { stdin: chunks(40), progress: (...now) => reported.push(now) });
    expect(source.name).toBe("stdin");
    expect(source.size).toBe(2_800_000);
    expect(statSync(source.path).mode & 0o777).toBe(0o600);
    expect(reported.at(-1)).toEqual([2_800_000, null]);
    expect(reported.length).toBeGreaterThan(2);
  });

  test("stdin has a size limit", async () => {
    expect((await failure("-", { stdin: chunks(40), maxBytes: 100_000 })).code).toBe("input-too-large");
    expect(spooled()).toEqual([]);
  });

  test("an endless stdin can be interrupted", async () => {
    const aborter = new AbortController();
    setTimeout(() => aborter.abort(), 50);
    const stdin = new Readable({ read() {} });
    stdin.push("something");
    expect((await failure("-", { stdin, signal: aborter.signal })).code).toBe("interrupted");
    expect(spooled()).toEqual([]);
  });
});

test("companions that appear or disappear are noticed, also in a folder with an old modification time", () => {
  writeFileSync(scratch.path("roads.shp"), "shape");
  writeFileSync(scratch.path("ROADS.Dbf"), "table");
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(scratch.folder, old, old);
  const roads = FileSource.at(scratch.path("roads.shp"));
  expect(roads.findSibling("dbf")?.name).toBe(scratch.path("ROADS.Dbf"));
  expect(roads.findSibling("prj")).toBeNull();
  writeFileSync(scratch.path("roads.prj"), "crs");
  writeFileSync(scratch.path("roads.dbf"), "table");
  expect(roads.findSibling("prj")?.name).toBe(scratch.path("roads.prj"));
  expect(roads.findSibling("dbf")?.name).toBe(scratch.path("roads.dbf"));
  rmSync(scratch.path("roads.prj"));
  expect(roads.findSibling("prj")).toBeNull();
});

describe("a URL", () => {
  const servers: { server: Server; sockets: Set<Socket> }[] = [];

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => sockets.add(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push({ server, sockets });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  afterEach(() => {
    for (const { server, sockets } of servers.splice(0)) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  describe("with files beside it", () => {
    const siblingsOf = (name: string) => (/\.shp$/i.test(name) ? ["dbf", "prj"] : []);

    /** Answers from a table of paths, and keeps what was asked for. */
    async function folderServer(files: Record<string, string | number>) {
      const asked: string[] = [];
      const base = await serve((request, response) => {
        asked.push(request.url!);
        const content = files[request.url!.split("?")[0]!] ?? 404;
        if (typeof content === "number") response.writeHead(content).end();
        else if (content.startsWith("<html")) response.writeHead(200, { "content-type": "text/html" }).end(content);
        else response.end(content);
      });
      return { base, asked };
    }

    test("companions of a URL are fetched with its query, first in the letter case of the main file", async () => {
      const { base, asked } = await folderServer({
        "/d/roads.shp": "shape",
        "/d/roads.DBF": "table",
        "/d/roads.prj": "crs",
      });
      const roads = await open(`${base}/d/roads.shp?key=1#x`, { siblingsOf });
      expect(readFileSync(roads.findSibling("dbf")!.path, "utf8")).toBe("table");
      expect(readFileSync(roads.findSibling("prj")!.path, "utf8")).toBe("crs");
      expect(roads.findSibling("prj")!.name).toBe(`${base}/d/roads.prj`);
      expect(asked.sort()).toEqual([
        "/d/roads.DBF?key=1",
        "/d/roads.dbf?key=1",
        "/d/roads.prj?key=1",
        "/d/roads.shp?key=1",
      ]);
      const upper = await folderServer({ "/ROADS.SHP": "shape", "/ROADS.DBF": "table", "/ROADS.PRJ": "crs" });
      const loud = await open(`${upper.base}/ROADS.SHP`, { siblingsOf });
      expect(loud.findSibling("dbf")?.size).toBe(5);
      expect(upper.asked).not.toContain("/ROADS.dbf");
    });

    test.each([404, 403, 410, "<html><body>not found"])(
      "companions of a URL with the response %s count as absent",
      async (answer) => {
        const { base } = await folderServer({
          "/roads.shp": "shape",
          ...Object.fromEntries(["dbf", "DBF", "prj", "PRJ"].map((each) => [`/roads.${each}`, answer])),
        });
        const roads = await open(`${base}/roads.shp`, { siblingsOf });
        expect(roads.findSibling("dbf")).toBeNull();
        expect(roads.findSibling("prj")).toBeNull();
      },
    );

    test("a companion that the server fails to send is an error", async () => {
      const { base } = await folderServer({ "/roads.shp": "shape", "/roads.dbf": 500 });
      await expect(open(`${base}/roads.shp`, { siblingsOf })).rejects.toMatchObject({
        code: "input-unavailable",
        message: expect.stringContaining("/roads.dbf: cannot be downloaded now: the server answers 500"),
      });
    });

    test("companions of a URL count towards the limit and the progress", async () => {
      const { base } = await folderServer({ "/roads.shp": "12345", "/roads.dbf": "12345", "/roads.prj": "12345" });
      const reported: number[] = [];
      await open(`${base}/roads.shp`, { siblingsOf, maxBytes: 15, progress: (done) => reported.push(done) });
      expect(Math.max(...reported)).toBeGreaterThan(5);
      await expect(open(`${base}/roads.shp`, { siblingsOf, maxBytes: 14 })).rejects.toMatchObject({
        code: "input-too-large",
      });
    });
  });

  const body = Buffer.alloc(3_000_000, "x,y\n1,2\n");

  test("a URL is downloaded under its own name, with and without a length", async () => {
    const host = await serve((request, response) => {
      if (request.url?.startsWith("/sized")) response.setHeader("content-length", body.length);
      response.write(body.subarray(0, 1000));
      response.end(body.subarray(1000));
    });
    const reported: [number, number | null][] = [];
    const sized = await open(`${host}/sized/r%C3%B6ads.csv?token=secret#x`, {
      progress: (...now) => reported.push(now),
    });
    expect(readFileSync(sized.path).equals(body)).toBe(true);
    expect(basename(sized.path)).toBe("röads.csv");
    expect(sized.name).toBe(`${host}/sized/röads.csv`);
    expect(reported.at(-1)).toEqual([3_000_000, 3_000_000]);
    const chunked = await open(`${host}/chunked.csv`, { progress: (...now) => reported.push(now) });
    expect(chunked.size).toBe(3_000_000);
    expect(reported.at(-1)).toEqual([3_000_000, null]);
  });

  test("a compressed download is decompressed, and the limit applies to the result", async () => {
    const host = await serve((_, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(body));
    });
    expect((await open(`${host}/a.csv`)).size).toBe(3_000_000);
    expect((await failure(`${host}/a.csv`, { maxBytes: 1_000_000 })).code).toBe("input-too-large");
  });

  test("a download gets the name that the server states", async () => {
    const cases: [string, string, string][] = [
      ["/get?id=1", `attachment; filename="roads of x.geojson"`, "roads of x.geojson"],
      ["/get", `attachment; filename*=UTF-8''stra%C3%9Fe.csv; filename="plain.csv"`, "straße.csv"],
      ["/get", `attachment; filename="../../../etc/a.csv"`, "a.csv"],
      ["/get", `attachment; filename=C:\\data\\b.gpx`, "b.gpx"],
      ["/get", `inline; filename="..."`, "get.json"],
      ["/a.csv", `attachment; filename=download`, "a.csv"],
      ["/", "", "download.json"],
      ["/%2e%2e%2fevil.csv", "", "evil.csv"],
      [`/${"n".repeat(300)}.csv`, "", `${"n".repeat(146)}.csv`],
    ];
    for (const [path, disposition, name] of cases) {
      const host = await serve((_, response) => {
        if (disposition) response.setHeader("content-disposition", disposition);
        response.setHeader("content-type", "application/json; charset=utf-8");
        response.end("{}");
      });
      const source = await open(host + path);
      expect(basename(source.path)).toBe(name);
      expect(source.path.startsWith(join(scratch.folder, "geoferry-"))).toBe(true);
      expect(source.name.endsWith(`/${name}`)).toBe(true);
    }
  });

  test("a download follows a limited number of redirects, without credentials to other hosts", async () => {
    const seen: string[] = [];
    const other = await serve((request, response) => {
      seen.push(`other ${request.headers.authorization ?? "nothing"}`);
      response.end("x");
    });
    const host = await serve((request, response) => {
      seen.push(`host ${request.headers.authorization ?? "nothing"}`);
      const to =
        request.url === "/loop.csv?key=hidden"
          ? "/loop.csv?key=hidden"
          : request.url === "/odd.csv"
            ? "file:///etc/passwd"
            : `${other}/final.csv`;
      response.writeHead(302, { location: to }).end();
    });
    const address = `${host.replace("http://", "http://me:p%40ss@")}/start`;
    const source = await open(address);
    expect(seen).toEqual([`host Basic ${Buffer.from("me:p@ss").toString("base64")}`, "other nothing"]);
    expect(basename(source.path)).toBe("final.csv");
    expect(source.name).toBe(`${host}/start/final.csv`);
    const loop = await failure(`${host.replace("http://", "http://me:p%40ss@")}/loop.csv?key=hidden`);
    expect(loop.code).toBe("input-download");
    expect(loop.message).toContain(`${host}/loop.csv: cannot be downloaded: the server redirects more than 10 times`);
    expect(JSON.stringify([loop.message, loop.details])).not.toMatch(/p%40ss|p@ss|hidden/);
    expect((await failure(`${host}/odd.csv`)).message).toContain("redirects to file:");
  });

  test("a download gets no https advice if a redirect target closes the connection", async () => {
    const silent = await serve((request) => request.socket.destroy());
    const plain = await serve((_, response) => response.writeHead(302, { location: `${silent}/far.csv` }).end());
    const direct = await open(`${silent}/far.csv`).catch((error: Error) => error.message);
    expect(direct).toContain("write https://");
    const redirected = await open(`${plain}/near.csv`).catch((error: Error) => error.message);
    expect(redirected).toContain("the server closed the connection");
    expect(redirected).not.toContain("write https://");
  });

  test.each([
    [404, "input-download"],
    [410, "input-download"],
    [204, "input-download"],
    [206, "input-download"],
    [401, "input-forbidden"],
    [403, "input-forbidden"],
    [429, "input-unavailable"],
    [500, "input-unavailable"],
    [503, "input-unavailable"],
  ])("a download with status %i is rejected as %s", async (status, code) => {
    const host = await serve((_, response) => response.writeHead(status).end());
    const error = await failure(`${host}/a.csv`);
    expect(error.code).toBe(code);
    expect(error.message).toContain(`the server answers ${status}`);
  });

  test("a download of a web page is rejected; data with media type text/html is not", async () => {
    const host = await serve((request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(
        request.url === "/a.kml" ? '<?xml version="1.0"?><kml/>' : "\n<!-- x -->\n<!DOCTYPE HTML><html><body>Log in",
      );
    });
    expect((await failure(`${host}/a.csv`)).message).toContain("sent a web page");
    expect((await open(`${host}/a.kml`)).size).toBe(27);
  });

  test("a download that ends early is rejected, with and without a length", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/sized.csv") response.setHeader("content-length", body.length);
      response.write(body.subarray(0, 1_500_000), () => setTimeout(() => response.destroy(), 50));
    });
    for (const name of ["sized.csv", "chunked.csv"]) {
      const error = await failure(`${host}/${name}`);
      expect(error.code).toBe("input-unavailable");
      expect(error.message).toContain("the server closed the connection");
    }
    expect(spooled()).toEqual([]);
  });

  test("a download may be slow, but not silent", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/nothing.csv") return;
      let count = 0;
      const timer = setInterval(() => {
        response.write("x");
        if (response.destroyed) clearInterval(timer);
        count += 1;
        if (count === 6 && request.url !== "/drip.csv") {
          clearInterval(timer);
          if (request.url === "/slow.csv") response.end();
        }
      }, 100);
    });
    const limits = { timeout: 400, minimumRate: 1 };
    expect((await withNetworkSettings(limits, () => open(`${host}/slow.csv`))).size).toBe(6);
    const reasonOf = async (name: string, settings: Partial<NetworkSettings>) =>
      (await withNetworkSettings(settings, () => failure(`${host}/${name}`))).message;
    expect(await reasonOf("nothing.csv", limits)).toContain("no answer within 0.4 s (--timeout)");
    expect(await reasonOf("stalled.csv", limits)).toContain("the server sends nothing for 0.4 s (--timeout)");
    expect(await reasonOf("drip.csv", { timeout: 400, minimumRate: 100 })).toMatch(
      /the server sends [\d.]+ bytes a second for 0\.4 s, fewer than 100 \(--minimum-rate, --timeout\)/,
    );
    expect(spooled().map(({ name }) => name)).toEqual(["slow.csv"]);
  });

  test("a download that announces too many bytes is rejected", async () => {
    let sent = 0;
    const host = await serve((_, response) => {
      response.setHeader("content-length", 10 ** 12);
      const more = () => {
        sent += body.length;
        if (!response.destroyed) response.write(body, more);
      };
      more();
    });
    const error = await failure(`${host}/a.csv`, { maxBytes: 1000 });
    expect(error.code).toBe("input-too-large");
    expect(sent).toBeLessThan(10 ** 8);
  });

  test("a download can be interrupted at once", async () => {
    const host = await serve((_, response) => response.write("x"));
    const aborter = new AbortController();
    setTimeout(() => aborter.abort(), 100);
    expect((await failure(`${host}/a.csv`, { signal: aborter.signal })).code).toBe("interrupted");
    expect(spooled()).toEqual([]);
  });

  test("a URL that is invalid or has no server is rejected with the reason", async () => {
    const host = await serve(() => {});
    servers[0]!.server.close();
    const refused = await failure(`${host}/a.csv`);
    expect(refused.code).toBe("input-unavailable");
    expect(refused.message).toContain("refuses the connection");
    // A name that RFC 2606 keeps from ever being given.
    expect((await failure("http://nowhere.invalid/a.csv")).code).toBe("input-unavailable");
    expect((await failure("http://")).message).toContain("not a valid address");
    expect((await failure("http://me:secret@[bad/a.csv")).message).not.toContain("secret");
  });

  test("a zip from a URL is unpacked", async () => {
    writeFileSync(scratch.path("a.csv"), "x");
    execFileSync("zip", ["-q", "a.zip", "a.csv"], { cwd: scratch.folder });
    const host = await serve((_, response) => response.end(readFileSync(scratch.path("a.zip"))));
    expect((await open(`${host}/a.zip?key=1`)).name).toBe(`${host}/a.zip/a.csv`);
  });
});

describe("the spool", () => {
  const compiled = new CompiledSources(["src/io/input/spool.ts"]);
  afterAll(() => compiled.remove());
  const script = compiled.script(
    "spool.js",
    `
    import { writeFileSync } from "node:fs";
    const { Spool } = await import(${JSON.stringify(compiled.url("src/io/input/spool.js"))});
    const spool = new Spool(process.argv[2]);
    writeFileSync(spool.file("a/b"), "x");
    if (process.argv[3] === "kill") process.kill(process.pid, "SIGKILL");
    if (process.argv[3] === "throw") throw new Error("on purpose");
    `,
  );
  const run = (manner: string) => spawnSync(process.execPath, [script, scratch.folder, manner]);

  test("the spool is private, created when needed, and removed on dispose", async () => {
    expect(readdirSync(scratch.folder)).toEqual([]);
    const path = spool.file("x/y.bin");
    writeFileSync(path, "x");
    const [root] = readdirSync(scratch.folder);
    expect(statSync(join(scratch.folder, root!)).mode & 0o777).toBe(0o700);
    expect(spool.folder()).not.toBe(spool.folder());
    expect(() => spool.file("../out")).toThrow(/outside/);
    await spool[Symbol.asyncDispose]();
    expect(readdirSync(scratch.folder)).toEqual([]);
    expect(() => spool.file("late")).toThrow(/disposed/);
  });

  test.each(["end", "throw"])("the spool is removed when the process exits: %s", (manner) => {
    run(manner);
    expect(readdirSync(scratch.folder)).toEqual([]);
  });

  test("the spool of a killed process is removed by the next run; those of running processes and of other machines are kept", async () => {
    expect(run("kill").signal).toBe("SIGKILL");
    const [dead] = readdirSync(scratch.folder);
    const living = `geoferry-${ownMark}`;
    const elsewhere = dead!.replace(/^geoferry-[0-9a-f]{8}/, "geoferry-00000000");
    const forgotten = dead!.replace(/^geoferry-[0-9a-f]{8}/, "geoferry-11111111");
    for (const name of [living, elsewhere, forgotten, "geoferry-notes"]) mkdirSync(scratch.path(name));
    utimesSync(scratch.path(forgotten), 1e9, 1e9);
    run("end");
    expect(readdirSync(scratch.folder).sort()).toEqual([living, elsewhere, "geoferry-notes"].sort());
    expect(existsSync(scratch.path(dead!))).toBe(false);
  });

  test("a spool on a full disk is reported", async () => {
    expect(process.getuid?.(), "a small file system must be mounted for this test").toBe(0);
    const disk = scratch.path("disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk]);
    try {
      await using small = new Spool(disk);
      const stdin = Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(70_000)));
      const error = await failure("-", { stdin, spool: small });
      expect(error.code).toBe("output-failed");
      expect(error.message).toContain("the disk is full (temporary files go to the folder that TMPDIR names)");
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});
