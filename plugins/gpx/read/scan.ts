import { createError, type GeoferryError, type Place } from "../../../src/errors.js";
import { type FieldType, fieldTypes, type SkippedRange, type XmlPathStep } from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
import type { OptionValues } from "../../../src/plugin/options.js";
import { findNumberLikeName } from "../../shared/text/number-like-names.js";
import { type XmlName, type XmlPosition, XmlReader, type XmlReaderTuning, XmlToken } from "../../shared/xml/reader.js";
import {
  coordinateField,
  Gpx,
  gpxTypeField,
  linksField,
  segmentField,
  standardFields,
  vocabulary,
} from "../elements.js";
import { type MetadataElement, readMetadata } from "../metadata.js";
import type { readOptions } from "../options.js";
import { findFeature } from "./find-feature.js";
import { GpxParser } from "./gpx-parser.js";
import type { ValuePath } from "./paths.js";
import type { GpxField, GpxScanResult, GpxSplit } from "./scan-result.js";
import { classifyValue, fittingType, guessType, ValueForm } from "./value-forms.js";
import type { GpxVisitor } from "./visitor.js";

interface FieldStats {
  /** The `ValueForm` flags of all values. */
  forms: number;
  /** The first texts that are numbers. */
  readonly numbers: string[];
  repeated: boolean;
  steps: readonly XmlPathStep[] | null;
  /** The number of the last feature with the field. */
  seen: number;
}

/** After this many skipped ranges, reading ends. */
const maxSkippedRanges = 100;
/** The number of texts of a field that are searched for names that look like numbers. */
const maxNumberSamples = 100;
/** The maximum number of fields that a notice names. */
const maxListedFields = 5;
/** The maximum number of different names of unknown elements that are recorded. */
const maxUnknownNames = 50;
const numberForms = ValueForm.int32 | ValueForm.int53 | ValueForm.int64 | ValueForm.double | ValueForm.beyond;
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
    const parser = new GpxParser(reader, scanner, { notGpx });
    for (let token = parser.read(); token !== XmlToken.end; token = parser.read()) {
      if (token === XmlToken.more) await reader.fill();
    }
    if (!reader.damage) {
      scanner.report(source, context);
      return scanner.result();
    }
    const next = scanner.gaps.length < maxSkippedRanges ? await scanner.nextAfter(file) : -1;
    scanner.giveUp(reader.damage, source, next, file.size);
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

class GpxScanner implements GpxVisitor {
  reader!: XmlReader;
  start: XmlPosition | null = null;
  readonly gaps: SkippedRange[] = [];
  /** The start of the open feature, −1 between features. */
  private featureFrom = -1;
  private readonly splits: GpxSplit[] = [];
  private counts: [number, number, number] = [0, 0, 0];
  private splitCounts: [number, number, number] = [0, 0, 0];
  private splitFrom = -1;
  private readonly stats: Map<string, FieldStats>[] = [new Map(), new Map(), new Map()];
  private readonly byPath: (FieldStats | undefined)[][] = [[], [], []];
  private readonly standards: (FieldStats | undefined)[][] = [[], [], []];
  private readonly links = [false, false, false];
  private readonly pointValues = [false, false, false];
  private segmentValues = false;
  private readonly declared = new Map<string, FieldType>();
  /** Elements of GPX that hold fields with other names, by these names. */
  private readonly standardOf = new Map<string, string>();
  private readonly left = new Set<string>();
  private readonly described: MetadataElement[] = [];
  private namespace: string | null = null;
  /** Elements beside the features that are not GPX's, with the number of occurrences. */
  private readonly unknownElements = new Map<string, number>();
  private strayTexts = 0;
  private name = "";
  private kind = 0;
  private features = 0;
  private lastEnd = 0;

  readonly wantsPlaces = false;

  constructor(
    private readonly splitSize: number,
    /** Whether to parse every segment, because damage in any of them is skipped. */
    private readonly readsAll: boolean,
    /** Whether positions between route points are added to the line. */
    private readonly readsShape: boolean,
    /** Whether fields without a declaration get a type that fits all values, instead of text. */
    private readonly infersTypes: boolean,
  ) {}

  /** Returns the start of the next feature after damage, −1 for none. */
  async nextAfter(file: SourceFile): Promise<number> {
    if (!this.start || !this.reader.splittable) return -1;
    return findFeature(file, this.start.open[0]!, (this.featureFrom < 0 ? this.reader.byte : this.featureFrom) + 1);
  }

  /** Ends the split before the damage, and records the range that is skipped. */
  giveUp(damage: GeoferryError, source: string, next: number, size: number): void {
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

  strayText(isBeside: boolean): void {
    if (isBeside) this.strayTexts++;
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
    this.reportNumberLikeNames(context);
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
    this.kind = kind;
    this.features++;
    return true;
  }

  private endSplit(to: number): void {
    const { splitFrom: from, splitCounts: counts } = this;
    this.splits.push({ bytes: to - from, from, to, counts });
    this.splitFrom = to;
    this.splitCounts = [0, 0, 0];
  }

  standard(index: number, bytes: Buffer, from: number, to: number): void {
    const of = this.standards[this.kind]!;
    of[index] ??= this.statsOf(standardFields[index]!.name);
    if (to > from) this.value(of[index], bytes, from, to);
  }

  extension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.value(this.statsOfPath(path), bytes, from, to);
  }

  attribute(path: ValuePath, value: string): void {
    const { content } = this.reader;
    content.begin();
    content.addText(value, "");
    this.value(this.statsOfPath(path), content.bytes, content.start, content.end);
    content.drop();
  }

  private statsOfPath(path: ValuePath): FieldStats {
    const of = this.byPath[this.kind]!;
    of[path.index] ??= this.statsOf(path.name, path.steps);
    const stats = of[path.index]!;
    // Another element gave values under the same name.
    if (!path.steps) stats.steps = null;
    return stats;
  }

  private statsOf(name: string, steps: readonly XmlPathStep[] | null = null): FieldStats {
    const stats = this.stats[this.kind]!;
    let known = stats.get(name);
    if (!known) {
      known = { forms: 0, numbers: [], repeated: false, steps, seen: 0 };
      stats.set(name, known);
    }
    return known;
  }

  private value(stats: FieldStats, bytes: Buffer, from: number, to: number): void {
    // One value that is a text makes the field a text.
    if (to > from && (stats.forms & ValueForm.text) === 0) {
      const form = classifyValue(bytes, from, to);
      stats.forms |= form;
      if (stats.numbers.length < maxNumberSamples && (form & numberForms) !== 0)
        stats.numbers.push(bytes.toString("latin1", from, to));
    }
    if (stats.seen === this.features) stats.repeated = true;
    stats.seen = this.features;
  }

  link(): void {
    this.links[this.kind] = true;
  }

  geometryType(): void {}

  /** Once points are known to have values, segments give no more information, and are skipped unless damage matters. */
  segment(): boolean {
    return this.readsAll || !this.pointValues[Gpx.trk];
  }

  segmentExtension(): void {
    this.segmentValues = true;
  }

  segmentAttribute(): void {
    this.segmentValues = true;
  }

  segmentExtended(): void {
    this.segmentValues = true;
  }

  beginPoint(): boolean {
    return !this.pointValues[this.kind];
  }

  pointStandard(): void {
    this.pointValues[this.kind] = true;
  }

  pointExtension(): void {
    this.pointValues[this.kind] = true;
  }

  pointAttribute(): void {
    this.pointValues[this.kind] = true;
  }

  pointShape(): void {
    if (!this.readsShape) this.pointValues[this.kind] = true;
  }

  pointLink(): void {
    this.pointValues[this.kind] = true;
  }

  endPoint(): void {}
  badHeight(): void {}

  end(): void {
    this.counts[this.kind]!++;
    this.splitCounts[this.kind]!++;
    this.reader.content.clear();
    this.lastEnd = this.reader.byteAfter;
    this.featureFrom = -1;
  }

  declaration(name: string, type: string, element: string | null): void {
    const known = fieldTypes.find((each) => each === type);
    if (known) this.declared.set(name, known);
    if (known && element !== null && standardFields.some((each) => each.name === element)) {
      this.standardOf.set(name, element);
    }
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
      fields: [[Gpx.wpt], [Gpx.rte], [Gpx.trk], [Gpx.wpt, Gpx.rte, Gpx.trk]].map((kinds) => this.fieldsOf(kinds)),
      name: this.name,
      metadata: readMetadata(this.described) ?? null,
      left: [...this.left],
      gaps: this.gaps,
    };
  }

  /** Returns the declared fields in their order, then those of the schema, then others by first occurrence. */
  private fieldsOf(kinds: readonly number[]): GpxField[] {
    const { declared } = this;
    const stats = this.statsOfKinds(kinds);
    const fields = new Map<string, GpxField>();
    const add = (name: string, type: FieldType, repeated = false) => {
      if (fields.has(name)) return;
      const standard = this.standardOf.get(name);
      const element = stats.get(name)?.steps;
      fields.set(name, {
        name,
        type,
        repeated,
        declared: declared.has(name),
        ...(standard === undefined ? {} : { standard }),
        ...(element ? { element } : {}),
      });
    };
    const renamed = new Set(this.standardOf.values());
    if (!declared.has(gpxTypeField)) add(gpxTypeField, "text");
    for (const [name, type] of declared) {
      const forms = stats.get(this.standardOf.get(name) ?? name)?.forms ?? 0;
      add(name, name === gpxTypeField ? "text" : fittingType(forms, type));
    }
    for (const { name, type } of standardFields) {
      const known = stats.get(name);
      if (known && !renamed.has(name)) add(name, fittingType(known.forms, type));
    }
    if (kinds.some((kind) => this.links[kind])) add(linksField, "json");
    for (const [name, { forms, repeated }] of stats) {
      if (name !== coordinateField && name !== segmentField && !renamed.has(name))
        add(name, repeated ? "json" : this.inferType(forms), repeated);
    }
    if (stats.has(coordinateField) || kinds.some((kind) => this.pointValues[kind])) add(coordinateField, "json");
    if (stats.has(segmentField) || (this.segmentValues && kinds.includes(Gpx.trk))) add(segmentField, "json");
    return [...fields.values()];
  }

  private inferType(forms: number): FieldType {
    return this.infersTypes ? guessType(forms) : "text";
  }

  /** Reports fields of numbers that may be names: as numbers, different ones become equal. */
  private reportNumberLikeNames(context: Pick<ReadContext, "reportNotice">): void {
    const examples = new Map<string, string>();
    for (const [name, { forms, numbers, repeated }] of this.statsOfKinds([Gpx.wpt, Gpx.rte, Gpx.trk])) {
      if (repeated || this.declared.has(name) || standardFields.some((each) => each.name === name)) continue;
      const type = this.inferType(forms);
      const example = type === "text" || type === "json" ? null : findNumberLikeName(numbers);
      if (example !== null) examples.set(name, `"${name}": ${example}`);
    }
    if (examples.size === 0) return;
    const listed = [...examples.values()].slice(0, maxListedFields).join(", ");
    const rest = examples.size > maxListedFields ? ` and ${examples.size - maxListedFields} more` : "";
    const advice = "if these are no numbers, --in types=text reads them as text";
    context.reportNotice("number-ambiguous", undefined, `${listed}${rest}; ${advice}`);
  }

  private statsOfKinds(kinds: readonly number[]): Map<string, FieldStats> {
    const united = new Map<string, FieldStats>();
    for (const kind of kinds) {
      for (const [name, stats] of this.stats[kind]!) {
        const known = united.get(name);
        if (!known) united.set(name, { ...stats, numbers: [...stats.numbers] });
        else {
          known.forms |= stats.forms;
          known.numbers.push(...stats.numbers);
          known.repeated ||= stats.repeated;
        }
      }
    }
    return united;
  }
}
