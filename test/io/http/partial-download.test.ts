/** Of a remote file, only the ranges are downloaded that a request needs. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { parquetMetadata } from "hyparquet";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { treeBytes, treeLevels } from "../../../plugins/flatgeobuf/index/levels.js";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";

const scratch = new TemporaryFolder();
const count = 50_000;
const box = [-20, 0, 20, 20] as const;
const local = scratch.path("points.fgb");
let files = 0;
const fresh = (extension = "geojson") => scratch.path(`${files++}.${extension}`);

/** What the server does with requests for ranges. */
type Behavior = "ranges" | "no ranges" | "no validator" | "date only" | "cut";
let behavior: Behavior = "ranges";
let content = Buffer.alloc(0);
let sent = 0;
let requests = 0;
/** Called before each request, with its number. */
let onRequest: (n: number) => void = () => {};

function respond(request: IncomingMessage, response: ServerResponse): void {
  onRequest(++requests);
  const etag = `"${createHash("sha1").update(content).digest("hex")}"`;
  const modified = "Thu, 01 Jan 2026 00:00:00 GMT";
  const isDated = behavior === "date only";
  const validators: Record<string, string> =
    behavior === "no validator" ? {} : isDated ? { "last-modified": modified } : { etag };
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  const condition = request.headers["if-range"];
  const isCurrent = condition === undefined || condition === (isDated ? modified : etag);
  if (first === undefined || behavior === "no ranges" || !isCurrent) {
    sent += content.length;
    response.writeHead(200, { ...validators, "content-length": content.length });
    response.end(content);
    return;
  }
  const body = content.subarray(Number(first), Number(last) + 1);
  const range = `bytes ${first}-${Number(first) + body.length - 1}/${content.length}`;
  response.writeHead(206, { ...validators, "content-range": range, "content-length": body.length });
  if (behavior === "cut" && requests === 3) {
    response.write(body.subarray(0, body.length >> 1), () => response.destroy());
    return;
  }
  sent += body.length;
  response.end(body);
}

const server = createServer(respond);
let address = "";

beforeAll(async () => {
  const random = createRandom(4);
  const features = Array.from({ length: count }, (_, n) => ({
    type: "Feature",
    properties: { n, name: `point ${n}` },
    geometry: { type: "Point", coordinates: [random() * 360 - 180, random() * 180 - 90] },
  }));
  const source = fresh();
  writeFileSync(source, JSON.stringify({ type: "FeatureCollection", features }));
  await convertFile(source, local);
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/points.fgb`;
});
afterAll(() => {
  server.close();
  scratch.remove();
});
beforeEach(() => {
  content = readFileSync(local);
  behavior = "ranges";
  sent = 0;
  requests = 0;
  onRequest = () => {};
});

/** Bytes of the header, the nodes of the index that meet the box or whose parents do, and the features that do. */
function necessaryBytes(): number {
  const bytes = readFileSync(local);
  const indexAt = 12 + bytes.readUInt32LE(8);
  const levels = treeLevels(count, 16);
  const featuresAt = indexAt + treeBytes(levels);
  const meets = (at: number) =>
    bytes.readDoubleLE(at) <= box[2] &&
    bytes.readDoubleLE(at + 16) >= box[0] &&
    bytes.readDoubleLE(at + 8) <= box[3] &&
    bytes.readDoubleLE(at + 24) >= box[1];
  let sum = indexAt;
  let nodes = [0];
  for (let level = levels.length - 1; level >= 0; level--) {
    const entries = nodes.flatMap((node) =>
      Array.from({ length: Math.min(16, levels[level]!.to - node) }, (_, n) => indexAt + 40 * (node + n)),
    );
    sum += 40 * entries.length;
    const found = entries.filter(meets).map((at) => Number(bytes.readBigUInt64LE(at + 32)));
    if (level > 0) nodes = found;
    else for (const offset of found) sum += 4 + bytes.readUInt32LE(featuresAt + offset);
  }
  return sum;
}

const expected = async (): Promise<string> => {
  const output = fresh();
  await convertFile(local, output, { bbox: box });
  return readFileSync(output, "utf8");
};

describe("a box of a remote FlatGeobuf", () => {
  it.each(["geojson", "gpkg"])(
    "needs at most twice the bytes that the index makes necessary, to %s",
    async (extension) => {
      const output = fresh(extension);
      await convertFile(address, output, { bbox: box });
      const back = fresh();
      await convertFile(output, back);
      const idsOf = (text: string) =>
        JSON.parse(text).features.map((each: { properties: { n: number } }) => each.properties.n);
      expect(idsOf(readFileSync(back, "utf8"))).toEqual(idsOf(await expected()));
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(2 * necessaryBytes());
      expect(sent).toBeLessThan(content.length / 10);
    },
  );

  it("is the same with several threads, which share what was downloaded", async () => {
    const output = fresh("gpkg");
    await convertFile(address, output, { bbox: box, workers: 2 });
    expect(sent).toBeLessThan(2 * necessaryBytes());
  });

  it.each<Behavior>(["no ranges", "no validator", "date only", "cut"])("is read from a server with %s", async (how) => {
    behavior = how;
    const output = fresh();
    await convertFile(address, output, { bbox: box });
    expect(readFileSync(output, "utf8")).toBe(await expected());
    if (how === "no ranges") expect(sent).toBeGreaterThanOrEqual(content.length);
    else expect(sent).toBeLessThan(2 * necessaryBytes());
  });

  it("that changes meanwhile is an error without an output", async () => {
    onRequest = (n) => {
      if (n === 3) content = Buffer.concat([content.subarray(0, -8), Buffer.from("changed!")]);
    };
    const output = fresh();
    await expect(convertFile(address, output, { bbox: box })).rejects.toMatchObject({ code: "input-changed" });
    expect(readdirSync(scratch.folder)).not.toContain(output.split("/").at(-1));
  });

  it("that is gone meanwhile, or not there, is an error", async () => {
    const missing = createServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
    await new Promise((resolve) => missing.once("listening", resolve));
    const gone = `http://127.0.0.1:${(missing.address() as AddressInfo).port}/points.fgb`;
    await expect(convertFile(gone, fresh(), { bbox: box })).rejects.toMatchObject({ code: "input-download" });
    missing.close();
  });

  it("counts against the limit of downloads", async () => {
    await expect(convertFile(address, fresh(), { bbox: box, maxInputBytes: 10_000 })).rejects.toMatchObject({
      code: "input-too-large",
    });
    expect(sent).toBeLessThan(20_000);
  });
});

describe("a remote file", () => {
  it("is downloaded at once without a box", async () => {
    await convertFile(address, fresh());
    expect([requests, sent]).toEqual([1, content.length]);
  });

  it("is read as far as a limit goes", async () => {
    await convertFile(address, fresh(), { limit: 10 });
    expect(requests).toBeGreaterThan(1);
  });

  it("of another format is downloaded, even with the name of this one", async () => {
    content = Buffer.from(
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}]}',
    );
    const output = fresh();
    await convertFile(address, output, { bbox: [0, 0, 9, 9] });
    expect(JSON.parse(readFileSync(output, "utf8")).features.length).toBe(1);
  });

  it("leaves no temporary files", async () => {
    const spools = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`geoferry-${process.pid}`)).length;
    const before = spools();
    await convertFile(address, fresh(), { bbox: box });
    expect(spools()).toBe(before);
  });
});

describe("a box of a remote GeoParquet", () => {
  const sorted = scratch.path("sorted.parquet");
  const remote = () => address.replace("points.fgb", "sorted.parquet");
  beforeAll(async () => {
    const features = Array.from({ length: count }, (_, n) => ({
      type: "Feature",
      properties: { n, name: `point ${n}` },
      geometry: { type: "Point", coordinates: [(n / count) * 360 - 180, (n % 90) - 45] },
    }));
    const source = fresh();
    writeFileSync(source, JSON.stringify({ type: "FeatureCollection", features }));
    await convertFile(source, sorted, { writerOptions: { rowGroup: "2000" } });
  });
  beforeEach(() => {
    content = readFileSync(sorted);
  });

  /** Bytes of the table of contents and of the row groups that meet the box, as hyparquet sees them. */
  function neededBytes(): number {
    const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.length) as ArrayBuffer;
    const { metadata_length, row_groups } = parquetMetadata(bytes);
    let sum = metadata_length;
    for (const { columns } of row_groups) {
      const bound = (side: string) =>
        columns.find(({ meta_data }) => meta_data!.path_in_schema.at(-1) === side)!.meta_data!.statistics!;
      const [least, greatest] = [Number(bound("xmin").min_value), Number(bound("xmax").max_value)];
      if (least > box[2] || greatest < box[0]) continue;
      for (const { meta_data } of columns) sum += Number(meta_data!.total_compressed_size);
    }
    return sum;
  }

  it.each([1, 2])("downloads the row groups that meet it, with %i workers", async (workers) => {
    const output = fresh();
    await convertFile(remote(), output, { bbox: box, workers });
    const ids = JSON.parse(readFileSync(output, "utf8")).features.map(
      (each: { properties: { n: number } }) => each.properties.n,
    );
    const wanted = Array.from({ length: count }, (_, n) => n).filter((n) => {
      const [x, y] = [(n / count) * 360 - 180, (n % 90) - 45];
      return x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3];
    });
    expect(ids).toEqual(wanted);
    expect(sent).toBeGreaterThan(neededBytes() / 2);
    // The beginning of the file, for its format, and some bytes behind each column.
    expect(sent).toBeLessThan(1.1 * neededBytes() + 8192);
    expect(sent).toBeLessThan(content.length / 4);
  });

  it("is read from a server without ranges", async () => {
    behavior = "no ranges";
    const output = fresh();
    await convertFile(remote(), output, { bbox: box });
    expect(JSON.parse(readFileSync(output, "utf8")).features.length).toBeGreaterThan(0);
  });

  it("is refused if the file was replaced meanwhile", async () => {
    const other = Buffer.from(content);
    onRequest = (n) => {
      if (n === 4) content = Buffer.concat([other.subarray(0, 4), other]);
    };
    await expect(convertFile(remote(), fresh(), { bbox: box })).rejects.toMatchObject({ code: "input-changed" });
  });
});
