/**
 * Reads GPX. `scanGpx` reads the file once, for its fields and splits; then `GpxParser.read` passes the features of a split
 * to a `FeatureBuilder`, by the rules of `grammar.ts`. The path of a waypoint: `<wpt>` → rule `gpx/wpt` →
 * `ParseContext.beginFeature` → `FeatureBuilder.begin`; `<name>` → rule `wpt/name` → `standardActions` →
 * `FeatureBuilder.standard` → `BatchColumns.keep`; `</wpt>` → `ParseContext.endFeature` → `FeatureBuilder.end`. An
 * element within `<extensions>`: rule `extensions/*` → `ExtensionParser.open` and `close`, with the field's name from
 * `PathTree` (`paths.ts`) → `FeatureBuilder.extension`. The scan (`GpxScanner`) is a second visitor of the same parser, so
 * both find the same names. Points written alike are read by templates (`PointTemplate`), which replay these actions.
 */
import type { Batch, Dataset, GeometryType, Layer, LayerMetadata } from "../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { fileStem } from "../shared/file-stem.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { ElementLayer, type LayerPart, openLayers } from "../shared/xml/element-layer.js";
import { XmlReader, type XmlReaderTuning } from "../shared/xml/reader.js";
import { Gpx, gpxTypeField, vocabulary } from "./elements.js";
import type { readOptions } from "./options.js";
import { FeatureBuilder } from "./read/feature-builder.js";
import { GpxParser } from "./read/gpx-parser.js";
import { maxPaths } from "./read/paths.js";
import { scanGpx } from "./read/scan.js";
import type { GpxField, GpxScanResult, GpxSplit } from "./read/scan-result.js";

type Options = OptionValues<typeof readOptions>;

/** A route or track of one point is read as a point. */
const lineTypes: readonly GeometryType[] = ["Point", "LineString", "MultiLineString"];
/** A track without points may have been an empty MultiPoint, if geoferry wrote it. */
const trackTypes: readonly GeometryType[] = ["Point", "LineString", "MultiPoint", "MultiLineString"];
const whole = { kinds: [Gpx.wpt, Gpx.rte, Gpx.trk], types: trackTypes };
const partsByKind: readonly LayerPart[] = [
  { name: "waypoints", kinds: [Gpx.wpt], types: ["Point"] },
  { name: "routes", kinds: [Gpx.rte], types: lineTypes },
  { name: "tracks", kinds: [Gpx.trk], types: trackTypes },
];

export function open(source: Source, options: Options, context: ReadContext): Promise<Dataset> {
  return openGpx(source, options, context, defaultSplitBytes);
}

/** Opens the file, with splits of about `splitBytes` bytes. */
export function openGpx(
  source: Source,
  options: Options,
  context: ReadContext,
  splitBytes: number,
  tuning: XmlReaderTuning = {},
): Promise<Dataset & { readonly layers: readonly Layer[] }> {
  const scan = async (file: SourceFile): Promise<GpxScanResult> =>
    (context.scanResult as GpxScanResult | undefined) ??
    (await scanGpx(file, source.name, context, splitBytes, options, tuning));
  return openLayers(source, scan, (file, scanResult) => {
    const name = scanResult.name || fileStem(source.name);
    const parts = options.layers === "kinds" ? partsByKind : [{ name, ...whole }];
    return parts.map((part, i) => {
      // Findings about the file are reported with its first layer.
      const result = i === 0 ? scanResult : { ...scanResult, metadata: null, left: [] };
      return new GpxLayer(source, file, options, context, result, part, tuning);
    });
  });
}

class GpxLayer extends ElementLayer<GpxField, GpxSplit, GpxScanResult> {
  readonly metadata?: LayerMetadata;

  constructor(
    private readonly source: Source,
    file: SourceFile,
    private readonly options: Options,
    context: ReadContext,
    scanResult: GpxScanResult,
    part: LayerPart,
    private readonly tuning: XmlReaderTuning,
  ) {
    super(file, context, scanResult, part, options.gpxType ? null : gpxTypeField);
    if (scanResult.metadata) this.metadata = scanResult.metadata;
  }

  override async *splits(): AsyncGenerator<GpxSplit> {
    const { left } = this.scanResult;
    if (left.length > 0) {
      const example = `metadata elements that geoferry does not keep were left out: ${left.join(", ")}`;
      this.context.reportLoss("metadata-left-out", undefined, example);
    }
    yield* super.splits();
  }

  protected startOf({ from }: GpxSplit): number | null {
    return this.scanResult.start?.encoding === "utf-8" ? from : null;
  }

  protected async *read(split: GpxSplit, before: number, fetched?: Buffer): AsyncGenerator<Batch, number> {
    const { context, source, part } = this;
    const { shortLines, routeShape } = this.options;
    const start = { ...this.scanResult.start!, byte: split.from };
    const settings = { source: source.name, context, vocabulary, start, to: split.to, fetched, ...this.tuning };
    const reader = new XmlReader(this.file, settings);
    const kinds = [Gpx.wpt, Gpx.rte, Gpx.trk].map((kind) => part.kinds.includes(kind));
    const lines = { shortLines, routeShape };
    const builder = new FeatureBuilder(reader, this.elementFields, kinds, lines, context, before);
    const parser = new GpxParser(reader, builder, null, {
      notGpx: () => new Error("a split begins inside the root element"),
    });
    const records = yield* this.readFeatures(reader, parser, builder, fetched);
    const { surplus, regrouped } = parser.extensions.paths;
    if (surplus > 0) {
      const example = `extensions of more than ${maxPaths} kinds, or elements or attributes where GPX has none, were left out`;
      context.reportLoss("extension-left-out", undefined, example, surplus);
    }
    if (regrouped > 0) {
      const example =
        "an element of extensions occurs more than once and has child elements; the values are kept, but not which of them belong together";
      context.reportLoss("extension-regrouped", undefined, example, regrouped);
    }
    return records;
  }
}
