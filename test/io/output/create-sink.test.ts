import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { createSink } from "../../../src/io/output/create-sink.js";
import { CompiledSources } from "../../support/compiled-sources.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

const bytes = (content: string) => Buffer.from(content);
const content = (name: string) => readFileSync(scratch.path(name), "utf8");
const files = () => readdirSync(scratch.folder).sort();

async function write(name: string, parts: Record<string, string>, options = {}): Promise<void> {
  const sink = await createSink(scratch.path(name), { overwrite: false, ...options });
  for (const [extension, words] of Object.entries(parts)) {
    const file = await sink.create(extension === "" ? undefined : extension);
    await file.write(bytes(words));
  }
  await sink.commit();
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof GeoferryError ? error.code : String(error);
}

describe("one file", () => {
  test("a file is not visible before the commit, and complete after it", async () => {
    const sink = await createSink(scratch.path("a.csv"), { overwrite: false });
    const file = await sink.create();
    await file.write(bytes("x,y\n"));
    expect(files().filter((name) => !name.startsWith("."))).toEqual([]);
    await sink.commit();
    expect(files()).toEqual(["a.csv"]);
    expect(content("a.csv")).toBe("x,y\n");
  });

  test("a file replaces another in one step and keeps its permissions", async () => {
    writeFileSync(scratch.path("a.csv"), "old");
    chmodSync(scratch.path("a.csv"), 0o604);
    const sink = await createSink(scratch.path("a.csv"), { overwrite: true });
    const file = await sink.create();
    await file.write(bytes("new"));
    expect(statSync(file.path!).mode & 0o077).toBe(0o004);
    expect(content("a.csv")).toBe("old");
    await sink.commit();
    expect(content("a.csv")).toBe("new");
    expect(statSync(scratch.path("a.csv")).mode & 0o7777).toBe(0o604);
    expect(files()).toEqual(["a.csv"]);
  });

  test("a file is not created over an existing one, also if it appeared during the run", async () => {
    const early = await createSink(scratch.path("a.csv"), { overwrite: false });
    await (await early.create()).write(bytes("mine"));
    writeFileSync(scratch.path("a.csv"), "theirs");
    expect(await codeOf(createSink(scratch.path("a.csv"), { overwrite: false }))).toBe("output-exists");
    expect(await codeOf(early.commit())).toBe("output-exists");
    expect(content("a.csv")).toBe("theirs");
    expect(files()).toEqual(["a.csv"]);
  });

  test("an aborted file leaves nothing, not even folders created for it", async () => {
    const path = scratch.path("one/two/a.csv");
    const sink = await createSink(path, { overwrite: false });
    const file = await sink.create();
    await file.write(bytes("x"));
    writeFileSync(`${file.path}-wal`, "of SQLite");
    await sink.abort();
    expect(files()).toEqual([]);
  });

  test("a file is written through a symbolic link, also one without a target", async () => {
    mkdirSync(scratch.path("real"));
    symlinkSync("real/a.csv", scratch.path("link.csv"));
    symlinkSync("link.csv", scratch.path("link2.csv"));
    await write("link2.csv", { "": "first" });
    await write("link.csv", { "": "second" }, { overwrite: true });
    expect(lstatSync(scratch.path("link.csv")).isSymbolicLink()).toBe(true);
    expect(content("real/a.csv")).toBe("second");
    expect(readdirSync(scratch.path("real"))).toEqual(["a.csv"]);
  });

  test("a file is also written by a library that needs a path", async () => {
    const sink = await createSink(scratch.path("a.db"), { overwrite: false });
    const { path } = await sink.create();
    execFileSync("python3", [
      "-c",
      "import sqlite3,sys;c=sqlite3.connect(sys.argv[1]);c.execute('create table t(a)');c.commit()",
      path!,
    ]);
    await sink.commit();
    expect(readFileSync(scratch.path("a.db")).subarray(0, 15).toString()).toBe("SQLite format 3");
    expect(files()).toEqual(["a.db"]);
  });

  test("a file has the bytes that were written and patched, in writes of any size", async () => {
    const piece = fc.oneof(
      fc.record({ append: fc.integer({ min: 0, max: 3_000_000 }) }),
      fc.record({ append: fc.integer({ min: 0, max: 5_000 }) }),
      fc.record({ patchAt: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.integer({ min: 0, max: 400_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const sink = await createSink(scratch.path("random.bin"), { overwrite: true });
        const file = await sink.create();
        let expected = Buffer.alloc(0);
        let byte = 0;
        for (const each of pieces) {
          byte += 1;
          if ("append" in each) {
            const chunk = Buffer.alloc(each.append, byte);
            await file.write(chunk);
            expected = Buffer.concat([expected, chunk]);
            chunk.fill(255);
          } else {
            const at = Math.floor(each.patchAt * expected.length);
            const chunk = Buffer.alloc(Math.min(each.length, expected.length - at), byte);
            await file.patch(at, chunk);
            chunk.copy(expected, at);
            chunk.fill(255);
          }
          expect(file.size).toBe(expected.length);
        }
        await sink.commit();
        expect(readFileSync(scratch.path("random.bin")).equals(expected)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test("a file cannot be patched beyond its end", async () => {
    const sink = await createSink(scratch.path("a"), { overwrite: false });
    const file = await sink.create();
    await file.write(bytes("abc"));
    await expect(file.patch(2, bytes("xy"))).rejects.toThrow(RangeError);
    await sink.abort();
  });
});

describe("a set", () => {
  const companions = ["shx", "dbf", "sbn", "shp.xml"];

  test("a set replaces an older one and removes its other companions", async () => {
    for (const name of ["a.shp", "a.shx", "a.dbf", "a.SBN", "a.shp.xml", "a.txt", "ab.sbn"]) {
      writeFileSync(scratch.path(name), "old");
    }
    await write("a.shp", { "": "new", shx: "new", dbf: "new" }, { overwrite: true, companions });
    expect(files()).toEqual(["a.dbf", "a.shp", "a.shx", "a.txt", "ab.sbn"]);
    expect(content("a.dbf")).toBe("new");
  });

  test("a set is not created where an existing companion would seem to belong to it", async () => {
    writeFileSync(scratch.path("a.sbn"), "index of something else");
    const refused = write("a.shp", { "": "new" }, { companions });
    await expect(refused).rejects.toThrow(/a\.sbn: exists already/);
    expect(files()).toEqual(["a.sbn"]);
  });

  test("a set keeps the old one if a folder has one of its names", async () => {
    for (const name of ["a.shp", "a.dbf"]) writeFileSync(scratch.path(name), "old");
    const sink = await createSink(scratch.path("a.shp"), { overwrite: true, companions });
    for (const extension of [undefined, "dbf", "shx"]) await (await sink.create(extension)).write(bytes("new"));
    mkdirSync(scratch.path("a.shx"));
    await expect(sink.commit()).rejects.toThrow(/a\.shx: cannot be written: it is a folder/);
    expect(content("a.shp") + content("a.dbf")).toBe("oldold");
    expect(files()).toEqual(["a.dbf", "a.shp", "a.shx"]);
  });

  test("a set with symbolic links is written to their targets", async () => {
    mkdirSync(scratch.path("real"));
    mkdirSync(scratch.path("out"));
    for (const extension of ["shp", "dbf", "sbn"]) {
      writeFileSync(scratch.path(`real/roads.${extension}`), "old");
      symlinkSync(`../real/roads.${extension}`, scratch.path(`out/roads.${extension}`));
    }
    await write("out/roads.shp", { "": "new", dbf: "new", shx: "new" }, { overwrite: true, companions });
    expect(readdirSync(scratch.path("real")).sort()).toEqual(["roads.dbf", "roads.shp", "roads.shx"]);
    expect(content("out/roads.shp") + content("out/roads.dbf")).toBe("newnew");
  });
});

describe("a zip", () => {
  const pack = async (name: string, options = {}) =>
    write(
      name,
      { "": "shape ".repeat(1000), dbf: "table", prj: "" },
      { zip: { main: "roads.shp" }, now: new Date("2001-02-03T04:05:06Z"), ...options },
    );

  test("a zip holds the set under its stem with the time of the run, as other programs read it", async () => {
    await pack("roads.shp.zip");
    const listing = execFileSync("unzip", ["-Z", scratch.path("roads.shp.zip")], { encoding: "utf8" });
    expect([...listing.matchAll(/01-Feb-03 04:05 (\S+)/g)].map((match) => match[1])).toEqual([
      "roads.shp",
      "roads.dbf",
      "roads.prj",
    ]);
    expect(execFileSync("unzip", ["-p", scratch.path("roads.shp.zip"), "roads.dbf"], { encoding: "utf8" })).toBe(
      "table",
    );
    expect(files()).toEqual(["roads.shp.zip"]);
  });

  test("a zip has the same bytes in any time zone", async () => {
    const zone = process.env.TZ;
    try {
      process.env.TZ = "America/New_York";
      await pack("a.shz", { now: new Date("2021-03-14T02:30:00Z") });
      process.env.TZ = "Asia/Kolkata";
      await pack("b/a.shz", { now: new Date("2021-03-14T02:30:00Z") });
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
    expect(readFileSync(scratch.path("a.shz")).equals(readFileSync(scratch.path("b/a.shz")))).toBe(true);
  });

  test("an aborted zip leaves nothing", async () => {
    const sink = await createSink(scratch.path("a.shz"), { overwrite: false, zip: { main: "a.shp" } });
    await (await sink.create("dbf")).write(bytes("x"));
    await sink.abort();
    expect(files()).toEqual([]);
  });
});

describe("trouble with the disk", () => {
  const isRoot = process.getuid?.() === 0;

  test("a full disk is reported with its reason, and nothing is left", async () => {
    expect(isRoot, "a small file system must be mounted for this test").toBe(true);
    const disk = scratch.path("disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "none", disk]);
    try {
      for (const options of [{}, { zip: { main: "a.shp" } }]) {
        writeFileSync(`${disk}/a.shz`, "old");
        const fill = async () => {
          await using sink = await createSink(`${disk}/a.shz`, { overwrite: true, ...options });
          const file = await sink.create();
          for (let megabyte = 0; megabyte < 5; megabyte += 1) await file.write(Buffer.alloc(1 << 20));
          await sink.commit();
        };
        await expect(fill()).rejects.toThrow("a.shz: cannot be written: the disk is full; nothing is left behind");
        expect(readdirSync(disk)).toEqual(["a.shz"]);
        expect(readFileSync(`${disk}/a.shz`, "utf8")).toBe("old");
      }
      // Small enough to be still in memory when the commit begins.
      writeFileSync(`${disk}/filler`, Buffer.alloc(3 * 2 ** 20 - 8192));
      const late = await createSink(`${disk}/b.csv`, { overwrite: false });
      await (await late.create()).write(Buffer.alloc(500_000));
      expect(await codeOf(late.commit())).toBe("output-failed");
      expect(readdirSync(disk).sort()).toEqual(["a.shz", "filler"]);
    } finally {
      execFileSync("umount", [disk]);
    }
  });

  test("a read-only file system and a path through a file are reported as such", async () => {
    expect(isRoot, "a read-only file system must be mounted for this test").toBe(true);
    const disk = scratch.path("disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro,size=1m", "none", disk]);
    try {
      const attempt = async () => {
        await using sink = await createSink(`${disk}/a.csv`, { overwrite: false });
        await sink.create();
      };
      await expect(attempt()).rejects.toThrow("the file system is read-only");
    } finally {
      execFileSync("umount", [disk]);
    }
    writeFileSync(scratch.path("file"), "");
    await expect(createSink(scratch.path("file/a.csv"), { overwrite: false })).rejects.toThrow(/cannot be written/);
    await expect(createSink(disk, { overwrite: true })).rejects.toThrow("it is a folder");
    await expect(
      createSink(scratch.path(`${"x".repeat(252)}.csv`), { overwrite: false }).then((sink) => sink.create()),
    ).rejects.toThrow("its name is too long");
  });

  test("a device is written to, not replaced", async () => {
    const attempt = async () => {
      await using sink = await createSink("/dev/full", { overwrite: true });
      await (await sink.create()).write(Buffer.alloc(1000));
      await sink.commit();
    };
    await expect(attempt()).rejects.toThrow("/dev/full: cannot be written: the disk is full");
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });
});

describe("stdout", () => {
  test("stdout gets the bytes in order, and no companions or patches", async () => {
    const stdout = new PassThrough({ highWaterMark: 1000 });
    const whole = text(stdout);
    const sink = await createSink("-", { overwrite: false, stdout, format: "shapefile" });
    const file = await sink.create();
    expect(file.path).toBeNull();
    let expected = "";
    for (let line = 0; line < 3000; line += 1) {
      const words = `${line} ${"x".repeat(line % 200)}\n`.repeat(line % 500 === 0 ? 500 : 1);
      expected += words;
      await file.write(bytes(words));
    }
    expect(await codeOf(file.patch(0, bytes("y")))).toBe("output-not-stream");
    expect(await codeOf(sink.create("dbf"))).toBe("output-not-stream");
    await sink.commit();
    expect(await whole).toBe(expected);
    expect(file.size).toBe(expected.length);
  });

  const compiled = new CompiledSources(["src/io/output/create-sink.ts"]);
  afterAll(() => compiled.remove());
  const script = compiled.script(
    "stdout.js",
    `
    const { createSink } = await import(${JSON.stringify(compiled.url("src/io/output/create-sink.js"))});
    const sink = await createSink("-", { overwrite: false });
    const file = await sink.create();
    const line = Buffer.from("0123456789abcde\\n".repeat(1 << 12));
    try {
      for (let count = 0; count < 160; count += 1) await file.write(line);
      await sink.commit();
    } catch (error) {
      process.stderr.write(error.code + " " + JSON.stringify(error.details));
      process.exitCode = 130;
    }
    `,
  );

  test("a reader that closes stdout ends the writing, without an uncaught error", async () => {
    const child = spawn("sh", ["-c", `"$0" "$1" | head -c 100000 | wc -c`, process.execPath, script], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, complaint] = [text(child.stdout), text(child.stderr)];
    await once(child, "close");
    expect((await out).trim()).toBe("100000");
    expect(await complaint).toBe('output-closed {"output":"stdout"}');
  });

  test("a slow reader of stdout gets everything", () => {
    const run = spawnSync("sh", ["-c", `"$0" "$1" | (sleep 0.3; wc -c)`, process.execPath, script], {
      encoding: "utf8",
    });
    expect(run.stdout.trim()).toBe(String(160 * 65536));
    expect(run.stderr).toBe("");
  });

  test("/dev/stdout is stdout, even where that is a file", () => {
    const path = compiled.script("device.js", readFileSync(script, "utf8").replace('"-"', '"/dev/stdout"'));
    const out = scratch.path("out");
    spawnSync("sh", ["-c", `"$0" "$1" > "$2"`, process.execPath, path, out]);
    expect(statSync(out).size).toBe(160 * 65536);
    expect(existsSync(out)).toBe(true);
  });
});
