import { type FieldType, fieldTypes, type XmlPathStep } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { fittingType, guessType } from "../../shared/text/value-forms.js";
import {
  addValue,
  emptyStats,
  reportNumberLikeNames,
  uniteStats,
  type ValueStats,
} from "../../shared/text/value-stats.js";
import { coordinateField, Gpx, gpxTypeField, linksField, segmentField, standardFields } from "../elements.js";
import type { ValuePath } from "./paths.js";
import type { GpxField, GpxScanResult } from "./scan-result.js";

interface FieldStats extends ValueStats {
  steps: readonly XmlPathStep[] | null;
}

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
    if (to > from) addValue(of[index], this.features, bytes, from, to);
  }

  /** Adds an element in extensions, or an attribute of one. */
  addExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    addValue(this.statsOfPath(path), this.features, bytes, from, to);
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
      known = { ...emptyStats(), steps };
      stats.set(name, known);
    }
    return known;
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
    const isNumber = (name: string, { forms, repeated }: FieldStats) => {
      if (repeated || this.declared.has(name) || standardFields.some((each) => each.name === name)) return false;
      const type = this.inferType(forms);
      return type !== "text" && type !== "json";
    };
    reportNumberLikeNames(this.statsOfKinds([Gpx.wpt, Gpx.rte, Gpx.trk]), isNumber, context);
  }

  private statsOfKinds(kinds: readonly number[]): Map<string, FieldStats> {
    return uniteStats(kinds.map((kind) => this.stats[kind]!));
  }
}
