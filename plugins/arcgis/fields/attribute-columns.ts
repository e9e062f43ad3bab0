/** Attributes of features as columns. */
import {
  BigintBuilder,
  type BytesBuilder,
  type Column,
  type ColumnBuilder,
  columnBuilder,
  NumberBuilder,
  Presence,
  temporalTypeAt,
} from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";
import type { Json } from "../../shared/json/values.js";
import { nameOfCode } from "./domains.js";
import type { FieldPlan, FieldsPlan } from "./field-plan.js";

type Reporter = Pick<PluginContext, "reportLoss" | "reportNotice">;

const maxInt32 = 2 ** 31 - 1;
const minInt32 = -(2 ** 31);
const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);
/** The years 0 to 9999 in milliseconds since 1970. */
const firstTime = Date.parse("0000-01-01T00:00:00Z");
const endTime = Date.UTC(10000, 0, 1);

const dayMs = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));

/** A blank between date and time, no seconds, and an offset without a colon, in the form of ISO 8601 that fields have. */
const toIsoText = (text: string): string =>
  text
    .toUpperCase()
    .replace(/^(\d{4}-\d\d-\d\d) /, "$1T")
    .replace(/([+-]\d\d)(\d\d)$/, "$1:$2")
    .replace(/(^|T)(\d\d:\d\d)(?=Z|[+-]|$)/, "$1$2:00");

/** Digits of milliseconds since 1970, for times from March 1973 on. */
const minEpochDigits = 12;
const integer = /^[+-]?\d+$/;

const show = (value: unknown): string => String(typeof value === "object" ? JSON.stringify(value) : value).slice(0, 60);

/** Fills the column of one field. */
class AttributeColumn {
  private readonly builder: ColumnBuilder;
  private lastDay = Number.NaN;
  private lastDate = "";

  constructor(
    private readonly plan: FieldPlan,
    private readonly hasLocalTimes: boolean,
    private readonly context: Reporter,
    rows: number,
  ) {
    this.builder = columnBuilder(plan.field.type, rows);
  }

  finish(): Column {
    return this.builder.finish();
  }

  /** @param subtype the value of the field that decides about domains */
  push(value: unknown, subtype: unknown): void {
    const { builder } = this;
    if (value === null || value === undefined) {
      builder.pushNull(value === null ? Presence.null : Presence.absent);
      return;
    }
    if (builder instanceof NumberBuilder) this.pushNumber(value, builder);
    else if (builder instanceof BigintBuilder) this.pushBigint(value, builder);
    else this.pushText(value, subtype, builder);
  }

  private lose(code: string, value: unknown, what: string): void {
    this.context.reportLoss(code, this.plan.field.name, `${show(value)} ${what}`);
  }

  private drop(code: string, value: unknown, what: string): void {
    this.lose(code, value, what);
    this.builder.pushNull();
  }

  private pushNumber(value: unknown, builder: NumberBuilder): void {
    const { type } = this.plan;
    const isText = typeof value === "string";
    const number =
      typeof value === "number" ? value : isText && value.trim() !== "" ? Number(value) : Number(value === true);
    const isNumber =
      typeof value === "number" || typeof value === "boolean" || (isText && (!Number.isNaN(number) || value === "NaN"));
    if (!isNumber) this.drop("value-type-mismatch", value, "is not a number, as its field declares, and became null");
    else if (type === "double") builder.push(number);
    else if (!(number >= minInt32 && number <= maxInt32))
      this.drop("number-too-large", value, `does not fit a field of the type ${this.plan.esriType}, and became null`);
    else {
      if (!Number.isInteger(number))
        this.lose("number-rounded", value, `is not whole, as the type ${this.plan.esriType} of its field requires`);
      builder.push(Math.round(number));
    }
  }

  private pushBigint(value: unknown, builder: BigintBuilder): void {
    const text = String(value);
    if (typeof value === "number" && !Number.isInteger(value) && Number.isFinite(value)) {
      this.lose("number-rounded", value, `is not whole, as the type ${this.plan.esriType} of its field requires`);
      builder.push(BigInt(Math.round(value)));
    } else if (typeof value === "number" && Number.isInteger(value)) this.pushInt64(BigInt(value), value, builder);
    else if (typeof value === "string" && integer.test(text)) this.pushInt64(BigInt(text), value, builder);
    else this.drop("value-type-mismatch", value, "is not a whole number, as its field declares, and became null");
  }

  private pushInt64(number: bigint, value: unknown, builder: BigintBuilder): void {
    if (number >= minInt64 && number <= maxInt64) builder.push(number);
    else
      this.drop("number-too-large", value, `does not fit a field of the type ${this.plan.esriType}, and became null`);
  }

  private pushText(value: unknown, subtype: unknown, builder: BytesBuilder): void {
    const { type, conversion, domain } = this.plan;
    if (conversion === "domain") this.pushName(value, subtype, builder, domain!);
    else if (conversion === "epoch") this.pushTime(value, builder);
    else if (conversion === "base64") this.pushBytes(value, builder);
    else if (type === "text") builder.push(typeof value === "object" ? JSON.stringify(value) : String(value));
    else this.pushTemporal(value, builder, type);
  }

  private pushName(
    value: unknown,
    subtype: unknown,
    builder: BytesBuilder,
    domain: NonNullable<FieldPlan["domain"]>,
  ): void {
    const name =
      typeof value === "string" || typeof value === "number" ? nameOfCode(domain, value, subtype) : undefined;
    if (name === undefined)
      this.context.reportNotice(
        "code-unknown",
        this.plan.field.name,
        `${show(value)} is not in the domain of the field, and was kept`,
      );
    builder.push(name ?? show(value));
  }

  /** Milliseconds since 1970-01-01 UTC (ArcGIS REST API, "Date-time queries"). */
  private pushTime(value: unknown, builder: BytesBuilder): void {
    // A few digits as text are a year or a date, not milliseconds.
    if (typeof value === "string" && !(integer.test(value) && value.length >= minEpochDigits)) {
      this.pushTemporal(value, builder, "datetime");
      return;
    }
    const milliseconds = typeof value === "number" ? value : Number(value);
    if (!Number.isFinite(milliseconds) || typeof value === "object" || typeof value === "boolean")
      this.drop("value-type-mismatch", value, "is not a time, as its field declares, and became null");
    else if (!(milliseconds >= firstTime && milliseconds < endTime))
      this.drop("date-out-of-range", value, "is a time outside the years 0 to 9999, and became null");
    else {
      const text = this.formatTime(Math.floor(milliseconds));
      builder.push(this.hasLocalTimes ? text : `${text}Z`);
    }
  }

  /** ISO 8601 without a zone. Neighbors are often of the same day, whose text is kept: `toISOString` takes ten times as long. */
  private formatTime(milliseconds: number): string {
    const day = Math.floor(milliseconds / dayMs);
    if (day !== this.lastDay) {
      this.lastDay = day;
      this.lastDate = new Date(day * dayMs).toISOString().slice(0, 10);
    }
    const rest = milliseconds - day * dayMs;
    const seconds = Math.floor(rest / 1000);
    const fraction = rest % 1000;
    const clock = `${twoDigits[Math.floor(seconds / 3600)]}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}`;
    return `${this.lastDate}T${clock}${fraction === 0 ? "" : `.${String(fraction).padStart(3, "0")}`}`;
  }

  private pushTemporal(value: unknown, builder: BytesBuilder, type: string): void {
    const text = typeof value === "string" ? toIsoText(value.trim()) : "";
    const bytes = Buffer.from(text);
    if (temporalTypeAt(bytes, 0, bytes.length) === type) builder.pushBytes(bytes, 0, bytes.length);
    else this.drop("value-type-mismatch", value, `is not a ${type}, as its field declares, and became null`);
  }

  private pushBytes(value: unknown, builder: BytesBuilder): void {
    const text = typeof value === "string" ? value.replace(/\s+/g, "") : "";
    if (typeof value !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
      this.drop("value-type-mismatch", value, "is not Base64, as its field declares, and became null");
      return;
    }
    const bytes = Buffer.from(text, "base64");
    builder.pushBytes(bytes, 0, bytes.length);
  }
}

/** The columns of a batch by the plan of its fields. */
export class AttributeColumns {
  private readonly columns: readonly AttributeColumn[];
  /** Attribute names in lower case that differ from the names declared. */
  private readonly lowered: ReadonlyMap<string, string>;
  private readonly known: ReadonlySet<string>;

  constructor(
    private readonly plan: FieldsPlan,
    private readonly context: Reporter,
    rows: number,
  ) {
    this.columns = plan.fields.map((each) => new AttributeColumn(each, plan.hasLocalTimes, context, rows));
    this.known = new Set(plan.fields.map(({ attribute }) => attribute));
    this.lowered = new Map(plan.fields.map(({ attribute }) => [attribute.toLowerCase(), attribute]));
  }

  push(given: Json): void {
    const { plan } = this;
    const attributes = this.withDeclaredNames(given);
    const subtype = plan.subtypeAttribute === null ? null : attributes[plan.subtypeAttribute];
    for (let f = 0; f < this.columns.length; f++)
      this.columns[f]!.push(ownValue(attributes, plan.fields[f]!.attribute), subtype);
  }

  /** Services may return names in another case than they declare; other attributes are not declared. */
  private withDeclaredNames(attributes: Json): Json {
    let renamed: Record<string, unknown> | null = null;
    for (const name in attributes) {
      if (this.known.has(name)) continue;
      const declared = this.lowered.get(name.toLowerCase());
      if (declared !== undefined && !Object.hasOwn(attributes, declared)) {
        renamed ??= { ...attributes };
        renamed[declared] = attributes[name];
      } else if (name !== this.plan.idAttribute)
        this.context.reportLoss(
          "attribute-undeclared",
          name,
          `${show(attributes[name])}: no field declares this attribute`,
        );
    }
    return renamed ?? attributes;
  }

  finish(): Column[] {
    return this.columns.map((each) => each.finish());
  }
}

const ownValue = (attributes: Json, name: string): unknown =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined;
