import { type FieldType, fieldTypes, type XmlPathStep } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { findNumberLikeName } from "../../shared/text/number-like-names.js";
import { classifyValue, fittingType, guessType, ValueForm } from "../../shared/text/value-forms.js";
import { coordinateField, Gpx, gpxTypeField, linksField, segmentField, standardFields } from "../elements.js";
import type { ValuePath } from "./paths.js";
import type { GpxField, GpxScanResult } from "./scan-result.js";

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

/** The number of texts of a field that are searched for names that look like numbers. */
const maxNumberSamples = 100;
/** The maximum number of fields that a notice names. */
const maxListedFields = 5;
const numberForms = ValueForm.int32 | ValueForm.int53 | ValueForm.int64 | ValueForm.double | ValueForm.beyond;

/** Collects the fields of each kind of feature, and infers their types. */
export class FieldScan {
  /** The kind of the feature being read. */
  kind = 0;
  hasSegmentValues = false;
  private features = 0;
  private readonly stats: Map<string, FieldStats>[] = [new Map(), new Map(), new Map()];
  private readonly byPath: (FieldStats | undefined)[][] = [[], [], []];
  private readonly standards: (FieldStats | undefined)[][] = [[], [], []];
  private readonly links = [false, false, false];
  private readonly pointValues = [false, false, false];
  private readonly declared = new Map<string, FieldType>();
  /** Elements of GPX that hold fields with other names, by these names. */
  private readonly standardOf = new Map<string, string>();

  constructor(
    /** Whether fields without a declaration get a type that fits all values, instead of text. */
    private readonly infersTypes: boolean,
  ) {}

  begin(kind: number): void {
    this.kind = kind;
    this.features++;
  }

  /** Adds a simple element of the feature, by its index in `standardFields`. */
  addStandard(index: number, bytes: Buffer, from: number, to: number): void {
    const of = this.standards[this.kind]!;
    of[index] ??= this.statsOf(standardFields[index]!.name);
    if (to > from) this.addValue(of[index], bytes, from, to);
  }

  /** Adds an element in extensions, or an attribute of one. */
  addExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.addValue(this.statsOfPath(path), bytes, from, to);
  }

  addLink(): void {
    this.links[this.kind] = true;
  }

  addPointValue(): void {
    this.pointValues[this.kind] = true;
  }

  /** Whether a point of this kind of feature has values. */
  get hasPointValues(): boolean {
    return this.pointValues[this.kind]!;
  }

  /** Geoferry's declaration of a field. */
  declare(name: string, type: string, element: string | null): void {
    const known = fieldTypes.find((each) => each === type);
    if (known) this.declared.set(name, known);
    if (known && element !== null && standardFields.some((each) => each.name === element)) {
      this.standardOf.set(name, element);
    }
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

  private addValue(stats: FieldStats, bytes: Buffer, from: number, to: number): void {
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

  result(): GpxScanResult["fields"] {
    const kinds = [Gpx.wpt, Gpx.rte, Gpx.trk];
    return { byKind: kinds.map((kind) => this.fieldsOf([kind])), all: this.fieldsOf(kinds) };
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
    if (stats.has(segmentField) || (this.hasSegmentValues && kinds.includes(Gpx.trk))) add(segmentField, "json");
    return [...fields.values()];
  }

  private inferType(forms: number): FieldType {
    return this.infersTypes ? guessType(forms) : "text";
  }

  /** Reports fields of numbers that may be names: as numbers, different ones become equal. */
  reportNumberLikeNames(context: Pick<ReadContext, "reportNotice">): void {
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
