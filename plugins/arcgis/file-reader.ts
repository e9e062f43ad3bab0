import type { Dataset, Layer, Split } from "../../src/model/index.js";
import {
  createError,
  type OptionValues,
  type ReadContext,
  type Source,
  type SourceFile,
} from "../../src/plugin/index.js";
import { refuseCutAnswer } from "../shared/cut-answer.js";
import { describeSyntaxError, parseFeatures } from "../shared/json/parse-features.js";
import { type FeatureRange, StructureError, StructureScanner } from "../shared/json/structure-scanner.js";
import { isObject, type Json, textOf } from "../shared/json/values.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import type { fileOptions } from "./index.js";
import { FeatureBatches } from "./read/feature-batches.js";
import { type EsriLayerPlan, featureSetReference, planLayer } from "./read/layer-plan.js";

export type FileOptions = OptionValues<typeof fileOptions>;

const chunkBytes = 1 << 20;
/** Most bytes of a member beside the features. */
const maxMemberBytes = 1 << 26;

interface FileScan {
  readonly plan: EsriLayerPlan;
  readonly ranges: readonly FeatureRange[];
  readonly records: number;
}

interface FileSplit extends Split, FeatureRange {}

/** Opens a feature set (ArcGIS REST API, "Feature object", Feature set). @throws input-corrupt, input-truncated, unsupported */
export async function open(source: Source, options: FileOptions, context: ReadContext): Promise<Dataset> {
  const file = await source.open();
  try {
    const scan = (context.scanResult as FileScan | undefined) ?? (await scanFile(source, file, options, context));
    return {
      layers: [createLayer(source, file, scan, context)],
      scanResult: scan,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Scans the whole file: its members may follow the features, and its parts are found in the same pass. */
async function scanFile(
  source: Source,
  file: SourceFile,
  options: FileOptions,
  context: ReadContext,
): Promise<FileScan> {
  const mark = await file.read(0, 3);
  const start = mark[0] === 0xef && mark[1] === 0xbb && mark[2] === 0xbf ? 3 : 0;
  const scanner = new StructureScanner(defaultSplitBytes, start);
  try {
    for (let at = start; at < file.size; at += chunkBytes) {
      context.signal.throwIfAborted();
      scanner.push(await file.read(at, chunkBytes));
    }
    scanner.finish();
  } catch (error) {
    if (!(error instanceof StructureError)) throw error;
    const place = { ...(scanner.hasFeatures && { record: scanner.records + 1 }), byte: error.byte };
    const canSkip = scanner.hasFeatures;
    const details = { source: source.name, place, reason: error.message, canSkip };
    if (!canSkip || !context.skipErrors)
      throw createError(error.isTruncated ? "input-truncated" : "input-corrupt", details, error);
    context.skipRange({ source: source.name, place, bytes: null, reason: error.message });
  }
  const members = await readMembers(source, file, scanner.members);
  checkMembers(source, members, scanner.hasFeatures, context);
  const [first] = scanner.ranges;
  const firstFeature = first
    ? parseFeatures(await file.read(first.start, first.end - first.start)).values[0]
    : undefined;
  const plan = await planLayer(members, featureSetReference(members, firstFeature), options, context);
  return { plan, ranges: scanner.ranges, records: scanner.records };
}

async function readMembers(
  source: Source,
  file: SourceFile,
  ranges: ReadonlyMap<string, readonly [number, number]>,
): Promise<Json> {
  const members: Record<string, unknown> = {};
  for (const [name, [start, end]] of ranges) {
    if (end - start > maxMemberBytes)
      throw createError("unsupported", { source: source.name, reason: `its member "${name}" is larger than 64 MiB` });
    const text = (await file.read(start, end - start)).toString("utf8");
    try {
      members[name] = JSON.parse(text);
    } catch (error) {
      const reason = `its member "${name}" is ${describeSyntaxError(error)}`;
      throw createError("input-corrupt", { source: source.name, place: { byte: start }, reason }, error);
    }
  }
  return members;
}

function checkMembers(file: Source, members: Json, hasFeatures: boolean, context: ReadContext): void {
  const { error } = members;
  const source = file.name;
  if (isObject(error) && !hasFeatures) {
    const reason = `it is not data but an error of an ArcGIS service: ${textOf(error.message) ?? "without a message"}`;
    throw createError("input-corrupt", { source, reason });
  }
  if (!hasFeatures) throw createError("input-corrupt", { source, reason: "it has no list of features" });
  if (members.exceededTransferLimit === true) refuseCutAnswer(file, context);
}

function createLayer(
  source: Source,
  file: SourceFile,
  { plan, ranges, records }: FileScan,
  context: ReadContext,
): Layer {
  const batches = new FeatureBatches(source.name, plan, context);
  return {
    name: source.name
      .split(/[/\\]/)
      .at(-1)!
      .replace(/\.[^.]*$/, ""),
    crs: plan.crs,
    fields: plan.fields?.fields.map(({ field }) => field) ?? null,
    geometryTypes: plan.geometryTypes,
    featureCount: records,
    extent: null,
    bytes: file.size,
    async *splits() {
      for (const range of ranges) yield { ...range, bytes: range.end - range.start };
    },
    prefetch: (split: Split) => readRange(file, split as FileSplit),
    async *batches(split?: Split, fetched?: unknown) {
      let firstRecord = 1;
      for (const range of split ? [split as FileSplit] : ranges) {
        const bytes = (fetched as Buffer | undefined) ?? (await readRange(file, range));
        yield* batches.read(bytes, range.start, firstRecord);
        firstRecord += range.records;
      }
      context.splitFinished(firstRecord - 1, 0);
    },
  };
}

const readRange = (file: SourceFile, { start, end }: FeatureRange): Promise<Buffer> => file.read(start, end - start);
