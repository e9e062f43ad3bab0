/**
 * Reads TCX. `scanTcx` reads the file once, for its fields, the values of activities and sessions (some of which follow
 * their laps), and the splits; then `TcxParser` passes the features of a split to a `FeatureBuilder`. The scan is another
 * visitor of the same parser, so both find the same names. Names of values come from `ValuePaths`, by the table in
 * `elements.ts`.
 */
import type { Batch, Dataset, GeometryType, Layer } from "../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { fileStem } from "../shared/file-stem.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import type { ElementField } from "../shared/xml/batch-columns.js";
import { ElementLayer, type LayerPart, openLayers } from "../shared/xml/element-layer.js";
import { XmlReader, type XmlReaderTuning } from "../shared/xml/reader.js";
import { Tcx, tcxKinds, tcxTypeField, vocabulary } from "./elements.js";
import type { readOptions } from "./options.js";
import { FeatureBuilder } from "./read/feature-builder.js";
import { scanTcx } from "./read/scan.js";
import type { TcxScanResult, TcxSplit } from "./read/scan-result.js";
import { TcxParser } from "./read/tcx-parser.js";

type Options = OptionValues<typeof readOptions>;

/** A lap or course of one point is read as a point. */
const lineTypes: readonly GeometryType[] = ["Point", "LineString", "MultiLineString"];
const whole = { kinds: [Tcx.lap, Tcx.course, Tcx.coursePoint], types: lineTypes };
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
export function openTcx(
  source: Source,
  options: Options,
  context: ReadContext,
  splitBytes: number,
  tuning: XmlReaderTuning = {},
): Promise<Dataset & { readonly layers: readonly Layer[] }> {
  const scan = async (file: SourceFile): Promise<TcxScanResult> =>
    (context.scanResult as TcxScanResult | undefined) ??
    (await scanTcx(file, source.name, context, splitBytes, options, tuning));
  return openLayers(source, scan, (file, scanResult) => {
    const parts = options.layers === "kinds" ? partsByKind : [{ name: fileStem(source.name), ...whole }];
    return parts.map((part) => new TcxLayer(source, file, options, context, scanResult, part, tuning));
  });
}

class TcxLayer extends ElementLayer<ElementField, TcxSplit, TcxScanResult> {
  constructor(
    private readonly source: Source,
    file: SourceFile,
    private readonly options: Options,
    context: ReadContext,
    scanResult: TcxScanResult,
    part: LayerPart,
    private readonly tuning: XmlReaderTuning,
  ) {
    super(file, context, scanResult, part, options.tcxType ? null : tcxTypeField);
  }

  protected startOf({ start }: TcxSplit): number | null {
    return start.encoding === "utf-8" ? start.byte : null;
  }

  protected async *read(split: TcxSplit, before: number, fetched?: Buffer): AsyncGenerator<Batch, number> {
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
    return yield* this.readFeatures(reader, parser, builder, fetched);
  }
}
