import {
  acquireBuffer,
  type Batch,
  type Dataset,
  type Layer,
  type LayerSummary,
  type Split,
  type SplitFilter,
  type SummaryRequest,
} from "../../src/model/index.js";
import {
  createError,
  GeoferryError,
  type OptionValues,
  type ReadContext,
  type Source,
} from "../../src/plugin/index.js";
import { releaseSplitBytes } from "../shared/split-bytes.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { dataViewOf } from "../shared/text/data-view.js";
import { FlatDamage } from "./header/flat-reader.js";
import { GeometryType } from "./header/header.js";
import type { readOptions } from "./index.js";
import { FeatureReader } from "./read/feature-reader.js";
import { makePlan, type OpenedFile } from "./read/make-plan.js";
import { type FgbSplit, type OpenFile, planSplits } from "./read/plan-splits.js";
import { FeatureSummarizer } from "./read/summarize.js";

export type ReadOptions = OptionValues<typeof readOptions>;

/** Ranges of a split that are read at the same time. */
const maxConcurrentReads = 8;
/** A larger split is not read ahead. */
const maxPrefetchBytes = 4 * defaultSplitBytes;

/** @throws input-empty, input-corrupt, input-truncated, unsupported */
export async function open(source: Source, options: ReadOptions, context: ReadContext): Promise<Dataset> {
  if (source.size === 0) throw createError("input-empty", { source: source.name });
  const file = await source.open();
  try {
    const opened = (context.scanResult as OpenedFile | undefined) ?? (await makePlan(source, file, options, context));
    const { plan, omitted } = opened;
    return {
      layers: [createLayer({ source, file, plan, context })],
      omitted,
      scanResult: opened,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function createLayer(open: OpenFile): Layer {
  const { plan, file } = open;
  const reader = new SplitReader(open);
  return {
    name: plan.name,
    crs: plan.crs,
    fields: plan.columns.map(({ field }) => field),
    geometryTypes: plan.geometryTypes,
    // With an index, every split has as many features as the index says, or is damaged.
    featureCount: plan.index ? plan.featureCount : null,
    extent: null,
    metadata: plan.metadata,
    bytes: file.size - plan.featuresAt,
    splits: (filter?: SplitFilter) => planSplits(open, filter),
    summary: (request) => summarize(open, reader, request),
    prefetch: (split: Split) => reader.prefetch(split as FgbSplit),
    async *batches(split?: Split, fetched?: unknown) {
      if (split) {
        yield* reader.read(split as FgbSplit, 1, fetched as Buffer | undefined);
        return;
      }
      let firstRecord = 1;
      for await (const each of planSplits(open, undefined)) {
        yield* reader.read(each, firstRecord);
        firstRecord += reader.records;
      }
    },
  };
}

/**
 * Null if features must be read: for collections, JSON, whose values may change, points that stages may change, positions
 * that an extent needs, and a damaged file.
 */
async function summarize(open: OpenFile, reader: SplitReader, request: SummaryRequest): Promise<LayerSummary | null> {
  const { plan, context } = open;
  const { unchangedExtent, isLimited, needsExtent, onBytesScanned } = request;
  const isPoints = plan.geometryType === GeometryType.point;
  if (isLimited || (needsExtent && !isPoints) || (isPoints && unchangedExtent === null)) return null;
  if (plan.columns.some(({ field }) => field.type === "json")) return null;
  const summarizer = new FeatureSummarizer(plan, unchangedExtent);
  // Reading reports what splits do.
  const silent = { ...open, context: { signal: context.signal, skipErrors: false, skipRange() {}, reportNotice() {} } };
  try {
    for await (const split of planSplits(silent, undefined)) {
      context.signal.throwIfAborted();
      const bytes = await reader.fetch(split);
      const isDone = summarizer.add(bytes, dataViewOf(bytes));
      releaseSplitBytes(bytes);
      if (!isDone) return null;
      onBytesScanned?.(bytes.length);
    }
  } catch (error) {
    const isDamage = error instanceof GeoferryError && error.kind === "input";
    if (isDamage || error instanceof FlatDamage) return null;
    throw error;
  }
  return summarizer.finish();
}

class SplitReader {
  /** Features of the last split. */
  records = 0;
  private readonly features: FeatureReader;

  constructor(private readonly open: OpenFile) {
    this.features = new FeatureReader(open.source, open.plan, open.context);
  }

  async prefetch(split: FgbSplit): Promise<Buffer | undefined> {
    return sizeOf(split) > maxPrefetchBytes ? undefined : this.fetch(split);
  }

  /** Reads the ranges of a split one behind the other into memory for `releaseSplitBytes`. */
  async fetch(split: FgbSplit): Promise<Buffer> {
    const bytes = acquireBuffer(sizeOf(split));
    let at = 0;
    const places = split.ranges.map(([from, to]) => {
      const place = { from, to, into: bytes.subarray(at, at + to - from) };
      at += to - from;
      return place;
    });
    let next = 0;
    const readNext = async () => {
      for (let place = places[next++]; place; place = places[next++]) {
        const { from, to, into } = place;
        const read = await this.open.file.read(from, to - from, into);
        if (read.buffer !== into.buffer) into.set(read);
        if (read.length === to - from) continue;
        const reason = "it was shortened while it was read";
        throw createError("input-truncated", {
          source: this.open.source.name,
          place: { byte: from + read.length },
          reason,
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxConcurrentReads, places.length) }, readNext));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** @param firstRecord the record number of the first feature */
  async *read(split: FgbSplit, firstRecord: number, fetched?: Buffer): AsyncGenerator<Batch> {
    const { context, source } = this.open;
    const bytes = fetched ?? (await this.fetch(split));
    this.records = split.records ?? 0;
    try {
      let at = 0;
      let found = 0;
      for (const [from, to, record] of split.ranges) {
        const range = bytes.subarray(at, at + to - from);
        const batches = this.features.read(range, from, firstRecord + record);
        for (let step = batches.next(); ; step = batches.next()) {
          context.signal.throwIfAborted();
          if (step.done) found += step.value;
          if (step.done) break;
          yield step.value;
        }
        at += to - from;
      }
      if (split.records === null) this.records = found;
      else if (this.isWhole(split) && found !== split.records && !context.skipErrors) {
        const reason = `the index has ${split.records} features here, and there are ${found}`;
        throw createError("input-corrupt", {
          source: source.name,
          place: { byte: split.ranges[0]![0] },
          reason,
          canSkip: true,
        });
      }
    } finally {
      context.splitFinished(this.records, 0);
      releaseSplitBytes(bytes);
    }
  }

  private isWhole({ bytes, ranges }: FgbSplit): boolean {
    return ranges.length === 1 && ranges[0]![1] - ranges[0]![0] === bytes;
  }
}

const sizeOf = ({ ranges }: FgbSplit): number => ranges.reduce((sum, [from, to]) => sum + to - from, 0);
