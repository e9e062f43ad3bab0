import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { open as openShapefile, type ReadOptions } from "../../../plugins/shapefile/reader.js";
import { createAssembler, createEncoder, type ShapefileChunk } from "../../../plugins/shapefile/writer.js";
import { FileSource } from "../../../src/io/input/source.js";
import {
  type Batch,
  type Crs,
  type Dataset,
  type Feature,
  type Field,
  type LayerSummary,
  packFeatures,
  Summarizer,
} from "../../../src/model/index.js";
import type { TargetLayer } from "../../../src/plugin/format.js";
import { PlainSink, RecordingContext, type TemporaryFolder } from "../../support/read-layers.js";

export const openAt = (
  path: string,
  options: Partial<ReadOptions> = {},
  context = new RecordingContext(),
): Promise<Dataset> =>
  openShapefile(FileSource.at(path), { encoding: undefined, deleted: false, fid: undefined, ...options }, context);

export async function readFeatures(path: string, options: Partial<ReadOptions> = {}, context = new RecordingContext()) {
  await using dataset = await openAt(path, options, context);
  const features: Feature[] = [];
  for await (const batch of dataset.layers[0]!.batches()) features.push(...(batch as Batch).features());
  return features;
}

/** The batches of a layer by its splits, each opened by a reader of its own as a worker would. */
export async function readBySplits(path: string, context = new RecordingContext()): Promise<Batch[]> {
  await using dataset = await openAt(path, {}, context);
  await using worker = await openAt(
    path,
    {},
    new RecordingContext(context.skipErrors, structuredClone(dataset.scanResult)),
  );
  const batches: Batch[] = [];
  for await (const split of dataset.layers[0]!.splits!()) {
    for await (const batch of worker.layers[0]!.batches(structuredClone(split))) batches.push(batch as Batch);
  }
  return batches;
}

export interface Written {
  readonly path: string;
  readonly context: RecordingContext;
  readonly summary: LayerSummary;
}

/** Writes batches as the pipeline does: summed up, encoded one by one, assembled in order. */
export async function writeBatches(
  scratch: TemporaryFolder,
  name: string,
  batches: readonly Batch[],
  fields: readonly Field[],
  settings: { crs?: Crs | null; encoding?: string } = {},
): Promise<Written> {
  const summariser = new Summarizer(false);
  for (const batch of batches) summariser.add(batch);
  const summary = summariser.summary();
  const layer: TargetLayer = { name, crs: settings.crs ?? null, fields, summary };
  const options = { encoding: settings.encoding ?? "UTF-8" };
  const context = new RecordingContext();
  const path = scratch.path(`${name}.shp`);
  const sink = new PlainSink(path);
  const encode = await createEncoder(layer, options, context);
  const assemble = await createAssembler(sink, [layer], options, context);
  for (const batch of batches) {
    await assemble.append(structuredClone(encode.encode(batch)) as ShapefileChunk, 0);
  }
  await assemble.finish();
  await sink.close();
  return { path, context, summary };
}

export function writeFeatures(
  scratch: TemporaryFolder,
  name: string,
  features: readonly Feature[],
  fields: readonly Field[],
  settings: { crs?: Crs | null; encoding?: string } = {},
): Promise<Written> {
  return writeBatches(scratch, name, features.length > 0 ? [packFeatures(features, 1, fields)] : [], fields, settings);
}

export interface OgrLayer {
  readonly geometry: string;
  readonly featureCount: number;
  readonly extent: readonly number[] | null;
  /** As ogrinfo prints them: `name: Real (24.15)`. */
  readonly fields: readonly string[];
}

/** What ogrinfo says of a file, with its warnings. */
export function ogrinfo(path: string): { text: string; layer: OgrLayer } {
  const text = execFileSync("sh", ["-c", 'ogrinfo -ro -al "$1" 2>&1', "sh", path], { encoding: "utf8" });
  const word = (pattern: RegExp) => pattern.exec(text)?.[1];
  const number = String.raw`(-?[\d.]+)`;
  const extent = new RegExp(`^Extent: \\(${number}, ${number}\\) - \\(${number}, ${number}\\)`, "m").exec(text);
  const layer = {
    geometry: word(/^Geometry: (.*)$/m) ?? "",
    featureCount: Number(word(/^Feature Count: (\d+)$/m)),
    extent: extent ? extent.slice(1).map(Number) : null,
    fields: [...text.matchAll(/^\w+: \w+ \(\d+\.\d+\)$/gm)].map(([line]) => line),
  };
  return { text, layer };
}

/** What ogr2ogr reads, coordinates as they are. */
export function ogrFeatures(path: string): Feature[] {
  const text = execFileSync(
    "ogr2ogr",
    ["-f", "GeoJSONSeq", "-lco", "COORDINATE_PRECISION=15", "-lco", "SIGNIFICANT_FIGURES=17", "/vsistdout/", path],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Feature);
}

// Files made by hand, byte by byte.

export const doubles = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, i) => {
    bytes.writeDoubleLE(value, 8 * i);
  });
  return bytes;
};
export const ints = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => {
    bytes.writeInt32LE(value, 4 * i);
  });
  return bytes;
};
const bigInts = (...values: number[]): Buffer => Buffer.from(ints(...values).swap32());

/** A record's content: the type and what follows it. */
export const point = (x: number, y: number): Buffer => Buffer.concat([ints(1), doubles(x, y)]);
export const nullShape = ints(0);
/** A PolyLine (3), Polygon (5) or one of their variants, with what stands behind the positions. */
export function polyShape(type: number, parts: readonly (readonly number[])[], ...rest: Buffer[]): Buffer {
  const starts: number[] = [];
  let points = 0;
  for (const part of parts) {
    starts.push(points);
    points += part.length / 2;
  }
  const box = doubles(0, 0, 0, 0);
  return Buffer.concat([ints(type), box, ints(parts.length, points, ...starts), doubles(...parts.flat()), ...rest]);
}

export interface ShpOptions {
  readonly type?: number;
  readonly box?: readonly number[];
  readonly declaredBytes?: number;
  /** The number that record i has. */
  readonly numberOf?: (i: number) => number;
}

export function shpHeader(bytes: number, type: number, box: readonly number[] = [0, 0, 1, 1]): Buffer {
  const header = Buffer.alloc(100);
  header.writeInt32BE(9994, 0);
  header.writeInt32BE(bytes / 2, 24);
  header.writeInt32LE(1000, 28);
  header.writeInt32LE(type, 32);
  doubles(...box).copy(header, 36);
  return header;
}

/** A .shp and its .shx of these contents. */
export function shapefile(contents: readonly Buffer[], options: ShpOptions = {}): { shp: Buffer; shx: Buffer } {
  const type = options.type ?? contents.find((content) => content.readInt32LE(0) !== 0)?.readInt32LE(0) ?? 0;
  const entries: Buffer[] = [];
  const records: Buffer[] = [];
  let at = 100;
  contents.forEach((content, i) => {
    entries.push(bigInts(at / 2, content.length / 2));
    records.push(bigInts(options.numberOf?.(i) ?? i + 1, content.length / 2), content);
    at += 8 + content.length;
  });
  const { box } = options;
  return {
    shp: Buffer.concat([shpHeader(options.declaredBytes ?? at, type, box), ...records]),
    shx: Buffer.concat([shpHeader(100 + 8 * contents.length, type, box), ...entries]),
  };
}

export interface DbfField {
  readonly name: string | Buffer;
  readonly type: string;
  readonly width: number;
  readonly decimals?: number;
  readonly flags?: number;
}
export interface DbfOptions {
  readonly version?: number;
  readonly language?: number;
  readonly count?: number;
  /** What stands between the last descriptor and the first record; 0x0D where nothing is said. */
  readonly terminator?: Buffer;
  readonly end?: Buffer;
}

/** A table whose rows are given as their bytes, the deletion mark first. */
export function dbf(fields: readonly DbfField[], rows: readonly (string | Buffer)[], options: DbfOptions = {}): Buffer {
  const terminator = options.terminator ?? Buffer.of(0x0d);
  const header = Buffer.alloc(32);
  header[0] = options.version ?? 3;
  header.set([101, 2, 3], 1);
  header.writeUInt32LE(options.count ?? rows.length, 4);
  header.writeUInt16LE(32 + 32 * fields.length + terminator.length, 8);
  header.writeUInt16LE(1 + fields.reduce((sum, field) => sum + field.width, 0), 10);
  header[29] = options.language ?? 0;
  const descriptors = fields.map((field) => {
    const descriptor = Buffer.alloc(32);
    descriptor.set(Buffer.from(field.name as string), 0);
    descriptor.write(field.type, 11, "latin1");
    descriptor[16] = field.width & 255;
    descriptor[17] = field.width > 255 ? field.width >> 8 : (field.decimals ?? 0);
    descriptor[18] = field.flags ?? 0;
    return descriptor;
  });
  const bytes = rows.map((row) => (typeof row === "string" ? Buffer.from(row, "latin1") : row));
  return Buffer.concat([header, ...descriptors, terminator, ...bytes, options.end ?? Buffer.of(0x1a)]);
}

/** Puts files of one stem into the folder; the path of the first. */
export function writeShapefile(
  scratch: TemporaryFolder,
  stem: string,
  files: Readonly<Record<string, Buffer | string | undefined>>,
): string {
  for (const [extension, bytes] of Object.entries(files)) {
    if (bytes !== undefined) writeFileSync(scratch.path(`${stem}.${extension}`), bytes);
  }
  return scratch.path(`${stem}.${Object.keys(files)[0]}`);
}
