/**
 * Reads TCX. `scanTcx` reads the file once, for its fields, the values of activities and sessions (some of which follow
 * their laps), and the splits; then `TcxParser` passes the features of a split to a `FeatureBuilder`. The scan is another
 * visitor of the same parser, so both find the same names. Names of values come from `ValuePaths`, by the table in
 * `elements.ts`.
 */
import type { Batch, Crs, Dataset, Field, GeometryType, Layer, Split } from "../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { fileStem } from "../shared/file-stem.js";
import { readSplitBytes, releaseSplitBytes } from "../shared/split-bytes.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { type ElementField, toLayerField } from "../shared/xml/batch-columns.js";
import { XmlReader, type XmlReaderTuning, XmlToken } from "../shared/xml/reader.js";
import { Tcx, tcxKinds, tcxTypeField, vocabulary } from "./elements.js";
import type { readOptions } from "./options.js";
import { FeatureBuilder } from "./read/feature-builder.js";
import { scanTcx } from "./read/scan.js";
import type { TcxScanResult, TcxSplit } from "./read/scan-result.js";
import { TcxParser } from "./read/tcx-parser.js";

type Options = OptionValues<typeof readOptions>;

/** The part of the file that is a layer. */
interface LayerPart {
  readonly name: string;
  readonly kinds: readonly number[];
  readonly types: readonly GeometryType[];
}

/** A lap or course of one point is read as a point. */
const lineTypes: readonly GeometryType[] = ["Point", "LineString", "MultiLineString"];
const partsByKind: readonly LayerPart[] = [
  { name: "laps", kinds: [Tcx.lap], types: lineTypes },
  { name: "courses", kinds: [Tcx.course], types: lineTypes },
  { name: "coursePoints", kinds: [Tcx.coursePoint], types: ["Point"] },
];

/** Opens a document (Garmin TrainingCenterDatabase v2). @throws input-corrupt, input-truncated, input-not-understood */
export function open(source: Source, options: Options, context: ReadContext): Promise<Dataset> {
  return openTcx(source, options, context, defaultSplitBytes);
}

/** Opens the file, with splits of about `splitBytes` bytes. */
export async function openTcx(
  source: Source,
  options: Options,
  context: ReadContext,
  splitBytes: number,
  tuning: XmlReaderTuning = {},
): Promise<Dataset & { readonly layers: readonly Layer[] }> {
  const file = await source.open();
  try {
    const known = context.scanResult as TcxScanResult | undefined;
    const scanResult = known ?? (await scanTcx(file, source.name, context, splitBytes, options, tuning));
    const whole = { name: fileStem(source.name), kinds: [Tcx.lap, Tcx.course, Tcx.coursePoint], types: lineTypes };
    const parts = options.layers === "kinds" ? partsByKind : [whole];
    const layers = parts.map((part) => new TcxLayer(source, file, options, context, scanResult, part, tuning));
    return { layers, scanResult, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

class TcxLayer implements Layer {
  readonly name: string;
  /** TrainingCenterDatabase v2, Position_t: degrees of WGS84. */
  readonly crs: Crs;
  readonly fields: readonly Field[];
  readonly geometryTypes: readonly GeometryType[];
  readonly featureCount: number;
  readonly extent = null;
  readonly bytes: number;
  private readonly elementFields: readonly ElementField[];

  constructor(
    private readonly source: Source,
    private readonly file: SourceFile,
    private readonly options: Options,
    private readonly context: ReadContext,
    private readonly scanResult: TcxScanResult,
    private readonly part: LayerPart,
    private readonly tuning: XmlReaderTuning,
  ) {
    const { kinds } = part;
    this.name = part.name;
    this.crs = context.crs.wgs84;
    const fields = kinds.length === 1 ? scanResult.fields.byKind[kinds[0]!]! : scanResult.fields.all;
    this.elementFields = options.tcxType ? fields : fields.filter(({ name }) => name !== tcxTypeField);
    this.fields = this.elementFields.map(toLayerField);
    this.geometryTypes = part.types;
    this.featureCount = this.countOf(scanResult.counts);
    this.bytes = file.size;
  }

  private countOf(counts: readonly number[]): number {
    return this.part.kinds.reduce((sum, kind) => sum + counts[kind]!, 0);
  }

  async *splits(): AsyncGenerator<TcxSplit> {
    for (const gap of this.scanResult.gaps) this.context.skipRange(gap);
    for (const split of this.scanResult.splits) if (this.countOf(split.counts) > 0) yield split;
  }

  async prefetch(split: Split): Promise<Buffer | undefined> {
    const { start, to } = split as TcxSplit;
    return start.encoding === "utf-8" ? readSplitBytes(this.file, start.byte, to) : undefined;
  }

  async *batches(split?: Split, fetched?: unknown): AsyncGenerator<Batch> {
    let records = 0;
    for await (const current of split ? [split as TcxSplit] : this.splits())
      records = yield* this.read(current, records, fetched as Buffer | undefined);
    this.context.splitFinished(records, 0);
  }

  /** Reads the features of a split. @returns the number of records so far */
  private async *read(split: TcxSplit, before: number, fetched?: Buffer): AsyncGenerator<Batch, number> {
    const { context, source, part, scanResult } = this;
    const { start, state, to } = split;
    const settings = { source: source.name, context, vocabulary, start, to, fetched, leaves: true, ...this.tuning };
    const reader = new XmlReader(this.file, settings);
    const kinds = tcxKinds.map((_, kind) => part.kinds.includes(kind));
    const { shortLines } = this.options;
    const { parents } = scanResult;
    const builder = new FeatureBuilder(reader, this.elementFields, kinds, parents, shortLines, context, before);
    const notTcx = () => new Error("a split begins inside the root element");
    const parser = new TcxParser(reader, builder, null, notTcx, state);
    for (let token = parser.read(); token !== XmlToken.end; token = parser.read()) {
      if (token === XmlToken.more) await reader.fill();
      else if (builder.full) {
        context.signal.throwIfAborted();
        yield builder.finish()!;
      }
    }
    const last = builder.finish();
    if (last) yield last;
    builder.report();
    reader.report();
    releaseSplitBytes(fetched);
    return builder.records;
  }
}
