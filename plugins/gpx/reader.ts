/**
 * Reads GPX. `scanGpx` reads the file once, for its fields and splits; then `GpxParser.read` passes the features of a split
 * to a `FeatureBuilder`, by the rules of `grammar.ts`. The path of a waypoint: `<wpt>` → rule `gpx/wpt` →
 * `ParseContext.beginFeature` → `FeatureBuilder.begin`; `<name>` → rule `wpt/name` → `standardActions` →
 * `FeatureBuilder.standard` → `BatchColumns.keep`; `</wpt>` → `ParseContext.endFeature` → `FeatureBuilder.end`. An
 * element within `<extensions>`: rule `extensions/*` → `ExtensionParser.open` and `close`, with the field's name from
 * `PathTree` (`paths.ts`) → `FeatureBuilder.extension`. The scan (`GpxScanner`) is a second visitor of the same parser, so
 * both find the same names. Points written alike are read by templates (`PointTemplate`), which replay these actions.
 */
import type { Batch, Crs, Dataset, Field, GeometryType, Layer, LayerMetadata, Split } from "../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { fileStem } from "../shared/file-stem.js";
import { readSplitBytes, releaseSplitBytes } from "../shared/split-bytes.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { toLayerField } from "../shared/xml/batch-columns.js";
import { XmlReader, type XmlReaderTuning, XmlToken } from "../shared/xml/reader.js";
import { Gpx, gpxTypeField, vocabulary } from "./elements.js";
import type { readOptions } from "./options.js";
import { FeatureBuilder } from "./read/feature-builder.js";
import { GpxParser } from "./read/gpx-parser.js";
import { maxPaths } from "./read/paths.js";
import { scanGpx } from "./read/scan.js";
import type { GpxField, GpxScanResult, GpxSplit } from "./read/scan-result.js";

type Options = OptionValues<typeof readOptions>;

/** The part of the file that is a layer. */
interface LayerPart {
  readonly name: string;
  readonly kinds: readonly number[];
  readonly types: readonly GeometryType[];
}

/** A route or track of one point is read as a point. */
const lineTypes: readonly GeometryType[] = ["Point", "LineString", "MultiLineString"];
/** A track without points may have been an empty MultiPoint, if geoferry wrote it. */
const trackTypes: readonly GeometryType[] = ["Point", "LineString", "MultiPoint", "MultiLineString"];
const partsByKind: readonly LayerPart[] = [
  { name: "waypoints", kinds: [Gpx.wpt], types: ["Point"] },
  { name: "routes", kinds: [Gpx.rte], types: lineTypes },
  { name: "tracks", kinds: [Gpx.trk], types: trackTypes },
];

export async function open(source: Source, options: Options, context: ReadContext): Promise<Dataset> {
  return openGpx(source, options, context, defaultSplitBytes);
}

/** Opens the file, with splits of about `splitBytes` bytes. */
export async function openGpx(
  source: Source,
  options: Options,
  context: ReadContext,
  splitBytes: number,
  tuning: XmlReaderTuning = {},
): Promise<Dataset & { readonly layers: readonly Layer[] }> {
  const file = await source.open();
  try {
    const known = context.scanResult as GpxScanResult | undefined;
    const scanResult = known ?? (await scanGpx(file, source.name, context, splitBytes, options, tuning));
    const whole = { name: scanResult.name || fileStem(source.name), kinds: [0, 1, 2], types: trackTypes };
    const parts = options.layers === "kinds" ? partsByKind : [whole];
    const layers = parts.map((part, i) => {
      // Findings about the file are reported with its first layer.
      const result = i === 0 ? scanResult : { ...scanResult, metadata: null, left: [] };
      return new GpxLayer(source, file, options, context, result, part, tuning);
    });
    return { layers, scanResult, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

class GpxLayer implements Layer {
  readonly name: string;
  /** GPX 1.1, wptType: decimal degrees, WGS84 datum. */
  readonly crs: Crs;
  readonly fields: readonly Field[];
  readonly geometryTypes: readonly GeometryType[];
  readonly featureCount: number;
  readonly extent = null;
  readonly bytes: number;
  readonly metadata?: LayerMetadata;
  private readonly gpxFields: readonly GpxField[];
  private readonly shortLines: boolean;
  private readonly routeShape: boolean;

  constructor(
    private readonly source: Source,
    private readonly file: SourceFile,
    options: Options,
    private readonly context: ReadContext,
    private readonly scanResult: GpxScanResult,
    private readonly part: LayerPart,
    private readonly tuning: XmlReaderTuning,
  ) {
    const { kinds } = part;
    this.name = part.name;
    this.crs = context.crs.wgs84;
    const fields = kinds.length === 1 ? scanResult.fields.byKind[kinds[0]!]! : scanResult.fields.all;
    this.gpxFields = options.gpxType ? fields : fields.filter(({ name }) => name !== gpxTypeField);
    this.fields = this.gpxFields.map(toLayerField);
    this.geometryTypes = part.types;
    this.shortLines = options.shortLines;
    this.routeShape = options.routeShape;
    this.featureCount = this.countOf(scanResult.counts);
    this.bytes = file.size;
    if (scanResult.metadata) this.metadata = scanResult.metadata;
  }

  private countOf(counts: readonly number[]): number {
    return this.part.kinds.reduce((sum, kind) => sum + counts[kind]!, 0);
  }

  async *splits(): AsyncGenerator<GpxSplit> {
    const { left } = this.scanResult;
    if (left.length > 0) {
      const example = `metadata elements that geoferry does not keep were left out: ${left.join(", ")}`;
      this.context.reportLoss("metadata-left-out", undefined, example);
    }
    for (const gap of this.scanResult.gaps) this.context.skipRange(gap);
    for (const split of this.scanResult.splits) if (this.countOf(split.counts) > 0) yield split;
  }

  async prefetch(split: Split): Promise<Buffer | undefined> {
    const { from, to } = split as GpxSplit;
    return this.scanResult.start?.encoding === "utf-8" ? readSplitBytes(this.file, from, to) : undefined;
  }

  async *batches(split?: Split, fetched?: unknown): AsyncGenerator<Batch> {
    let records = 0;
    for await (const current of split ? [split as GpxSplit] : this.splits()) {
      records = yield* this.read(current, records, fetched as Buffer | undefined);
    }
    this.context.splitFinished(records, 0);
  }

  /** Reads the features of a split. @returns the number of records so far */
  private async *read(split: GpxSplit, before: number, fetched?: Buffer): AsyncGenerator<Batch, number> {
    const { context, source } = this;
    const start = { ...this.scanResult.start!, byte: split.from };
    const settings = { source: source.name, context, vocabulary, start, to: split.to, fetched, ...this.tuning };
    const reader = new XmlReader(this.file, settings);
    const kinds = [0, 1, 2].map((kind) => this.part.kinds.includes(kind));
    const builder = new FeatureBuilder(
      reader,
      this.gpxFields,
      kinds,
      { shortLines: this.shortLines, routeShape: this.routeShape },
      context,
      before,
    );
    const parser = new GpxParser(reader, builder, null, {
      notGpx: () => new Error("a split begins inside the root element"),
    });
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
    return builder.records;
  }
}
