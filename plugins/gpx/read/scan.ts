import { createError, type GeoferryError, type Place } from "../../../src/errors.js";
import {
  type Field,
  type FieldType,
  fieldTypes,
  type LayerMetadata,
  type SkippedRange,
  type XmlPathStep,
} from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
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
import { findFeature } from "./find-feature.js";
import { GpxParser } from "./gpx-parser.js";
import type { ValuePath } from "./paths.js";
import { classifyValue, fittingType, guessType, ValueForm } from "./value-forms.js";
import type { GpxVisitor } from "./visitor.js";

/** A piece of the file between two features. */
export interface GpxSplit {
  readonly [key: string]: unknown;
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
  /** Features of each kind in it. */
  readonly counts: readonly [number, number, number];
}

/** A field of a layer. */
export interface GpxField extends Field {
  /** Our writer declares it: an element without text has an empty text, not none. */
  readonly declared: boolean;
  /** Some feature has the element more than once: the values of each are an array. */
  readonly repeated: boolean;
  /** The name of GPX's element that has it, where that is another: our writer declares it. */
  readonly standard?: string;
}

/** The field of the layer. */
export const toLayerField = ({ name, type, element }: GpxField): Field => ({
  name,
  type,
  ...(element ? { element } : {}),
});

/** What a reading of the whole file tells; plain data that other threads get. */
export interface GpxScanResult {
  /** Where a reader begins that is to read a split, null where there is no feature. */
  readonly start: XmlPosition | null;
  readonly splits: readonly GpxSplit[];
  readonly counts: readonly [number, number, number];
  /** The fields of each kind of feature, and of all together, in the order of the schema and of their appearance. */
  readonly fields: readonly (readonly GpxField[])[];
  /** The name in the metadata, empty where there is none. */
  readonly name: string;
  /** What the metadata say, but for the name and the bounds, which the layer has. */
  readonly metadata: LayerMetadata | null;
  /** Elements of the metadata of which nothing is kept. */
  readonly left: readonly string[];
  /** What was given up for damage. */
  readonly gaps: readonly SkippedRange[];
}

interface FieldStats {
  forms: number;
  repeated: boolean;
  steps: readonly XmlPathStep[] | null;
  /** The feature that had it last. */
  seen: number;
}

/** After so much damage no one wants to read on. */
const maxSkippedRanges = 100;
/** So many different names of unknown elements are kept. */
const maxUnknownNames = 50;
const gpx11Namespace = "http://www.topografix.com/GPX/1/1";
const knownNamespaces = /^http:\/\/www\.topografix\.com\/GPX\/1\/[01]$/;
/** What the file says of itself: children of the metadata in GPX 1.1, of the root in GPX 1.0. */
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

/** Reads the whole file once: which fields there are and of which types, and where features begin. */
export async function scanGpx(
  file: SourceFile,
  source: string,
  context: ReadContext,
  splitSize: number,
  readsShape: boolean,
  tuning: XmlReaderTuning = {},
): Promise<GpxScanResult> {
  const surveyor = new GpxScanner(splitSize, context.skipErrors, readsShape);
  const notGpx = (name: string) =>
    createError("input-corrupt", { source, place: {}, reason: `it is no GPX: its outermost element is <${name}>` });
  const quiet = { ...scanContext(context), reportNotice: () => {} };
  let start: XmlPosition | undefined;
  for (;;) {
    const reader = new XmlReader(file, { source, context: quiet, vocabulary, ...tuning, ...(start ? { start } : {}) });
    surveyor.reader = reader;
    const walker = new GpxParser(reader, surveyor, { notGpx });
    for (let token = walker.walk(); token !== XmlToken.end; token = walker.walk()) {
      if (token === XmlToken.more) await reader.fill();
    }
    if (!reader.damage) {
      surveyor.report(source, context);
      return surveyor.result();
    }
    const next = surveyor.gaps.length < maxSkippedRanges ? await surveyor.nextAfter(file) : -1;
    surveyor.giveUp(reader.damage, source, next, file.size);
    if (next < 0) return surveyor.result();
    start = { ...surveyor.start!, byte: next };
  }
}

/** What a reader asks of its context, without what it says. */
const scanContext = ({ getTextDecoder, signal, skipErrors }: ReadContext) => ({
  getTextDecoder: (encoding: string) => getTextDecoder(encoding),
  signal,
  skipErrors,
});

class GpxScanner implements GpxVisitor {
  reader!: XmlReader;
  start: XmlPosition | null = null;
  readonly gaps: SkippedRange[] = [];
  /** Where the feature begins that is not ended yet, −1 between features. */
  private featureFrom = -1;
  private readonly splits: GpxSplit[] = [];
  private counts: [number, number, number] = [0, 0, 0];
  private splitCounts: [number, number, number] = [0, 0, 0];
  private splitFrom = -1;
  private readonly facts: Map<string, FieldStats>[] = [new Map(), new Map(), new Map()];
  private readonly byPath: (FieldStats | undefined)[][] = [[], [], []];
  private readonly standards: (FieldStats | undefined)[][] = [[], [], []];
  private readonly links = [false, false, false];
  private readonly pointValues = [false, false, false];
  private segmentValues = false;
  private readonly declared = new Map<string, FieldType>();
  /** Elements of GPX whose fields have other names, by these. */
  private readonly standardOf = new Map<string, string>();
  private readonly left = new Set<string>();
  private readonly described: MetadataElement[] = [];
  private namespace: string | null = null;
  /** Elements beside the features that are none of GPX's, and how often each was met. */
  private readonly unknownElements = new Map<string, number>();
  private strayTexts = 0;
  private name = "";
  private kind = 0;
  private features = 0;
  private lastEnd = 0;

  readonly wantsPlaces = false;

  constructor(
    private readonly splitSize: number,
    /** Look into everything, as damage anywhere is read past. */
    private readonly readsAll: boolean,
    /** Positions between points of a route go into its line. */
    private readonly readsShape: boolean,
  ) {}

  /** Where the next feature begins after damage, −1 where there is none to be found. */
  async nextAfter(file: SourceFile): Promise<number> {
    if (!this.start || !this.reader.splittable) return -1;
    return findFeature(file, this.start.open[0]!, (this.featureFrom < 0 ? this.reader.byte : this.featureFrom) + 1);
  }

  /** Ends the split before the damage, and tells what is passed over. */
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
   * Reports a namespace that is none of GPX's, and elements beside the features that are none.
   * @throws input-not-understood where there is no feature, and such elements are
   */
  report(source: string, context: Pick<ReadContext, "reportNotice" | "reportLoss">): void {
    const { namespace, unknownElements } = this;
    if (namespace !== null && namespace !== "" && !knownNamespaces.test(namespace)) {
      const example = `the document says that its namespace is "${namespace}", which is none of GPX's (${gpx11Namespace}); it was read as GPX`;
      context.reportNotice("namespace-mistyped", undefined, example);
    }
    if (this.strayTexts > 0) {
      const example = "text beside the features, where GPX has none, was left out: a tag may be damaged there";
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
    const example = `${found.slice(0, 5).join(", ")} beside the features: nothing of GPX's, and left out`;
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
    of[index] ??= this.factsOf(standardFields[index]!.name);
    if (to > from) this.value(of[index], bytes, from, to);
  }

  extension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.value(this.factsOfPath(path), bytes, from, to);
  }

  attribute(path: ValuePath, value: string): void {
    const { content } = this.reader;
    content.begin();
    content.addText(value, "");
    this.value(this.factsOfPath(path), content.bytes, content.start, content.end);
    content.drop();
  }

  private factsOfPath(path: ValuePath): FieldStats {
    const of = this.byPath[this.kind]!;
    of[path.index] ??= this.factsOf(path.name, path.steps);
    const facts = of[path.index]!;
    // Values of another element under the same name came since.
    if (!path.steps) facts.steps = null;
    return facts;
  }

  private factsOf(name: string, steps: readonly XmlPathStep[] | null = null): FieldStats {
    const facts = this.facts[this.kind]!;
    let known = facts.get(name);
    if (!known) {
      known = { forms: 0, repeated: false, steps, seen: 0 };
      facts.set(name, known);
    }
    return known;
  }

  private value(facts: FieldStats, bytes: Buffer, from: number, to: number): void {
    // What is a text once is one, whatever follows.
    if (to > from && (facts.forms & ValueForm.text) === 0) facts.forms |= classifyValue(bytes, from, to);
    if (facts.seen === this.features) facts.repeated = true;
    facts.seen = this.features;
  }

  link(): void {
    this.links[this.kind] = true;
  }

  geometryType(): void {}

  /** Once it is known that points have values, what is in segments makes no difference, as long as it is sound. */
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
    // The features tell their bounds.
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

  /** In the order in which our writer declares them, else in that of the schema and of their appearance. */
  private fieldsOf(kinds: readonly number[]): GpxField[] {
    const { declared } = this;
    const facts = this.factsOfKinds(kinds);
    const fields = new Map<string, GpxField>();
    const add = (name: string, type: FieldType, repeated = false) => {
      if (fields.has(name)) return;
      const standard = this.standardOf.get(name);
      const element = facts.get(name)?.steps;
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
      const forms = facts.get(this.standardOf.get(name) ?? name)?.forms ?? 0;
      add(name, name === gpxTypeField ? "text" : fittingType(forms, type));
    }
    for (const { name, type } of standardFields) {
      const known = facts.get(name);
      if (known && !renamed.has(name)) add(name, fittingType(known.forms, type));
    }
    if (kinds.some((kind) => this.links[kind])) add(linksField, "json");
    for (const [name, { forms, repeated }] of facts) {
      if (name !== coordinateField && name !== segmentField && !renamed.has(name))
        add(name, repeated ? "json" : guessType(forms), repeated);
    }
    if (facts.has(coordinateField) || kinds.some((kind) => this.pointValues[kind])) add(coordinateField, "json");
    if (facts.has(segmentField) || (this.segmentValues && kinds.includes(Gpx.trk))) add(segmentField, "json");
    return [...fields.values()];
  }

  private factsOfKinds(kinds: readonly number[]): Map<string, FieldStats> {
    const united = new Map<string, FieldStats>();
    for (const kind of kinds) {
      for (const [name, facts] of this.facts[kind]!) {
        const known = united.get(name);
        if (!known) united.set(name, { ...facts });
        else {
          known.forms |= facts.forms;
          known.repeated ||= facts.repeated;
        }
      }
    }
    return united;
  }
}
