import type { FieldType } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { fittingType, guessType } from "../../shared/text/value-forms.js";
import {
  addValue,
  emptyStats,
  reportNumberLikeNames,
  uniteStats,
  type ValueStats,
} from "../../shared/text/value-stats.js";
import type { ElementField } from "../../shared/xml/batch-columns.js";
import {
  coordinateField,
  courseField,
  lapsField,
  standardFields,
  Tcx,
  tcxKinds,
  tcxTypeField,
  trackpointField,
} from "../elements.js";
import type { ParentValues, TcxScanResult } from "./scan-result.js";

const standardTypes = new Map(standardFields.map(({ name, type }) => [name, type]));

/** Collects the fields of each kind of feature, and infers their types. */
export class FieldScan {
  private features = 0;
  private readonly stats: Map<string, ValueStats>[] = tcxKinds.map(() => new Map());
  /** Fields that are not the text of one element, by kind. */
  private readonly derived = tcxKinds.map(() => new Set<string>());

  constructor(
    /** Whether fields that the schema does not have get a type that fits all values, instead of text. */
    private readonly infersTypes: boolean,
  ) {}

  begin(): void {
    this.features++;
  }

  add(kind: number, name: string, bytes: Buffer, from: number, to: number): void {
    const of = this.stats[kind]!;
    let stats = of.get(name);
    if (!stats) {
      stats = emptyStats();
      of.set(name, stats);
    }
    addValue(stats, this.features, bytes, from, to);
  }

  /** Adds the values of an activity or session to the fields of laps. */
  addParent(values: ParentValues): void {
    this.begin();
    this.addTexts(Tcx.lap, values);
  }

  addTexts(kind: number, values: ParentValues): void {
    for (const [name, text] of values) {
      const bytes = Buffer.from(text);
      this.add(kind, name, bytes, 0, bytes.length);
    }
  }

  /** Notes that features of a kind have a field that is not the text of one element. */
  addDerived(kind: number, name: string): void {
    this.derived[kind]!.add(name);
  }

  result(): TcxScanResult["fields"] {
    const kinds = [Tcx.lap, Tcx.course, Tcx.coursePoint];
    return { byKind: kinds.map((kind) => this.fieldsOf([kind])), all: this.fieldsOf(kinds) };
  }

  /** Returns the fields of the schema in its order, then others by first occurrence, then derived ones. */
  private fieldsOf(kinds: readonly number[]): ElementField[] {
    const stats = this.statsOfKinds(kinds);
    const fields: ElementField[] = [];
    const add = (name: string, type: FieldType, repeated = false) =>
      fields.push({ name, type: repeated ? "json" : type, repeated, declared: false });
    const has = (name: string) => kinds.some((kind) => this.derived[kind]!.has(name));
    add(tcxTypeField, "text");
    if (has(courseField)) add(courseField, "text");
    for (const { name, type } of standardFields) {
      const known = stats.get(name);
      if (known) add(name, fittingType(known.forms, type), known.repeated);
    }
    for (const [name, { forms, repeated }] of stats)
      if (!standardTypes.has(name)) add(name, this.inferType(forms), repeated);
    for (const name of [lapsField, coordinateField, trackpointField]) if (has(name)) add(name, "json");
    return fields;
  }

  private inferType(forms: number): FieldType {
    return this.infersTypes ? guessType(forms) : "text";
  }

  /** Reports fields of numbers that may be names: as numbers, different ones become equal. */
  reportNumberLikeNames(context: Pick<ReadContext, "reportNotice">): void {
    const isNumber = (name: string, { forms, repeated }: ValueStats) =>
      !repeated && !standardTypes.has(name) && this.inferType(forms) !== "text";
    reportNumberLikeNames(this.statsOfKinds([Tcx.lap, Tcx.course, Tcx.coursePoint]), isNumber, context);
  }

  private statsOfKinds(kinds: readonly number[]): Map<string, ValueStats> {
    return uniteStats(kinds.map((kind) => this.stats[kind]!));
  }
}
