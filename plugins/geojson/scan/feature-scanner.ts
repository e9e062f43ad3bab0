import {
  type Batch,
  type Column,
  type Extent,
  emptyFieldState,
  emptyKindSummary,
  type Field,
  type FieldType,
  isExtentWithin,
  Kind,
  type KindSummary,
  type LayerSummary,
  Presence,
  Summarizer,
} from "../../../src/model/index.js";
import { isSingleGeometryFamily } from "../../shared/geometry-families.js";
import { JsonCursor, JsonToken } from "../../shared/json/cursor.js";
import { maxBatchColumns, PropertyColumns } from "../../shared/json/property-columns.js";
import { RawColumn } from "../../shared/json/raw-column.js";
import { CoordinateReader } from "../read/coordinates.js";
import { FeatureParser, type IssueReporter } from "../read/feature-parser.js";
import { FeatureTemplates } from "../read/feature-template.js";
import { CannotInfer, ColumnStats, Unescaper } from "./column-stats.js";
import { skipCoordinates } from "./skip-coordinates.js";
import type { SplitFeatureReader } from "./split-finder.js";

/** Features that the scan must parse cost more here than in the reader; these limits bound their number and share. */
const minParsedFeatures = 64;
const parsedShare = 16;
const openingBracket = 91;

/** The first occurrence of a field. */
interface FirstOccurrence {
  readonly record: number;
  readonly place: number;
}

/**
 * Summarizes features without decoding them: it checks the types and sizes of values, and the number of coordinates per
 * position. It skims only features that match a template (`FeatureTemplates`) and parses the others. It throws
 * CannotInfer wherever the reader could get another summary of valid features. Features with coordinates that the
 * reader rejects (a position of one number, an infinite number, wrong nesting) count.
 */
export class FeatureScanner implements SplitFeatureReader {
  readonly cursor = new JsonCursor();
  private readonly properties = new PropertyColumns();
  private readonly ids = new RawColumn("id", new Uint8Array(0));
  private readonly coordinates = new CoordinateReader();
  private readonly templates = new FeatureTemplates(this.cursor, this.properties, this.ids, () => this.skim());
  /** Numbers per position of the last skimmed geometry, if it has several positions. */
  private dimensions = 0;
  private readonly unescaped = new Unescaper();
  /** Of the columns of `properties`, in the same order. */
  private readonly columnStats: ColumnStats[] = [];
  private readonly idStats = new ColumnStats("id", this.unescaped);
  private readonly kinds = Array.from({ length: 8 }, emptyKindSummary);
  private records = 0;
  /** Parses the features that cannot be skimmed. */
  private readonly parser: FeatureParser;
  private readonly summarizer = new Summarizer(true);
  private readonly firstOccurrences = new Map<string, FirstOccurrence>();
  private parsed = 0;
  /** Whether a parsed feature has very many fields. */
  private isWide = false;

  /** @param within where points may lie; null to give up at the first point */
  constructor(
    teller: IssueReporter,
    private readonly within: Extent | null,
  ) {
    const refuse = () => {
      throw new CannotInfer();
    };
    this.parser = new FeatureParser(teller, refuse, undefined);
  }

  load(bytes: Buffer): void {
    this.endBlock();
    this.cursor.load(bytes);
    this.parser.load(bytes);
  }

  /** Scans the feature at the cursor. @throws JsonSyntaxError if it is not JSON, without counting it; CannotInfer */
  read(): void {
    const { cursor } = this;
    const start = cursor.at;
    if (cursor.bytes[start] === 123 && this.templates.read(0) && this.isOfItsKind()) {
      this.add();
      return;
    }
    this.properties.clear(0);
    this.properties.forgetRepeated();
    this.ids.clear(0);
    cursor.at = start;
    this.parse(start);
  }

  afterFeature(): void {
    // The scan keeps no features.
  }

  /** Reads the coordinates at the cursor if they are a point; skips others. */
  private skim(): boolean {
    const { cursor, coordinates } = this;
    const { bytes } = cursor;
    if (bytes[cursor.at] !== openingBracket) return false;
    let at = cursor.at + 1;
    while (bytes[at]! <= 32) at++;
    if (bytes[at] !== openingBracket) {
      coordinates.read(cursor);
      return coordinates.isPosition;
    }
    coordinates.forget();
    this.dimensions = skipCoordinates(cursor);
    return this.dimensions !== 0;
  }

  /** Whether the last coordinates are a single position exactly if the kind is Point. */
  private isOfItsKind(): boolean {
    return (this.templates.kind === Kind.Point) === this.coordinates.isPosition;
  }

  private add(): void {
    const { templates, properties, columnStats, ids, idStats, cursor } = this;
    const { bytes } = cursor;
    const valid = this.parser.valid;
    const { count } = properties;
    if (this.isWide || properties.repeated.length > 0 || count > maxBatchColumns || properties.isCrowded)
      throw new CannotInfer();
    this.records++;
    for (let c = 0; c < count; c++) {
      const column = properties.columnAt(c);
      const token = column.tokenAt(0);
      if (c === columnStats.length) columnStats.push(new ColumnStats(column.name, this.unescaped));
      if (token === JsonToken.absent) continue;
      const values = columnStats[c]!;
      if (values.first === 0) values.first = this.records;
      values.add(token, bytes, column.startAt(0), column.endAt(0), valid);
      column.clear(0);
    }
    if (templates.hasId) {
      idStats.add(ids.tokenAt(0), bytes, ids.startAt(0), ids.endAt(0), valid);
      ids.clear(0);
    }
    this.addGeometry(this.kinds[templates.kind]!);
  }

  private addGeometry(kind: KindSummary): void {
    const { coordinates, templates } = this;
    kind.count++;
    if (templates.kind !== Kind.Point) {
      kind.hasZ ||= this.dimensions > 2;
      return;
    }
    if (!this.within) throw new CannotInfer();
    kind.hasZ ||= coordinates.hasZ;
    coordinates.widen(kind.box);
  }

  private parse(start: number): void {
    const { cursor, parser } = this;
    if (++this.parsed > minParsedFeatures + this.records / parsedShare) throw new CannotInfer();
    parser.records = this.records;
    parser.cursor.at = start;
    parser.read(false);
    this.records++;
    cursor.at = parser.cursor.at;
    if (parser.isPlain) this.templates.learn(start);
    if (parser.full) this.addParsed();
  }

  private addParsed(): void {
    const batch = this.parser.finish();
    if (!batch) return;
    // Features with so many fields are all parsed, so their first occurrences are not needed.
    this.isWide ||= batch.fields.length > maxBatchColumns;
    if (this.isWide && this.columnStats.length > 0) throw new CannotInfer();
    if (!this.isWide) {
      batch.fields.forEach((field, place) => {
        this.noteFirstOccurrence(field, place, batch.columns[place]!, batch);
      });
    }
    this.summarizer.add(batch);
  }

  private noteFirstOccurrence({ name }: Field, place: number, { presence }: Column, batch: Batch): void {
    if (this.firstOccurrences.has(name)) return;
    const row = presence.findIndex((what) => what !== Presence.absent);
    this.firstOccurrences.set(name, { record: batch.recordAt(row), place });
  }

  /**
   * Finishes the current bytes.
   * @throws CannotInfer if there are two kinds of layers, or a point outside the permitted area
   */
  private endBlock(): void {
    this.addParsed();
    const counts = this.kinds.map(({ count }, kind) => count + this.summarizer.state.kinds[kind]!.count);
    if (!isSingleGeometryFamily(counts)) throw new CannotInfer();
    if (counts[Kind.Point]! > 0 && !this.arePointsWithin()) throw new CannotInfer();
  }

  /** Whether all points are within the permitted area. */
  private arePointsWithin(): boolean {
    const { within } = this;
    if (!within) return false;
    return [this.kinds, this.summarizer.state.kinds].every((kinds) => isExtentWithin(kinds[Kind.Point]!.box, within));
  }

  /** The summary of all features, as `Summarizer` computes it; boxes cover points only. @throws CannotInfer */
  summary(): LayerSummary {
    this.endBlock();
    const fields = new Map(this.columnStats.map((facts) => [facts.name, facts.state]));
    const places = this.columnStats.length === 0 ? this.firstOccurrences : new Map(this.firstOccurrences);
    this.columnStats.forEach(({ name, first }, place) => {
      const record = places.get(name)?.record ?? Number.POSITIVE_INFINITY;
      if (first > 0 && first < record) places.set(name, { record: first, place });
    });
    const parsed = this.summarizer.state;
    // Fields found by parsing only are in order already.
    const isParsed = this.columnStats.length === 0;
    const names = isParsed ? [] : [...places].sort(([, a], [, b]) => a.record - b.record || a.place - b.place);
    const { type: idType, maxBytes: maxIdBytes } = this.idStats.state;
    const whole = new Summarizer(true);
    whole.merge({
      fields: isParsed ? new Map() : new Map(names.map(([name]) => [name, fields.get(name) ?? emptyFieldState()])),
      kinds: this.kinds,
      idType,
      maxIdBytes,
    });
    for (const [name, { type }] of parsed.fields) checkTypesUnite(fields.get(name)?.type ?? null, type);
    checkTypesUnite(idType, parsed.idType);
    whole.merge(parsed);
    const { kinds } = whole.state;
    if (kinds.some(({ count }, kind) => kind > Kind.Point && count > 0)) clearBoxes(kinds);
    return whole.summary();
  }
}

function clearBoxes(kinds: KindSummary[]): void {
  for (const kind of kinds) kind.box = emptyKindSummary().box;
}

/** Checks that one type holds the values of both types. @throws CannotInfer */
function checkTypesUnite(a: FieldType | null, b: FieldType | null): void {
  if (a === null || b === null || a === b) return;
  const both = [a, b];
  const isNumber = both.every((type) => type === "int32" || type === "int64" || type === "double");
  if (!isNumber || (both.includes("int64") && both.includes("double"))) throw new CannotInfer();
}
