import { execFileSync } from "node:child_process";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { crc32, deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ZipFile } from "yazl";
import { GeoferryError } from "../../../src/errors.js";
import { type InputOptions, openInput } from "../../../src/io/input/open-input.js";
import { type FileSource, readHead } from "../../../src/io/input/source.js";
import { Spool } from "../../../src/io/input/spool.js";
import type { Source } from "../../../src/plugin/format.js";
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

const primary = /\.(shp|dbf|csv|geojson|kmz|gpkg)$/i;
const companion = /\.(shx|dbf|prj|cpg|csvt|shp\.xml)$/i;

function open(name: string, options: Partial<InputOptions> = {}) {
  return openInput(scratch.path(name), {
    spool,
    signal: new AbortController().signal,
    isPrimary: (path) => primary.test(path),
    isCompanion: (path) => companion.test(path),
    keepZipped: (source) => source.name.endsWith(".kmz"),
    ...options,
  });
}

/** Displayed names of the members, without the folder of the test. */
async function names(name: string, options: Partial<InputOptions> = {}): Promise<string[]> {
  const members = await open(name, options);
  return members.map(({ source }) => source.name.slice(scratch.folder.length + 1));
}

async function failure(name: string, options: Partial<InputOptions> = {}): Promise<{ code: string; message: string }> {
  try {
    await open(name, options);
  } catch (error) {
    if (error instanceof GeoferryError)
      return { code: error.code, message: error.message.replace(`${scratch.folder}/`, "") };
    throw error;
  }
  throw new Error("it was opened");
}

async function pack(name: string, entries: Record<string, string | Buffer>): Promise<void> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(entries)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(scratch.path(name)));
}

interface Raw {
  name: string | Buffer;
  data?: Buffer;
  method?: number;
  flags?: number;
  /** Uncompressed size that the headers claim. */
  claims?: number;
  crc?: number;
  madeBy?: number;
  attributes?: number;
  /** Use the data of this earlier entry. */
  sameAs?: number;
  /** Sizes that the local header has instead, and how many bytes of the entry the directory says there are. */
  local?: { compressed: number; uncompressed: number };
  compressed?: number;
}

/** A zip byte by byte (APPNOTE 4.3), for what no honest program writes. */
function forge(file: string, entries: readonly Raw[], tail = Buffer.alloc(0)): void {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const { name, data = Buffer.alloc(0), method = 0, flags = 0, madeBy = 20, attributes = 0, ...raw } of entries) {
    const path = Buffer.from(name);
    const body = method === 8 ? deflateRawSync(data) : data;
    const offset = raw.sameAs === undefined ? at : offsets[raw.sameAs]!;
    offsets.push(offset);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(raw.crc ?? crc32(data), 10);
    shared.writeUInt32LE(body.length, 14);
    shared.writeUInt32LE(raw.claims ?? data.length, 18);
    shared.writeUInt16LE(path.length, 22);
    if (raw.sameAs === undefined) {
      const own = Buffer.from(shared);
      if (raw.local) {
        own.writeUInt32LE(raw.local.compressed, 14);
        own.writeUInt32LE(raw.local.uncompressed, 18);
      }
      const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), own, path, body]);
      pieces.push(local);
      at += local.length;
    }
    const central = Buffer.alloc(46);
    central.write("PK\x01\x02", 0, "latin1");
    central.writeUInt16LE(madeBy, 4);
    shared.copy(central, 6);
    if (raw.compressed !== undefined) central.writeUInt32LE(raw.compressed, 20);
    central.writeUInt32LE(attributes, 38);
    central.writeUInt32LE(offset, 42);
    directory.push(central, path);
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  writeFileSync(scratch.path(file), Buffer.concat([...pieces, central, end, tail]));
}

describe("entries that are read from a zip", () => {
  test("the inputs of a zip are read with their companions", async () => {
    await pack("data.zip", {
      "folder/roads.shp": "shape",
      "folder/roads.dbf": "table",
      "folder/ROADS.PRJ": "crs",
      "folder/roads.shp.xml": "<metadata/>",
      "tables/alone.dbf": "a table by itself",
      "places.csv": "x,y",
      "readme.txt": "not data",
      "__MACOSX/folder/._roads.shp": "fork",
      ".DS_Store": "mac",
      ".hidden/places.csv": "x,y",
    });
    const members = await open("data.zip");
    expect(await names("data.zip")).toEqual([
      "data.zip/folder/roads.shp",
      "data.zip/tables/alone.dbf",
      "data.zip/places.csv",
    ]);
    const roads = members[0]!.source;
    expect(readFileSync(roads.path, "utf8")).toBe("shape");
    expect(roads.size).toBe(5);
    expect(roads.findSibling("dbf")?.name).toBe(`${scratch.folder}/data.zip/folder/roads.dbf`);
    expect(readFileSync(roads.findSibling("prj")!.path, "utf8")).toBe("crs");
    expect(roads.findSibling("cpg")).toBeNull();
    expect(existsSync(join(roads.path, "../../readme.txt"))).toBe(false);
  });

  test("a zip is recognized by its content under any name, unless a format claims it", async () => {
    await pack("export.bin", { "a.csv": "x" });
    await pack("map.kmz", { "doc.kml": "<kml/>" });
    expect(await names("export.bin")).toEqual(["export.bin/a.csv"]);
    expect(await names("map.kmz")).toEqual(["map.kmz"]);
    writeFileSync(scratch.path("fake.zip"), "not a zip");
    expect(await names("fake.zip")).toEqual(["fake.zip"]);
  });

  test("all entries are inputs if no name has a known extension", async () => {
    await pack("data.zip", { export: "x", "notes.prj": "y" });
    expect(await names("data.zip")).toEqual(["data.zip/export"]);
  });

  test("a zip of the program `zip` is read, without links", async () => {
    mkdirSync(scratch.path("tree/sub"), { recursive: true });
    writeFileSync(scratch.path("tree/sub/a.csv"), "x".repeat(100_000));
    writeFileSync(scratch.path("secret.csv"), "secret");
    symlinkSync(scratch.path("secret.csv"), scratch.path("tree/b.csv"));
    execFileSync("zip", ["-q", "-r", "--symlinks", "../tree.zip", "."], { cwd: scratch.path("tree") });
    const members = await open("tree.zip");
    expect(members.map(({ source }) => [source.name, source.size])).toEqual([
      [`${scratch.folder}/tree.zip/sub/a.csv`, 100_000],
    ]);
  });

  test("a zip with 64-bit sizes and offsets, as three programs write it, is read", async () => {
    const text = "id\n1\n";
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from(text), "a.csv", { forceZip64Format: true });
    zip.end({ forceZip64Format: true, comment: "" });
    await pipeline(zip.outputStream, createWriteStream(scratch.path("yazl.zip")));
    writeFileSync(scratch.path("a.csv"), text);
    execFileSync("sh", ["-c", "cat a.csv | zip -q -fz info.zip -"], { cwd: scratch.folder });
    const script =
      "import zipfile;z=zipfile.ZipFile('python.zip','w');f=z.open('a.csv','w',force_zip64=True);f.write(open('a.csv','rb').read());f.close();z.close()";
    execFileSync("python3", ["-c", script], { cwd: scratch.folder });
    for (const name of ["yazl.zip", "info.zip", "python.zip"]) {
      const members = await open(name);
      expect(members.map(({ source }) => readFileSync(source.path, "utf8"))).toEqual([text]);
    }
    expect(readFileSync(scratch.path("yazl.zip")).includes("PK\x06\x06", 0, "latin1")).toBe(true);
  });

  test("a zip within a zip is read, but no deeper one", async () => {
    await pack("inner.zip", { "roads.shp": "shape", "roads.dbf": "table" });
    await pack("outer.zip", {
      "in/inner.zip": readFileSync(scratch.path("inner.zip")),
      "a.csv": "x",
      "b.kmz": readFileSync(scratch.path("inner.zip")),
    });
    await pack("outermost.zip", { "outer.zip": readFileSync(scratch.path("outer.zip")) });
    expect(await names("outer.zip")).toEqual([
      "outer.zip/in/inner.zip/roads.shp",
      "outer.zip/a.csv",
      "outer.zip/b.kmz",
    ]);
    expect(await failure("outermost.zip")).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("nested more than twice"),
    });
  });

  test("names in UTF-8, flagged or not, and in code page 437 are decoded", async () => {
    forge("names.zip", [
      { name: "straße.csv", flags: 0x800 },
      { name: "città.csv" },
      // 0x84 is ä and 0x94 is ö in code page 437 (Unicode's CP437.TXT); alone they are no UTF-8.
      { name: Buffer.from([0x84, 0x94, 0x2e, 0x63, 0x73, 0x76]) },
      { name: "windows\\style.csv" },
    ]);
    expect(await names("names.zip")).toEqual([
      "names.zip/straße.csv",
      "names.zip/città.csv",
      "names.zip/äö.csv",
      "names.zip/windows/style.csv",
    ]);
  });
});

describe("a zip that is a file of a format", () => {
  const archive = {
    extensions: ["kmz"],
    findMain: (entries: readonly string[]) =>
      entries.find((path) => path === "doc.kml") ?? entries.find((path) => path.endsWith(".kml")),
  };
  const asArchive: Partial<InputOptions> = {
    archiveOf: (name) => (name.endsWith(".kmz") ? archive : undefined),
    isPrimary: (path) => /\.(kml|csv)$/.test(path),
    keepZipped: () => true,
  };

  test("a zip of a format is one input under its own name; only its main entry and siblings are unpacked", async () => {
    await pack("places.kmz", { "a.kml": "other", "files/icon.png": "png", "doc.prj": "crs", "doc.kml": "<kml/>" });
    const members = await open("places.kmz", asArchive);
    expect(members.map(({ ignoredEntries }) => ignoredEntries)).toEqual([["a.kml"]]);
    const { source } = members[0]!;
    expect(source.name).toBe(scratch.path("places.kmz"));
    expect(readFileSync(source.path, "utf8")).toBe("<kml/>");
    expect(readFileSync(source.findSibling("prj")!.path, "utf8")).toBe("crs");
    expect(readdirSync(dirname(source.path)).sort()).toEqual(["doc.kml", "doc.prj"]);
  });

  test("a zip of a format is opened at its main entry, also within another zip", async () => {
    await pack("b.kmz", { "sub/b.kml": "B", "c.kml": "C" });
    await pack("outer.zip", { "x/b.kmz": readFileSync(scratch.path("b.kmz")), "t.csv": "x" });
    const isPrimary = (path: string) => /\.(kmz|csv)$/.test(path);
    const keepZipped = (source: FileSource) => source.name.endsWith(".kmz");
    const members = await open("outer.zip", { ...asArchive, isPrimary, keepZipped });
    expect(members.map(({ source }) => readFileSync(source.path, "utf8"))).toEqual(["B", "x"]);
    expect(members[0]!.source.name).toBe(scratch.path("outer.zip/x/b.kmz"));
  });

  test("a zip of a format without a main entry is rejected", async () => {
    await pack("places.kmz", { "icon.png": "png" });
    expect(await failure("places.kmz", asArchive)).toEqual({
      code: "input-corrupt",
      message: "places.kmz: the archive has no main file of a .kmz",
    });
  });

  test("a file of a format with zips may also be an ordinary file", async () => {
    writeFileSync(scratch.path("places.kmz"), "<kml/>");
    expect(await names("places.kmz", asArchive)).toEqual(["places.kmz"]);
  });
});

describe("hostile and broken zips", () => {
  test.each(["../evil.csv", "a/../../evil.csv", "..\\evil.csv", "a/.."])("a zip with %s is rejected", async (name) => {
    forge("evil.zip", [{ name }, { name: "good.csv" }]);
    expect(await failure("evil.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("outside the folder"),
    });
    expect(existsSync(scratch.path("evil.csv"))).toBe(false);
  });

  test("a NUL in a name is rejected", async () => {
    forge("evil.zip", [{ name: "good.csv\0.txt" }]);
    expect(await failure("evil.zip")).toMatchObject({ code: "input-corrupt", message: expect.stringContaining("NUL") });
  });

  test("names with roots and drive letters stay inside the folder", async () => {
    forge("roots.zip", [
      { name: "/etc/a.csv" },
      { name: "C:\\data\\b.csv" },
      { name: "c:d:e?.csv" },
      { name: "./f.csv" },
    ]);
    const members = await open("roots.zip");
    expect(await names("roots.zip")).toEqual([
      "roots.zip/etc/a.csv",
      "roots.zip/data/b.csv",
      "roots.zip/d:e?.csv",
      "roots.zip/f.csv",
    ]);
    for (const { source } of members) expect(source.path.startsWith(join(scratch.folder, "geoferry-"))).toBe(true);
  });

  test("names and paths that are too long for a file system are read, with their companions", async () => {
    const long = "ü".repeat(140);
    const deep = `${"folder/".repeat(600)}deep`;
    forge("long.zip", [
      { name: `${long}.v2.shp`, data: Buffer.from("shape") },
      { name: `${long}.v2.dbf`, data: Buffer.from("table") },
      { name: `${long.toUpperCase()}.v2.shp.xml`, data: Buffer.from("more") },
      { name: `${deep}.shp`, data: Buffer.from("deep") },
      { name: `${deep}.dbf`, data: Buffer.from("deep table") },
      { name: `${"x".repeat(300)}.csv`, data: Buffer.from("a") },
      { name: `${"x".repeat(301)}.csv`, data: Buffer.from("b") },
    ]);
    const members = await open("long.zip");
    expect(members.map(({ source }) => source.name.slice(scratch.folder.length + 1))).toEqual([
      `long.zip/${long}.v2.shp`,
      `long.zip/${deep}.shp`,
      `long.zip/${"x".repeat(300)}.csv`,
      `long.zip/${"x".repeat(301)}.csv`,
    ]);
    const read = async (source: Source | null) => (source ? (await readHead(source)).toString() : null);
    const contents = await Promise.all(members.map(({ source }) => read(source)));
    expect(contents).toEqual(["shape", "deep", "a", "b"]);
    const companions = ["dbf", "shp.xml"].map((extension) => read(members[0]!.source.findSibling(extension)));
    expect(await Promise.all(companions)).toEqual(["table", "more"]);
    expect(await read(members[1]!.source.findSibling("dbf"))).toBe("deep table");
  });

  test.each([
    [["a.csv", "A.CSV"], "two entries"],
    [["a.csv", "a.csv"], "two entries"],
    [["x.csv", "x.csv/y.csv"], "two entries"],
    [["\u00e9.csv", "e\u0301.csv"], "two entries"],
    [["xa:b.csv", "xa?b.csv"], "two entries"],
  ])("different names for the same file are rejected: %j", async (paths, message) => {
    forge(
      "clash.zip",
      paths.map((name) => ({ name, flags: 0x800 })),
    );
    expect(await failure("clash.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining(message),
    });
  });

  test("a zip bomb is rejected before it is decompressed", async () => {
    const data = Buffer.alloc(40 * 2 ** 20);
    forge("bomb.zip", [{ name: "a.csv", data, method: 8 }]);
    expect(await failure("bomb.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("times as large as the zip"),
    });
    expect(await failure("bomb.zip", { zipLimits: { ratio: 1e9, totalBytes: 1e6 } })).toMatchObject({
      code: "input-too-large",
    });
    expect(await names("bomb.zip", { zipLimits: { ratio: 1e9 } })).toEqual(["bomb.zip/a.csv"]);
  });

  test("a zip bomb of overlapping entries is rejected", async () => {
    const data = Buffer.alloc(10 * 2 ** 20, "abc");
    const rest = Array.from({ length: 50 }, (_, index) => ({ name: `b${index}.csv`, data, method: 8, sameAs: 0 }));
    forge("overlap.zip", [{ name: "a.csv", data, method: 8 }, ...rest]);
    expect(await failure("overlap.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("looks like an attack"),
    });
  });

  test("the sizes of nested zips count towards the limit", async () => {
    forge("inner.zip", [{ name: "a.csv", data: Buffer.alloc(600_000, "a"), method: 8 }]);
    await pack("outer.zip", {
      "1.zip": readFileSync(scratch.path("inner.zip")),
      "2.zip": readFileSync(scratch.path("inner.zip")),
    });
    expect(await failure("outer.zip", { zipLimits: { totalBytes: 1_000_000 } })).toMatchObject({
      code: "input-too-large",
    });
  });

  test("an entry larger or smaller than declared is rejected, and does not fill the disk", async () => {
    const data = Buffer.alloc(30 * 2 ** 20);
    forge("liar.zip", [{ name: "a.csv", data, method: 8, claims: 1000 }]);
    expect(await failure("liar.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("larger than the zip says"),
    });
    forge("short.zip", [{ name: "a.csv", data: Buffer.from("abc"), method: 8, claims: 1000 }]);
    expect(await failure("short.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("3 bytes, not 1000"),
    });
  });

  test("a wrong checksum is detected", async () => {
    forge("crc.zip", [{ name: "a.csv", data: Buffer.from("abc"), crc: 1 }]);
    expect(await failure("crc.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("crc.zip/a.csv: the entry is damaged: its checksum"),
    });
  });

  test("encrypted entries and unsupported compressions are reported", async () => {
    writeFileSync(scratch.path("a.csv"), "secret".repeat(100));
    execFileSync("zip", ["-q", "-P", "pass", "locked.zip", "a.csv"], { cwd: scratch.folder });
    expect(await failure("locked.zip")).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("encrypted"),
    });
    forge("aes.zip", [{ name: "a.csv", flags: 0x41 }]);
    expect(await failure("aes.zip")).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("encrypted"),
    });
    execFileSync(
      "python3",
      [
        "-c",
        "import zipfile;z=zipfile.ZipFile('lzma.zip','w',14);z.write('a.csv');z.close();z=zipfile.ZipFile('bz.zip','w',12);z.write('a.csv');z.close()",
      ],
      { cwd: scratch.folder },
    );
    expect(await failure("lzma.zip")).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("compressed with LZMA"),
    });
    expect(await failure("bz.zip")).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("compressed with bzip2"),
    });
  });

  test("sizes in the local header are ignored if those of the central directory are right", async () => {
    const data = Buffer.from("id\n".repeat(100));
    const wrong = { compressed: 7, uncompressed: 999_999 };
    for (const method of [0, 8]) {
      forge("local.zip", [
        { name: "a.csv", data, method, local: wrong },
        { name: "b.csv", data, method, local: { compressed: 0, uncompressed: 0 } },
      ]);
      const members = await open("local.zip");
      expect(members.map(({ source }) => readFileSync(source.path, "utf8"))).toEqual([`${data}`, `${data}`]);
    }
  });

  test("wrong sizes in the central directory are detected, regardless of the neighboring entries", async () => {
    const data = Buffer.from("id\n".repeat(100));
    const whole = deflateRawSync(data).length;
    for (const [method, compressed] of [
      [0, data.length - 3],
      [8, whole - 3],
    ] as const) {
      const local = { compressed: method === 0 ? data.length : whole, uncompressed: data.length };
      forge("directory.zip", [{ name: "a.csv", data, method, compressed, local }, { name: "b.bin" }]);
      const { code, message } = await failure("directory.zip");
      expect(code).toMatch(/^input-(corrupt|truncated)$/);
      expect(message).toContain("directory.zip");
    }
  });

  test("invalid entries that are not needed are ignored", async () => {
    forge("odd.zip", [
      { name: "a.csv", data: Buffer.from("x") },
      { name: "b.bin", method: 97, data: Buffer.from("?") },
    ]);
    expect(await names("odd.zip")).toEqual(["odd.zip/a.csv"]);
  });

  test("every truncated zip ends with a clear error, never with data", async () => {
    await pack("whole.zip", { "a.csv": "x,y\n".repeat(5000), "b.csv": "1" });
    const whole = readFileSync(scratch.path("whole.zip"));
    for (const share of [0.1, 0.5, 0.9, 0.99]) {
      writeFileSync(scratch.path("cut.zip"), whole.subarray(0, Math.floor(whole.length * share)));
      expect((await failure("cut.zip")).code).toBe("input-truncated");
    }
    const holed = Buffer.from(whole);
    holed.fill(0xa5, 40, 60);
    writeFileSync(scratch.path("holed.zip"), holed);
    expect((await failure("holed.zip")).code).toBe("input-corrupt");
  });

  test("an empty zip is rejected", async () => {
    forge("empty.zip", []);
    expect(await failure("empty.zip")).toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("the zip contains no files"),
    });
    forge("folders.zip", [{ name: "a/" }]);
    expect(await failure("folders.zip")).toMatchObject({ code: "input-corrupt" });
  });

  test("a full disk is reported when a zip is unpacked", async () => {
    expect(process.getuid?.(), "a small file system must be mounted for this test").toBe(0);
    forge("big.zip", [{ name: "a.csv", data: Buffer.alloc(5 * 2 ** 20, "abcdefghijklmnopqrstuvw"), method: 8 }]);
    const disk = scratch.path("disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk]);
    try {
      await using small = new Spool(disk);
      const { code, message } = await failure("big.zip", { spool: small });
      expect(code).toBe("output-failed");
      expect(message).toContain("the disk is full");
    } finally {
      execFileSync("umount", [disk]);
    }
  });

  test("an interrupted run leaves no part of an entry", async () => {
    forge("big.zip", [{ name: "a.csv", data: Buffer.alloc(50 * 2 ** 20, "abcdefghijklmnopqrstuvw"), method: 8 }]);
    const aborter = new AbortController();
    const opening = failure("big.zip", { signal: aborter.signal, zipLimits: { ratio: 1e6 } });
    setTimeout(() => aborter.abort(), 20);
    expect((await opening).code).toBe("interrupted");
    await spool[Symbol.asyncDispose]();
    expect(readdirSync(scratch.folder)).toEqual(["big.zip"]);
  });
});
