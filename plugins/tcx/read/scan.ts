import { createError, type GeoferryError, type Place } from "../../../src/errors.js";
import type { SkippedRange } from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
import type { OptionValues } from "../../../src/plugin/options.js";
import { findTag } from "../../shared/xml/find-tag.js";
import { type XmlPosition, XmlReader, type XmlReaderTuning, XmlToken } from "../../shared/xml/reader.js";
import {
  coordinateField,
  courseField,
  lapsField,
  Tcx,
  tcxNamespace,
  trackpointField,
  vocabulary,
} from "../elements.js";
import type { readOptions } from "../options.js";
import { FieldScan } from "./field-scan.js";
import type { TcxScanResult, TcxSplit } from "./scan-result.js";
import { Content, type ParserState, TcxParser } from "./tcx-parser.js";
import type { ValuePath } from "./value-paths.js";
import type { FileVisitor, TcxVisitor } from "./visitor.js";

/** After this many skipped ranges, reading ends. */
const maxSkippedRanges = 100;
/** The maximum number of different names of elements that are recorded. */
const maxLeftNames = 50;

/** Where reading can continue after damage: children of elements with this content, by their local names. */
const placesToContinue: readonly (readonly [content: number, children: readonly string[]])[] = [
  [Content.activity, ["Lap"]],
  [Content.session, ["NextSport"]],
  [Content.activities, ["Activity", "MultiSportSession"]],
  [Content.courses, ["Course"]],
  [Content.root, ["Activities", "Courses"]],
];

/** Reads the whole file once, to find its fields, their types, and where features begin. */
export async function scanTcx(
  file: SourceFile,
  source: string,
  context: ReadContext,
  splitSize: number,
  options: Pick<OptionValues<typeof readOptions>, "types">,
  tuning: XmlReaderTuning = {},
): Promise<TcxScanResult> {
  const scanner = new TcxScanner(splitSize, options.types === "auto");
  const notTcx = (name: string) =>
    createError("input-corrupt", { source, place: {}, reason: `it is not TCX: its root element is <${name}>` });
  const { signal, skipErrors } = context;
  const quiet = {
    ...{ signal, skipErrors, reportLoss: () => {}, reportNotice: () => {} },
    getTextDecoder: (encoding: string) => context.getTextDecoder(encoding),
  };
  let place: Continuation | undefined;
  for (;;) {
    const settings = { source, context: quiet, vocabulary, ...tuning, ...(place && { start: place.start }) };
    const reader = new XmlReader(file, settings);
    const parser = new TcxParser(reader, scanner, scanner, notTcx, place?.state);
    scanner.use(reader, parser);
    for (let token = parser.read(); token !== XmlToken.end; token = parser.read()) {
      if (token === XmlToken.more) await reader.fill();
    }
    const next: Continuation | null =
      reader.damage && scanner.gaps.length < maxSkippedRanges ? await scanner.placeAfter(file) : null;
    if (reader.damage) scanner.skipRange(reader.damage, source, next?.start.byte ?? -1, file.size);
    if (!next) {
      scanner.report(source, context);
      return scanner.result();
    }
    place = next;
  }
}

interface Continuation {
  readonly start: XmlPosition;
  readonly state: ParserState;
}

class TcxScanner implements TcxVisitor, FileVisitor {
  private reader!: XmlReader;
  private parser!: TcxParser;
  readonly gaps: SkippedRange[] = [];
  private readonly splits: TcxSplit[] = [];
  private readonly counts = [0, 0, 0];
  private splitCounts = [0, 0, 0];
  /** Where the open split begins. */
  private splitStart: Continuation | null = null;
  private lastEnd = 0;
  /** Whether a feature is open, and where it begins. */
  private featureFrom = -1;
  private kind = 0;
  private readonly fields: FieldScan;
  private readonly parents: (readonly [string, string])[][] = [];
  private courseLaps = 0;
  private readonly courseLapValues: (readonly [string, string])[] = [];
  private coursePoints = 0;
  private hasCourseName = false;
  private hasPlace = false;
  private hasPointValues = false;
  private namespace: string | null = null;
  private strayTexts = 0;
  private readonly left = { folder: 0, workout: 0, author: 0, element: 0 };
  private readonly leftNames = new Set<string>();
  /** The start of the first child of each open element in which features are, with its depth and content. */
  private readonly entered: { depth: number; content: number; start: XmlPosition }[] = [];
  private readonly coordinateKinds = new Set<number>();

  constructor(
    private readonly splitSize: number,
    infersTypes: boolean,
  ) {
    this.fields = new FieldScan(infersTypes);
  }

  /** Continues with another reader. */
  use(reader: XmlReader, parser: TcxParser): void {
    this.reader = reader;
    this.parser = parser;
    while (this.entered.length > 0 && this.entered.at(-1)!.depth > reader.depth) this.entered.pop();
  }

  root(namespace: string | null): void {
    this.namespace = namespace;
  }

  enter(depth: number, content: number): void {
    this.leaveTo(depth);
    this.entered.push({ depth, content, start: this.reader.childStart() });
    if (content === Content.activity || content === Content.session) this.parents.push([]);
  }

  private leaveTo(depth: number): void {
    while (this.entered.length > 0 && this.entered.at(-1)!.depth >= depth) this.entered.pop();
  }

  mayEndSplit(depth: number): void {
    const { reader, splitStart } = this;
    this.leaveTo(depth);
    const parent = this.entered.at(-1);
    if (!parent || parent.depth !== depth - 1) return;
    const { byte } = reader;
    if (splitStart && byte - splitStart.start.byte >= this.splitSize && reader.splittable) this.endSplit(byte);
    this.splitStart ??= { start: { ...parent.start, byte }, state: this.parser.state() };
  }

  private endSplit(to: number): void {
    const { splitStart, splitCounts: counts } = this;
    if (splitStart && counts.some((count) => count > 0))
      this.splits.push({ bytes: to - splitStart.start.byte, ...splitStart, to, counts });
    this.splitStart = null;
    this.splitCounts = [0, 0, 0];
  }

  /** Where the reader can continue after damage; null if it cannot continue. */
  async placeAfter(file: SourceFile): Promise<Continuation | null> {
    const { reader } = this;
    if (!reader.splittable) return null;
    const places = placesToContinue.flatMap(([content, children]) => {
      const parent = this.entered.find((each) => each.content === content);
      const root = parent?.start.open[0] ?? "";
      const prefix = root.slice(0, root.indexOf(":") + 1);
      return parent ? children.map((child) => ({ parent, tag: prefix + child })) : [];
    });
    if (places.length === 0) return null;
    const from = (this.featureFrom < 0 ? reader.byte : this.featureFrom) + 1;
    const found = await findTag(
      file,
      places.map(({ tag }) => tag),
      from,
    );
    if (!found) return null;
    const { depth, start } = places[found.name]!.parent;
    this.leaveTo(depth + 1);
    return { start: { ...start, byte: found.byte }, state: this.parser.stateWithin(depth) };
  }

  /** Ends the split before the damage, and records the range that is skipped. */
  skipRange(damage: GeoferryError, source: string, next: number, size: number): void {
    const { place, reason } = damage.details as { place: Place; reason: string };
    const from = this.featureFrom < 0 ? this.reader.byte : this.featureFrom;
    if (this.splitStart && this.lastEnd > this.splitStart.start.byte) this.endSplit(this.lastEnd);
    this.splitStart = null;
    this.splitCounts = [0, 0, 0];
    this.featureFrom = -1;
    const bytes = next >= 0 ? next - from : damage.code === "input-truncated" ? null : size - from;
    this.gaps.push({ source, place: { ...place, byte: from }, bytes, reason });
  }

  begin(kind: number): boolean {
    this.featureFrom = this.reader.byte;
    this.kind = kind;
    this.courseLaps = this.coursePoints = 0;
    this.courseLapValues.length = 0;
    this.hasCourseName = this.hasPlace = this.hasPointValues = false;
    this.fields.begin();
    return true;
  }

  parentValue(parent: number, { name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.parents[parent]!.push([name, bytes.toString("utf8", from, to)]);
  }

  value({ name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.fields.add(this.kind, name, bytes, from, to);
    if (this.kind === Tcx.course && name === "name") this.hasCourseName = true;
  }

  beginCourseLap(): void {
    this.courseLaps++;
  }

  courseLapValue({ name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    if (this.courseLaps === 1) this.courseLapValues.push([name, bytes.toString("utf8", from, to)]);
  }

  beginCoursePoint(): void {
    this.coursePoints++;
    this.fields.begin();
  }

  coursePointValue({ name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.fields.add(Tcx.coursePoint, name, bytes, from, to);
  }

  endCoursePoint(): void {}

  beginTrack(): void {}

  /** Once values are known to exist at positions, trackpoints after the first position of a feature say nothing new. */
  beginTrackpoint(): boolean {
    return !this.hasPlace || !this.coordinateKinds.has(this.kind);
  }

  pointValue(): void {
    this.hasPointValues = true;
  }

  endTrackpoint(longitude: number, latitude: number): void {
    if (Number.isFinite(longitude) && Number.isFinite(latitude)) this.hasPlace = true;
    if (this.hasPlace && this.hasPointValues) this.coordinateKinds.add(this.kind);
  }

  badHeight(): void {}

  strayText(): void {
    this.strayTexts++;
  }

  surplusValue(): void {}

  leftOut(kind: keyof TcxScanner["left"], name: string): void {
    this.left[kind]++;
    if (kind === "element" && this.leftNames.size < maxLeftNames) this.leftNames.add(name);
  }

  end(): void {
    const { kind, fields, coursePoints } = this;
    for (const of of [this.counts, this.splitCounts]) {
      of[kind]!++;
      of[Tcx.coursePoint]! += coursePoints;
    }
    if (this.courseLaps > 1) fields.addDerived(kind, lapsField);
    else fields.addTexts(kind, this.courseLapValues);
    if (coursePoints > 0 && this.hasCourseName) fields.addDerived(Tcx.coursePoint, courseField);
    if (this.hasPointValues && !this.hasPlace) fields.addDerived(kind, trackpointField);
    this.lastEnd = this.reader.byteAfter;
    this.featureFrom = -1;
  }

  /**
   * Reports a root namespace that is not that of TCX, and what is left out beside the features.
   * @throws input-not-understood where there are unknown elements and no features
   */
  report(source: string, context: Pick<ReadContext, "reportNotice" | "reportLoss">): void {
    const { namespace, left, leftNames } = this;
    if (namespace !== null && namespace !== "" && namespace !== tcxNamespace) {
      const example = `the namespace of the document is "${namespace}", which is not that of TCX 2 (${tcxNamespace}); it was read as TCX`;
      context.reportNotice("namespace-mistyped", undefined, example);
    }
    this.fields.reportNumberLikeNames(context);
    if (this.strayTexts > 0) {
      const example = "text where TCX has elements only was left out: a tag may be damaged there";
      context.reportLoss("text-left-out", undefined, example, this.strayTexts);
    }
    if (left.author > 0)
      context.reportLoss("metadata-left-out", undefined, "Author, the program that wrote the file, was left out");
    if (left.workout > 0)
      context.reportLoss("element-left-out", "Workout", "a workout, a plan without positions", left.workout);
    if (left.folder > 0)
      context.reportLoss(
        "element-left-out",
        "Folders",
        "which folder an activity, course or workout is in",
        left.folder,
      );
    if (left.element === 0) return;
    const found = [...leftNames].map((name) => `<${name}>`);
    if (this.counts.every((count) => count === 0) && left.workout === 0 && this.gaps.length === 0) {
      const wanted = "no Activity or Course of TCX 2";
      throw createError("input-not-understood", { source, format: "TCX", wanted, found });
    }
    const example = `${found.slice(0, 5).join(", ")} beside the features: not elements of TCX, left out`;
    context.reportLoss("element-left-out", undefined, example, left.element);
  }

  result(): TcxScanResult {
    if (this.splitStart && this.lastEnd > this.splitStart.start.byte) this.endSplit(this.lastEnd);
    const { splits, counts, parents, gaps, fields } = this;
    for (const values of parents) fields.addParent(values);
    for (const kind of this.coordinateKinds) fields.addDerived(kind, coordinateField);
    return { splits, counts, parents, gaps, fields: fields.result() };
  }
}
