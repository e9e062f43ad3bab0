import type { Batch, Crs, Dataset, Field, Layer, LayerMetadata, LayerSummary, Split } from "../../src/model/index.js";
import { typesIn } from "../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { readSplitBytes, releaseSplitBytes } from "../shared/split-bytes.js";
import { XmlReader, type XmlReaderTuning } from "../shared/xml/reader.js";
import type { readOptions } from "./options.js";
import { FeatureBatchBuilder, fieldsOf } from "./read/batch-builder.js";
import { DocumentReader } from "./read/document-reader.js";
import { FeatureReader } from "./read/feature-reader.js";
import { ValueSource as From } from "./read/feature-record.js";
import { type DocumentPlan, DocumentScanner, idScope } from "./scan/document-scanner.js";
import type { KmlSplit, LayerPlan } from "./scan/layer-scan.js";
import { StyleTable } from "./scan/style-table.js";
import { vocabulary } from "./vocabulary.js";

type Options = OptionValues<typeof readOptions>;

export async function open(source: Source, options: Options, context: ReadContext): Promise<Dataset> {
  return openKml(source, options, context, undefined);
}

/** Opens a document with splits of about `splitSize` bytes. */
export async function openKml(
  source: Source,
  options: Options,
  context: ReadContext,
  splitSize: number | undefined,
  tuning: XmlReaderTuning = {},
): Promise<Dataset> {
  const file = await source.open();
  try {
    const plan =
      (context.scanResult as DocumentPlan | undefined) ??
      (await scanDocument(file, source, options, context, splitSize, tuning));
    const styles = new StyleTable(plan.styles);
    const layers = plan.layers.map(
      (layer) => new KmlLayer(file, source, layer, plan, styles, options, context, tuning),
    );
    return { layers, scanResult: plan, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function scanDocument(
  file: SourceFile,
  source: Source,
  options: Options,
  context: ReadContext,
  splitSize: number | undefined,
  tuning: XmlReaderTuning = {},
): Promise<DocumentPlan> {
  const settings = {
    source: source.name,
    archive: source.entries,
    name: fileStem(source.name),
    byFolder: options.layers === "folders",
    withStyles: options.styles,
    ...(splitSize === undefined ? {} : { splitSize }),
    tuning,
  };
  return new DocumentScanner(file, settings, context).run();
}

/** Returns the name of a file without folder and extension; for `doc.kml`, that of its archive. */
function fileStem(path: string): string {
  const parts = path.split(/[/\\]/);
  const own = parts.at(-1)!;
  const archive = parts.at(-2);
  const file = /^doc\.kml$/i.test(own) && archive && /\.kmz$/i.test(archive) ? archive : own;
  return file.replace(/\.[^.]*$/, "") || file;
}

class KmlLayer implements Layer {
  readonly name: string;
  readonly crs: Crs;
  readonly fields: readonly Field[];
  readonly geometryTypes: Layer["geometryTypes"];
  readonly featureCount: number;
  readonly extent: Layer["extent"];
  readonly bytes: number;
  readonly metadata?: LayerMetadata;

  constructor(
    private readonly file: SourceFile,
    private readonly source: Source,
    private readonly plan: LayerPlan,
    private readonly document: DocumentPlan,
    private readonly styles: StyleTable,
    private readonly options: Options,
    private readonly context: ReadContext,
    private readonly tuning: XmlReaderTuning,
  ) {
    const { summary } = plan;
    this.name = plan.name;
    if (plan.metadata) this.metadata = plan.metadata;
    // Always longitude and latitude in WGS84 (OGC 07-147r2, 6.2).
    this.crs = context.crs.wgs84;
    this.fields = fieldsOf(plan, options.fid);
    this.geometryTypes = typesIn(summary);
    this.featureCount = summary.featureCount + plan.rejects;
    this.extent = summary.extent;
    this.bytes = plan.splits.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async summary(): Promise<LayerSummary> {
    const { summary } = this.plan;
    const idField = this.fields.length > summary.fields.length ? this.fields.at(-1) : undefined;
    if (!idField) return summary;
    const fields = [...summary.fields, { ...idField, values: summary.featureCount, maxBytes: summary.maxIdBytes }];
    return { ...summary, fields };
  }

  async *splits(): AsyncGenerator<KmlSplit> {
    yield* this.plan.splits;
  }

  async prefetch(split: Split): Promise<Buffer | undefined> {
    const { start, to, entry = 0 } = split as KmlSplit;
    return start?.encoding === "utf-8" && entry === 0 ? readSplitBytes(this.file, start.byte, to) : undefined;
  }

  async *batches(split?: Split, fetched?: unknown): AsyncGenerator<Batch> {
    let records = 0;
    for (const piece of split ? [split as KmlSplit] : this.plan.splits) {
      if (piece.gap) {
        records++;
        this.context.reject({ ...piece.gap, place: { ...piece.gap.place, record: records }, feature: null });
        continue;
      }
      await using opened = await this.openEntry(piece);
      const reader = new SplitReader(
        opened.file,
        opened.name,
        piece,
        this.plan,
        this.document,
        this.styles,
        this.options,
        this.context,
        this.tuning,
        fetched as Buffer | undefined,
      );
      reader.number = records;
      yield* reader.batches();
      records = reader.number;
    }
    this.context.splitFinished(records, 0);
  }

  /** Opens the document of a split. An archive may have thousands, so that each is open only while it is read. */
  private async openEntry({ entry = 0 }: KmlSplit): Promise<AsyncDisposable & { file: SourceFile; name: string }> {
    if (entry === 0) return { file: this.file, name: this.source.name, async [Symbol.asyncDispose]() {} };
    const source = this.source.entries!.getSource(this.document.entries[entry]!.path);
    const file = await source.open();
    return { file, name: source.name, [Symbol.asyncDispose]: () => file.close() };
  }
}

/** Reads the features of one split. */
class SplitReader {
  /** The number of the last record. */
  number = 0;
  private readonly xml: XmlReader;
  private readonly features: FeatureReader;
  private readonly document: DocumentReader;
  private readonly rows: FeatureBatchBuilder;
  private byte = 0;

  constructor(
    file: SourceFile,
    source: string,
    split: KmlSplit,
    private readonly plan: LayerPlan,
    document: DocumentPlan,
    styles: StyleTable,
    options: Options,
    private readonly context: ReadContext,
    tuning: XmlReaderTuning,
    private readonly fetched: Buffer | undefined,
  ) {
    const range = split.start ? { start: split.start, to: split.to, fetched, leaves: true } : {};
    this.xml = new XmlReader(file, { source, context, vocabulary, ...tuning, ...range });
    const { typed, arrays } = document;
    const { entry = 0 } = split;
    const { path, rootNamespace } = document.entries[entry]!;
    const scope = idScope(entry, path);
    const surroundings = {
      scope,
      style: (id: string) => styles.get(scope + id),
      arrayType: (schema: string, name: string) => arrays.get(schema)?.get(name),
      isTypedField: (name: string) => [...typed.values()].some((fields) => fields.includes(name)),
      ownStyle() {},
    };
    this.features = new FeatureReader(surroundings, context, options.styles);
    this.document = new DocumentReader(this.xml, this.features, {
      isTyped: (name) => typed.has(name),
      findings: null,
      containers: split.containers.map((container) => ({ ...container })),
      rootNamespace,
      context,
    });
    this.rows = new FeatureBatchBuilder(plan, context, options.fid);
  }

  async *batches(): AsyncGenerator<Batch> {
    for (;;) {
      const event = this.document.next();
      if (event === "feature" || event === "whole") {
        if (event === "whole") this.byte = this.xml.byte;
        this.feature();
        if (!this.rows.isFull) continue;
        const batch = this.rows.finish();
        if (batch) yield batch;
      } else if (event === "begins") this.byte = this.xml.byte;
      else if (event === "more") await this.xml.fill();
      else if (event === "end") break;
    }
    const { damage } = this.xml;
    if (damage) this.reject(damage.message, damage.code);
    const batch = this.rows.finish();
    if (batch) yield batch;
    this.xml.report();
    releaseSplitBytes(this.fetched);
  }

  private feature(): void {
    const path = this.document.path;
    const { record } = this.features;
    if (this.plan.folder !== undefined && this.plan.folder !== path) return;
    if (path !== "" && this.plan.folder === undefined) record.text(From.element, "folder", path);
    const { problem } = record.shapes;
    const { keepsBadGeometries } = this.context;
    if (problem === null) this.rows.add(record, ++this.number);
    else this.reject(problem, "geometry-malformed", keepsBadGeometries);
    if (problem !== null && keepsBadGeometries) this.rows.add(record, this.number);
  }

  private reject(reason: string, code: string, kept = false): void {
    const { record } = this.features;
    this.number++;
    const properties = Object.fromEntries(
      Array.from({ length: record.count }, (_, at) => [record.names[at]!, record.textAt(at)]),
    );
    const id = record.id === null ? {} : { id: record.id };
    this.context.reject({
      code,
      reason,
      place: { record: this.number, byte: this.byte },
      feature: { type: "Feature", ...id, geometry: null, properties },
      ...(kept && { kept }),
    });
  }
}
