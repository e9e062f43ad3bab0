import { mkdtempSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import iconv from "iconv-lite";
import { crsContext } from "../../src/crs/index.js";
import {
  Batch,
  type Dataset,
  type Feature,
  type Layer,
  type Loss,
  packFeatures,
  type Reject,
  Tally,
} from "../../src/model/index.js";
import type { ReadContext, Sink, SinkFile, WriteContext } from "../../src/plugin/format.js";

/** A context that remembers what a plugin said to it. */
export class Recording implements ReadContext, WriteContext {
  readonly signal = new AbortController().signal;
  readonly now = new Date("2001-02-03T04:05:06Z");
  readonly crs = crsContext;
  readonly rejects: Reject[] = [];
  records = 0;
  lines = 0;
  private readonly lossTally = new Tally();
  private readonly noticeTally = new Tally();

  constructor(
    readonly skipErrors = false,
    readonly blueprint: unknown = undefined,
  ) {}

  get losses(): Loss[] {
    return this.lossTally.list();
  }
  get notices(): Loss[] {
    return this.noticeTally.list();
  }
  lose(code: string, field: string | undefined, example: string, count = 1): void {
    this.lossTally.add(code, "", field, count, example);
  }
  notice(code: string, field: string | undefined, example: string, count = 1): void {
    this.noticeTally.add(code, "", field, count, example);
  }
  reject(reject: Reject): void {
    this.rejects.push(reject);
  }
  passed(records: number, lines: number): void {
    this.records += records;
    this.lines += lines;
  }
  decoder(encoding: string) {
    return (bytes: Uint8Array) => iconv.decode(Buffer.from(bytes), encoding);
  }
  encoder(encoding: string) {
    return (text: string) => iconv.encode(text, encoding);
  }
}

/** All batches of a layer, split by split where it has splits. */
export async function* batchesOf(layer: Layer, bySplits: boolean): AsyncGenerator<Batch> {
  const asBatch = (batch: Batch | Feature[]) => (batch instanceof Batch ? batch : packFeatures(batch, 1, layer.fields));
  if (bySplits && layer.splits) {
    for await (const split of layer.splits()) for await (const batch of layer.batches(split)) yield asBatch(batch);
  } else for await (const batch of layer.batches()) yield asBatch(batch);
}

export async function featuresOf(dataset: Dataset, layer = 0, bySplits = true): Promise<Feature[]> {
  const features: Feature[] = [];
  for await (const batch of batchesOf(dataset.layers[layer]!, bySplits)) features.push(...batch.features());
  return features;
}

/** A folder of its own for one test, removed by `remove`. */
export class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
  path(name: string): string {
    return join(this.folder, name);
  }
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Writes straight to the final names: for testing a writer by itself. */
export class PlainSink implements Sink {
  private readonly handles: FileHandle[] = [];
  constructor(readonly name: string) {}

  async create(extension?: string): Promise<SinkFile> {
    const path =
      extension === undefined
        ? this.name
        : this.name.slice(0, -extname(this.name).length) + (extension && `.${extension}`);
    const handle = await open(path, "w+");
    this.handles.push(handle);
    let size = 0;
    return {
      path,
      get size() {
        return size;
      },
      async write(bytes) {
        await handle.write(bytes, 0, bytes.length, size);
        size += bytes.length;
      },
      async patch(position, bytes) {
        await handle.write(bytes, 0, bytes.length, position);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.handles.map((handle) => handle.close()));
  }
}
