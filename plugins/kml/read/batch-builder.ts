import {
  absentColumn,
  Batch,
  type Column,
  createSlab,
  type Field,
  type FieldType,
  GeometryBuilder,
  initialRowCapacity,
  Presence,
  type Slab,
} from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import type { LayerPlan } from "../scan/layer-scan.js";
import { type FeatureRecord, ValueSource } from "./feature-record.js";
import { FieldColumnBuilder } from "./field-column.js";

/** The maximum size of a batch. */
const maxBatchRows = 1000;
const maxBatchPositions = 1 << 17;
/** Rows times fields with values. */
const maxBatchCells = 1 << 20;

interface FieldSlots {
  readonly name: string;
  /** The field for values of elements and styles, and the field for data; −1 for none. */
  readonly elements: number;
  readonly data: number;
}

/** Builds batches from the features of a layer, with the fields that the scan found. */
export class FeatureBatchBuilder {
  readonly fields: readonly Field[];
  /** By source; created for the first value that is not in the place where the last feature had it. */
  private slots: ReadonlyMap<string, FieldSlots> | null = null;
  /** The slots of the last feature's values, in their order. */
  private readonly lastSlots: (FieldSlots | undefined)[] = [];
  /** The fields with the feature ids, by Schema. */
  private readonly idFields: ReadonlyMap<string, string>;
  private readonly geometry = new GeometryBuilder();
  /** By field; undefined for fields that no feature of the batch has. */
  private columns: (FieldColumnBuilder | undefined)[] = [];
  /** The fields with columns, in order of creation, and their columns. */
  private present: number[] = [];
  private filled: FieldColumnBuilder[] = [];
  private ids: FieldColumnBuilder | null = null;
  private readonly fid: number;
  private records: number[] = [];
  /** The initial capacity of a column, in rows. */
  private rows = 0;
  private slab: Slab | null = null;
  /**
   * True with very many fields while no feature of the batch has data of a Schema: a column then ends at the last
   * feature with a value.
   */
  private isSparse = false;
  /** The fields in which the current feature has values. */
  private readonly offered: number[] = [];
  /** The Schema whose fields are null where a feature has no value. */
  private nullsOf: string | undefined;

  constructor(
    private readonly plan: LayerPlan,
    private readonly context: Pick<ReadContext, "reportLoss">,
    fidField: string | undefined,
  ) {
    this.fields = fieldsOf(plan, fidField);
    this.fid = plan.ids && fidField !== undefined ? this.fields.length - 1 : -1;
    this.idFields = new Map(plan.ids?.fields ?? []);
  }

  private begin(): void {
    const rows = Math.max(1, Math.min(initialRowCapacity(this.fields.length), this.plan.summary.featureCount));
    this.columns = new Array(this.fields.length);
    this.present = [];
    this.filled = [];
    this.offered.length = 0;
    this.rows = rows;
    this.slab = createSlab(this.fields.length);
    this.isSparse = this.slab !== null;
    this.ids = this.plan.ids && new FieldColumnBuilder(this.plan.ids.type, rows, null);
    this.records = [];
    this.nullsOf = undefined;
    this.geometry.reset();
  }

  get isFull(): boolean {
    const { length } = this.records;
    const isWide = length * this.filled.length >= maxBatchCells;
    return length >= maxBatchRows || isWide || this.geometry.positionCount >= maxBatchPositions;
  }

  /** Returns the column of a field. It is created for the first value, because with many fields most are rare. */
  private column(f: number): FieldColumnBuilder {
    const known = this.columns[f];
    if (known) return known;
    const { length } = this.records;
    const made = new FieldColumnBuilder(
      this.fields[f]!.type,
      Math.max(this.rows, length === 0 ? 0 : 2 * length),
      this.slab,
    );
    made.fillUp(length);
    this.columns[f] = made;
    this.present.push(f);
    this.filled.push(made);
    return made;
  }

  /** Adds a feature, which is record `number` of its split. */
  add(record: FeatureRecord, number: number): void {
    // Columns are created here, so that none are allocated after the last batch.
    if (this.records.length === 0) this.begin();
    if (this.ids && record.id !== null) {
      record.text(ValueSource.element, "", record.id);
      this.ids.offer(record.count - 1, ValueSource.element);
      if (this.fid >= 0) this.offerTo(this.fid, record.count - 1, ValueSource.element);
      record.count--;
    }
    for (let at = 0; at < record.count; at++) this.offer(record, at);
    const { usedSchemas } = record;
    if (this.isSparse && usedSchemas.length > 0) this.fillUp();
    const lost = this.isSparse ? this.endOffered(record) : this.endRow(record);
    for (const f of lost?.sort((a, b) => a - b) ?? []) this.loseValue(f);
    this.ids?.endRow(record);
    record.shapes.write(this.geometry);
    this.records.push(number);
  }

  /** Ends a row in all columns. @returns the fields whose value does not fit their type */
  private endRow(record: FeatureRecord): number[] | null {
    const { usedSchemas } = record;
    if (usedSchemas.length !== 1 || usedSchemas[0] !== this.nullsOf) this.setNulls(usedSchemas);
    let lost: number[] | null = null;
    for (let i = 0; i < this.filled.length; i++) {
      if (this.filled[i]!.endRow(record)) continue;
      lost ??= [];
      lost.push(this.present[i]!);
    }
    return lost;
  }

  /** Ends a row where no Schema declares fields: only the columns with a value of this feature are visited. */
  private endOffered(record: FeatureRecord): number[] | null {
    let lost: number[] | null = null;
    for (const f of this.offered) {
      const column = this.columns[f]!;
      column.fillUp(this.records.length);
      if (column.endRow(record)) continue;
      lost ??= [];
      lost.push(f);
    }
    this.offered.length = 0;
    return lost;
  }

  private fillUp(): void {
    for (const column of this.filled) column.fillUp(this.records.length);
    this.isSparse = false;
  }

  private offerTo(f: number, at: number, source: number): number {
    const column = this.column(f);
    if (this.isSparse && !column.isOffered) this.offered.push(f);
    return column.offer(at, source);
  }

  private setNulls(schemas: readonly string[]): void {
    for (const column of this.filled) column.otherwise = Presence.absent;
    for (const name of schemas.flatMap((schema) => this.plan.declared.get(schema) ?? [])) {
      const slot = this.slotsOf(name)?.data ?? -1;
      if (slot >= 0) this.column(slot).otherwise = Presence.null;
    }
    this.nullsOf = schemas.length === 1 ? schemas[0] : undefined;
  }

  private offer(record: FeatureRecord, at: number): void {
    const name = record.names[at]!;
    const source = record.sources[at]!;
    if (source === ValueSource.data && this.idFields.size > 0 && this.idFields.get(record.schemas[at]!) === name) {
      this.ids?.offer(at, ValueSource.style);
      if (this.fid >= 0) this.offerTo(this.fid, at, ValueSource.style);
      return;
    }
    // Most features have the same values in the same order.
    const slot = this.slab && this.isPlannedAt(at, name) ? at : this.slotOf(at, name, source);
    if (slot < 0) return;
    const other = this.offerTo(slot, at, source);
    if (other < 0 || source === ValueSource.style || record.sources[other] !== source) return;
    if (record.textAt(other) === record.textAt(at)) return;
    this.context.reportLoss(
      "value-repeated",
      name,
      `a feature has two values for it; "${record.textAt(at).slice(0, 80)}" was kept`,
    );
  }

  /** Whether the field at `at` takes all values of this name: the first feature of a batch with very many often has them in order. */
  private isPlannedAt(at: number, name: string): boolean {
    const planned = this.plan.fields[at];
    return planned?.takes === "both" && planned.source === name;
  }

  /** The field of the value at `at`, −1 for none. */
  private slotOf(at: number, name: string, source: number): number {
    const before = this.lastSlots[at];
    const slots = before?.name === name ? before : this.slotsOf(name);
    this.lastSlots[at] = slots;
    return (source === ValueSource.data ? slots?.data : slots?.elements) ?? -1;
  }

  private slotsOf(name: string): FieldSlots | undefined {
    this.slots ??= slotsByName(this.plan);
    return this.slots.get(name);
  }

  private loseValue(f: number): void {
    const { name, type } = this.fields[f]!;
    this.context.reportLoss("value-unreadable", name, `a value does not fit the declared type ${type}; it became null`);
  }

  /** Returns the batch; null for an empty one. */
  finish(): Batch | null {
    const { records } = this;
    const [firstRecord] = records;
    if (firstRecord === undefined) return null;
    const follows = records.every((record, row) => record === firstRecord + row);
    const batch = new Batch({
      length: records.length,
      ids: this.ids?.finish() ?? null,
      fields: this.fields,
      columns: this.finishColumns(),
      geometry: this.geometry.finish(),
      recordNumbers: follows ? null : Uint32Array.from(records),
      firstRecord: follows ? firstRecord : 0,
    });
    this.records = [];
    return batch;
  }

  private finishColumns(): Column[] {
    if (this.isSparse) this.fillUp();
    const { columns, records } = this;
    const absent = new Map<FieldType, Column>();
    const absentOf = (type: FieldType): Column => {
      const known = absent.get(type) ?? absentColumn(type, records.length);
      absent.set(type, known);
      return known;
    };
    this.columns = [];
    this.present = [];
    this.filled = [];
    this.slab = null;
    const finished: Column[] = [];
    for (let f = 0; f < this.fields.length; f++) finished.push(columns[f]?.finish() ?? absentOf(this.fields[f]!.type));
    return finished;
  }
}

function slotsByName({ fields }: LayerPlan): ReadonlyMap<string, FieldSlots> {
  const slots = new Map<string, FieldSlots>();
  for (let slot = 0; slot < fields.length; slot++) {
    const { source, takes } = fields[slot]!;
    const known = takes === "both" ? undefined : slots.get(source);
    slots.set(source, {
      name: source,
      elements: takes === "data" ? (known?.elements ?? -1) : slot,
      data: takes === "elements" ? (known?.data ?? -1) : slot,
    });
  }
  return slots;
}

const fieldsByPlan = new WeakMap<LayerPlan, readonly Field[]>();

/** Returns the fields of a layer, with the one for the ids if the option names it. */
export function fieldsOf(plan: LayerPlan, fidField: string | undefined): readonly Field[] {
  let fields = fieldsByPlan.get(plan);
  if (!fields) {
    fields = plan.fields.map(({ name, type }): Field => ({ name, type }));
    fieldsByPlan.set(plan, fields);
  }
  return plan.ids && fidField !== undefined ? [...fields, { name: fidField, type: plan.ids.type }] : fields;
}
