/** Builds batches of features of one layer from their elements. */
import {
  Batch,
  BigintBuilder,
  BytesBuilder,
  type Column,
  type ColumnBuilder,
  columnBuilder,
  type Field,
  type FieldType,
  GeometryBuilder,
  initialRowCapacity,
  Presence,
} from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { classifyValue, fittingType } from "../../shared/text/value-forms.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { malformed } from "./coordinates.js";
import { attributeOf, type GmlElement } from "./element.js";
import { type GeometryNote, GeometryReader } from "./geometry.js";
import type { GmlField, GmlLayerPlan } from "./plan.js";
import { addLeaves, geometryOf, isBounds, type Leaf, toJson } from "./properties.js";
import { crsKeyOf, noSystem } from "./scan-document.js";
import { type ReferenceSystem, srsNameIn } from "./srs-name.js";

const maxRows = 1000;
const maxPositions = 1 << 17;

const noteTexts: Readonly<Record<GeometryNote, string>> = {
  "curve-linearized": "an arc became a line with a position every 4 degrees or less",
  "ring-closed": "an open ring was closed",
  "solid-as-faces": "a solid became the polygons of its faces",
  "geodesic-as-line": "a geodesic became a straight line",
};
/** Notes of changes that lose information. */
const losses: ReadonlySet<GeometryNote> = new Set(["curve-linearized", "solid-as-faces", "geodesic-as-line"]);

const specialNumbers: Readonly<Record<string, number>> = {
  INF: Number.POSITIVE_INFINITY,
  "-INF": Number.NEGATIVE_INFINITY,
  NaN: Number.NaN,
};

export const fieldsOf = (plan: GmlLayerPlan): readonly Field[] => plan.fields.map(({ field }) => field);

/** Adds a value that fits the type of its field, as the scan found out. */
export function pushText(builder: ColumnBuilder, text: string): void {
  const trimmed = text.trim();
  if (builder instanceof BytesBuilder) {
    if (builder.type === "text") builder.push(text);
    else if (trimmed === "") builder.pushNull();
    else builder.push(trimmed);
  } else if (trimmed === "") builder.pushNull();
  else if (builder instanceof BigintBuilder) builder.push(BigInt(trimmed.replace(/\.0$/, "")));
  else if (builder.type === "boolean") builder.push(trimmed === "true" || trimmed === "1" ? 1 : 0);
  else builder.push(specialNumbers[trimmed] ?? Number(trimmed));
}

/** Whether a text is a value of a type as XML Schema writes it, or empty. */
export function fitsType(text: string, type: FieldType): boolean {
  const bytes = Buffer.from(text.trim());
  if (bytes.length === 0 || type === "text") return true;
  if (type === "boolean" && /^[01]$/.test(text.trim())) return true;
  return fittingType(classifyValue(bytes, 0, bytes.length), type) === type;
}

export class FeatureBatches {
  private readonly fields: readonly Field[];
  private readonly byPath = new Map<string, number>();
  private readonly jsonOf = new Map<string, number>();
  private readonly systems: ReadonlyMap<string, ReferenceSystem>;
  private readonly geometryReader: GeometryReader;
  private builders: ColumnBuilder[] = [];
  private ids: BytesBuilder | null = null;
  private geometry = new GeometryBuilder();
  private readonly notes = new Map<GeometryNote, number>();
  private unreadable: [row: number, reason: string][] = [];
  private rows = 0;
  /** Features of the layer so far, of which `firstRecord` begins the batch. */
  records = 0;
  private firstRecord = 1;
  private readonly leaves: Leaf[] = [];
  /** The property with the geometry of the current feature. */
  private used: GmlElement | undefined;
  /** JSON values of the current feature, by field. */
  private readonly nested = new Map<number, unknown[]>();

  constructor(
    private readonly plan: GmlLayerPlan,
    systems: readonly ReferenceSystem[],
    private readonly context: Pick<ReadContext, "keepsBadGeometries" | "reject" | "reportLoss" | "reportNotice">,
    /** Whether the fields were declared before the features were seen, so that values may not fit them. */
    private readonly isStrict = false,
  ) {
    this.fields = fieldsOf(plan);
    plan.fields.forEach(({ path, property }: GmlField, index) => {
      if (path === null) this.jsonOf.set(property, index);
      else this.byPath.set(path, index);
    });
    this.systems = new Map(systems.map((system) => [system.srsName, system]));
    this.geometryReader = new GeometryReader({
      add: (note) => this.notes.set(note, (this.notes.get(note) ?? 0) + 1),
    });
    this.begin();
  }

  private begin(): void {
    const rows = Math.min(initialRowCapacity(Math.max(1, this.fields.length)), Math.max(1, this.plan.featureCount));
    this.builders = this.fields.map(({ type }) => columnBuilder(type, rows));
    this.ids = this.plan.hasIds ? new BytesBuilder("text", rows) : null;
    this.geometry = new GeometryBuilder();
    this.unreadable = [];
    this.rows = 0;
    this.firstRecord = this.records + 1;
  }

  get isFull(): boolean {
    return this.rows >= maxRows || this.geometry.positionCount >= maxPositions;
  }

  /** @param collectionSystem the name of the reference system that the collection declares */
  add(feature: GmlElement, collectionSystem: string | null): void {
    this.records++;
    this.addGeometry(feature, collectionSystem);
    const id = attributeOf(feature, "id") ?? attributeOf(feature, "fid");
    if (id === null) this.ids?.pushNull();
    else this.ids?.push(id);
    for (const property of feature.children) if (!isBounds(property)) this.addProperty(property);
    for (const [index, values] of this.nested) {
      const builder = this.builders[index] as BytesBuilder;
      builder.push(JSON.stringify(this.plan.fields[index]!.isList ? values : values[0]));
    }
    this.nested.clear();
    this.rows++;
    for (let f = 0; f < this.builders.length; f++) {
      const builder = this.builders[f]!;
      if (builder.length < this.rows)
        builder.pushNull(this.plan.fields[f]!.isDeclared ? Presence.null : Presence.absent);
    }
  }

  private addProperty(property: GmlElement): void {
    const { local } = property;
    if (geometryOf(property)) {
      if (this.isStrict && property !== this.used)
        this.context.reportLoss("geometry-column-left-out", local, "a geometry beside the first was left out");
      return;
    }
    const nested = this.jsonOf.get(local);
    if (nested !== undefined) {
      const values = this.nested.get(nested) ?? [];
      values.push(toJson(property));
      this.nested.set(nested, values);
      return;
    }
    this.leaves.length = 0;
    const onGeometry = (path: string) => {
      if (this.isStrict)
        this.context.reportLoss("geometry-column-left-out", path, "a geometry in a property was left out");
    };
    for (const leaf of addLeaves(this.leaves, property, local, onGeometry)) this.addLeaf(leaf, local);
  }

  private addLeaf({ path, text }: Leaf, property: string): void {
    const index = this.byPath.get(path);
    const builder = index === undefined ? undefined : this.builders[index]!;
    if (!builder || builder.length > this.rows) {
      if (this.isStrict && property !== this.plan.geometryProperty && text !== null && text !== "")
        this.context.reportLoss(builder ? "value-repeated" : "attribute-undeclared", path, text.slice(0, 80));
      return;
    }
    if (text === null) builder.pushNull();
    else if (this.isStrict && !fitsType(text, this.fields[index!]!.type)) {
      this.context.reportLoss("value-type-mismatch", path, `"${text.slice(0, 60)}" does not fit the declared type`);
      builder.pushNull();
    } else pushText(builder, text);
  }

  /** The property of the layer, else the first geometry that the feature has, unless the user named one. */
  private geometryPropertyOf(feature: GmlElement): GmlElement | undefined {
    const { geometryProperty, isOnlyGeometry } = this.plan;
    if (geometryProperty === null) return undefined;
    const named = feature.children.filter(({ local }) => local === geometryProperty);
    const own = named.find((property) => geometryOf(property) !== undefined);
    if (own || isOnlyGeometry) return own ?? named[0];
    return feature.children.find((property) => !isBounds(property) && geometryOf(property)) ?? named[0];
  }

  private addGeometry(feature: GmlElement, collectionSystem: string | null): void {
    const { geometry, rows } = this;
    const property = this.geometryPropertyOf(feature);
    this.used = property;
    if (!property) {
      geometry.addNull();
      return;
    }
    try {
      const element = geometryOf(property);
      if (!element) {
        const href = attributeOf(property, "href");
        if (href !== null) throw malformed(`<${property.local}> refers to "${href.slice(0, 80)}"`);
        if (property.children.length > 0)
          throw malformed(`<${property.local}> has several geometries or none that is known`);
        geometry.addNull();
        return;
      }
      const isNorthFirst = this.orderOf(element, feature, collectionSystem);
      geometry.addGeoJson(this.geometryReader.read(element, { isNorthFirst, dimension: null }));
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      geometry.addNull();
      this.unreadable.push([rows, error.message]);
    }
  }

  /** Whether the northing is first in a geometry. @throws GeometryParseError for a system that is not that of the layer */
  private orderOf(geometry: GmlElement, feature: GmlElement, collectionSystem: string | null): boolean {
    const bounds = feature.children.find(isBounds);
    const name = srsNameIn(geometry) ?? (bounds && srsNameIn(bounds)) ?? collectionSystem ?? noSystem;
    const system = this.systems.get(name);
    if (!system || (crsKeyOf(system) !== this.plan.crsKey && name !== noSystem))
      throw malformed(`a geometry is in the system "${name.slice(0, 80)}", which is not that of its layer`);
    const other = otherSystemIn(geometry, name);
    const inner = other === null ? system : this.systems.get(other);
    if (!inner || crsKeyOf(inner) !== crsKeyOf(system) || inner.isNorthFirst !== system.isNorthFirst)
      throw malformed(`a part of a geometry is in another system, "${other?.slice(0, 80)}"`);
    return system.isNorthFirst;
  }

  /** Null for a batch without features. */
  finish(): Batch | null {
    const { rows, context } = this;
    if (rows === 0) return null;
    const columns: Column[] = this.builders.map((builder) => builder.finish());
    const batch = new Batch({
      length: rows,
      fields: this.fields,
      ids: this.ids?.finish() ?? null,
      columns,
      geometry: this.geometry.finish(),
      recordNumbers: null,
      firstRecord: this.firstRecord,
    });
    for (const [note, count] of this.notes) {
      if (losses.has(note)) context.reportLoss(note, undefined, noteTexts[note], count);
      else context.reportNotice(note, undefined, noteTexts[note], count);
    }
    this.notes.clear();
    const { unreadable } = this;
    this.begin();
    return rejectUnreadableGeometries(batch, unreadable, context);
  }
}

/** A name of a system in a geometry that is not `name`; null if there is none. */
function otherSystemIn(element: GmlElement, name: string): string | null {
  const own = attributeOf(element, "srsName")?.trim();
  if (own && own !== name) return own;
  for (const child of element.children) {
    const found = child.children.length === 0 && child.attributes.length === 0 ? null : otherSystemIn(child, name);
    if (found !== null) return found;
  }
  return null;
}
