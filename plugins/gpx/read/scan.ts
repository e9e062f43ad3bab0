import { createError, type GeoferryError, type Place } from "../../../src/errors.js";
import type { SkippedRange } from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
import type { OptionValues } from "../../../src/plugin/options.js";
import { findTag } from "../../shared/xml/find-tag.js";
import { type XmlName, type XmlPosition, XmlReader, type XmlReaderTuning, XmlToken } from "../../shared/xml/reader.js";
import { gpxTypes, vocabulary } from "../elements.js";
import { type MetadataElement, readMetadata } from "../metadata.js";
import type { readOptions } from "../options.js";
import { FieldScan } from "./field-scan.js";
import { GpxParser } from "./gpx-parser.js";
import type { ValuePath } from "./paths.js";
import type { GpxScanResult, GpxSplit } from "./scan-result.js";
import type { FeatureVisitor, FileVisitor } from "./visitor.js";

/** After this many skipped ranges, reading ends. */
const maxSkippedRanges = 100;
/** The maximum number of different names of unknown elements that are recorded. */
const maxUnknownNames = 50;
const gpx11Namespace = "http://www.topografix.com/GPX/1/1";
const knownNamespaces = /^http:\/\/www\.topografix\.com\/GPX\/1\/[01]$/;
/** Elements with metadata: children of `metadata` in GPX 1.1, of the root in GPX 1.0. */
const metadataElements = new Set([
  "name",
  "desc",
  "author",
  "email",
  "copyright",
  "link",
  "url",
  "urlname",
  "time",
  "keywords",
  "bounds",
  "extensions",
]);

/** Reads the whole file once, to find its fields, their types, and where features begin. */
export async function scanGpx(
  file: SourceFile,
  source: string,
  context: ReadContext,
  splitSize: number,
  options: Pick<OptionValues<typeof readOptions>, "routeShape" | "types">,
  tuning: XmlReaderTuning = {},
): Promise<GpxScanResult> {
  const scanner = new GpxScanner(splitSize, context.skipErrors, options.routeShape, options.types === "auto");
  const notGpx = (name: string) =>
    createError("input-corrupt", { source, place: {}, reason: `it is not GPX: its root element is <${name}>` });
  const quiet = { ...scanContext(context), reportLoss: () => {}, reportNotice: () => {} };
  let start: XmlPosition | undefined;
  for (;;) {
    const reader = new XmlReader(file, { source, context: quiet, vocabulary, ...tuning, ...(start ? { start } : {}) });
    scanner.reader = reader;
    const parser = new GpxParser(reader, scanner, scanner, { notGpx });
    for (let token = parser.read(); token !== XmlToken.end; token = parser.read()) {
      if (token === XmlToken.more) await reader.fill();
    }
    if (!reader.damage) {
      scanner.report(source, context);
      return scanner.result();
    }
    const next = scanner.gaps.length < maxSkippedRanges ? await scanner.nextAfter(file) : -1;
    scanner.skipRange(reader.damage, source, next, file.size);
    if (next < 0) return scanner.result();
    start = { ...scanner.start!, byte: next };
  }
}

/** The parts of the context that the scan reads; it reports nothing itself. */
const scanContext = ({ getTextDecoder, signal, skipErrors }: ReadContext) => ({
  getTextDecoder: (encoding: string) => getTextDecoder(encoding),
  signal,
  skipErrors,
});

class GpxScanner implements FeatureVisitor, FileVisitor {
  reader!: XmlReader;
  start: XmlPosition | null = null;
  readonly gaps: SkippedRange[] = [];
  /** The start of the open feature, −1 between features. */
  private featureFrom = -1;
  private readonly splits: GpxSplit[] = [];
  private counts: [number, number, number] = [0, 0, 0];
  private splitCounts: [number, number, number] = [0, 0, 0];
  private splitFrom = -1;
  private readonly fields: FieldScan;
  private readonly left = new Set<string>();
  private readonly described: MetadataElement[] = [];
  private namespace: string | null = null;
  /** Elements beside the features that are not GPX's, with the number of occurrences. */
  private readonly unknownElements = new Map<string, number>();
  private strayTexts = 0;
  private name = "";
  private features = 0;
  private lastEnd = 0;

  readonly wantsPlaces = false;

  constructor(
    private readonly splitSize: number,
    /** Whether to parse every segment, because damage in any of them is skipped. */
    private readonly readsAll: boolean,
    /** Whether positions between route points are added to the line. */
    private readonly readsShape: boolean,
    infersTypes: boolean,
  ) {
    this.fields = new FieldScan(infersTypes);
  }

  /** Returns the start of the next feature after damage, −1 for none. */
  async nextAfter(file: SourceFile): Promise<number> {
    if (!this.start || !this.reader.splittable) return -1;
    const root = this.start.open[0]!;
    const tags = gpxTypes.map((name) => root.slice(0, root.indexOf(":") + 1) + name);
    const from = (this.featureFrom < 0 ? this.reader.byte : this.featureFrom) + 1;
    return (await findTag(file, tags, from))?.byte ?? -1;
  }

  /** Ends the split before the damage, and records the range that is skipped. */
  skipRange(damage: GeoferryError, source: string, next: number, size: number): void {
    const { place, reason } = damage.details as { place: Place; reason: string };
    const from = this.featureFrom < 0 ? this.reader.byte : this.featureFrom;
    if (this.lastEnd > this.splitFrom && this.splitFrom >= 0) this.endSplit(this.lastEnd);
    this.splitFrom = -1;
    this.featureFrom = -1;
    const bytes = next >= 0 ? next - from : damage.code === "input-truncated" ? null : size - from;
    this.gaps.push({ source, place: { ...place, byte: from }, bytes, reason });
  }

  root(namespace: string | null): void {
    this.start = this.reader.childStart();
    this.namespace = namespace;
  }

  unknown({ text }: XmlName): void {
    const { unknownElements: known } = this;
    if (known.size < maxUnknownNames || known.has(text)) known.set(text, (known.get(text) ?? 0) + 1);
  }

  textBesideFeatures(): void {
    this.strayTexts++;
  }

  /**
   * Reports a root namespace that is not GPX's, and elements beside the features that are not GPX's.
   * @throws input-not-understood where there are such elements and no features
   */
  report(source: string, context: Pick<ReadContext, "reportNotice" | "reportLoss">): void {
    const { namespace, unknownElements } = this;
    if (namespace !== null && namespace !== "" && !knownNamespaces.test(namespace)) {
      const example = `the namespace of the document is "${namespace}", which is not GPX's (${gpx11Namespace}); it was read as GPX`;
      context.reportNotice("namespace-mistyped", undefined, example);
    }
    this.fields.reportNumberLikeNames(context);
    if (this.strayTexts > 0) {
      const example =
        "text between the features, where GPX does not allow it, was left out: a tag may be damaged there";
      context.reportLoss("text-left-out", undefined, example, this.strayTexts);
    }
    if (unknownElements.size === 0) return;
    const found = [...unknownElements.keys()].map((name) => `<${name}>`);
    if (this.features === 0) {
      throw createError("input-not-understood", {
        source,
        format: "GPX",
        wanted: "no wpt, rte or trk of GPX's",
        found,
      });
    }
    const count = [...unknownElements.values()].reduce((sum, each) => sum + each, 0);
    const example = `${found.slice(0, 5).join(", ")} beside the features: not elements of GPX, left out`;
    context.reportLoss("element-left-out", undefined, example, count);
  }

  begin(kind: number): boolean {
    const { reader } = this;
    const { byte } = reader;
    this.featureFrom = byte;
    if (this.splitFrom < 0) {
      this.splitFrom = byte;
    } else if (byte - this.splitFrom >= this.splitSize && reader.splittable) this.endSplit(byte);
    this.features++;
    this.fields.begin(kind);
    return true;
  }

  private endSplit(to: number): void {
    const { splitFrom: from, splitCounts: counts } = this;
    this.splits.push({ bytes: to - from, from, to, counts });
    this.splitFrom = to;
    this.splitCounts = [0, 0, 0];
  }

  standard(index: number, bytes: Buffer, from: number, to: number): void {
    this.fields.addStandard(index, bytes, from, to);
  }

  extension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.fields.addExtension(path, bytes, from, to);
  }

  attribute(path: ValuePath, value: string): void {
    const { content } = this.reader;
    content.begin();
    content.addText(value, "");
    this.fields.addExtension(path, content.bytes, content.start, content.end);
    content.drop();
  }

  link(): void {
    this.fields.addLink();
  }

  geometryType(): void {}

  /** Once points are known to have values, segments give no more information, and are skipped unless damage matters. */
  segment(): boolean {
    return this.readsAll || !this.fields.hasPointValues;
  }

  segmentExtension(): void {
    this.fields.hasSegmentValues = true;
  }

  segmentAttribute(): void {
    this.fields.hasSegmentValues = true;
  }

  skippedSegmentExtensions(): void {
    this.fields.hasSegmentValues = true;
  }

  beginPoint(): boolean {
    return !this.fields.hasPointValues;
  }

  pointStandard(): void {
    this.fields.addPointValue();
  }

  pointExtension(): void {
    this.fields.addPointValue();
  }

  pointAttribute(): void {
    this.fields.addPointValue();
  }

  pointShape(): void {
    if (!this.readsShape) this.fields.addPointValue();
  }

  pointLink(): void {
    this.fields.addPointValue();
  }

  endPoint(): void {}
  badHeight(): void {}
  strayText(): void {}

  end(): void {
    const { kind } = this.fields;
    this.counts[kind]!++;
    this.splitCounts[kind]!++;
    this.reader.content.clear();
    this.lastEnd = this.reader.byteAfter;
    this.featureFrom = -1;
  }

  declaration(name: string, type: string, element: string | null): void {
    this.fields.declare(name, type, element);
  }

  leftOut({ text }: XmlName): void {
    if (this.left.size < maxUnknownNames) this.left.add(text);
  }

  metadata(name: XmlName, element: MetadataElement): void {
    // The bounds follow from the features.
    if (!metadataElements.has(name.local)) this.unknown(name);
    else if (name.local === "extensions") this.left.add(name.local);
    else if (name.local === "name") this.name ||= element.text;
    else this.described.push(element);
  }

  result(): GpxScanResult {
    if (this.splitFrom >= 0 && this.lastEnd > this.splitFrom) this.endSplit(this.lastEnd);
    return {
      start: this.start,
      splits: this.splits,
      counts: this.counts,
      fields: this.fields.result(),
      name: this.name,
      metadata: readMetadata(this.described) ?? null,
      left: [...this.left],
      gaps: this.gaps,
    };
  }
}
