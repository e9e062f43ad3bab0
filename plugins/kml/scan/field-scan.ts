import {
  type ColumnMetadata,
  type FieldSummary,
  type FieldType,
  fieldTypes,
  temporalType,
  uniqueName,
} from "../../../src/model/index.js";
import { elementFields, isElementField } from "../element-fields.js";
import { type FeatureRecord, ValueForm, ValueSource } from "../read/feature-record.js";
import { classifyText, commonType, isOfType, TextLookFlag, widenType } from "../read/field-types.js";
import type { StyleProperties } from "../read/style-reader.js";

/** A Schema of the document. Plain data. */
export interface DocumentSchema {
  readonly id: string;
  /** The element name of typed placemarks (KML 2.0 and 2.1); null for none. */
  readonly typed: string | null;
  readonly name: string;
  readonly fields: Map<string, FieldType>;
  /** The types of array values, by field. */
  readonly arrays: Map<string, FieldType>;
  /** The display names of fields, and whether a layer uses them. */
  readonly titles: Map<string, { readonly title: string; isUsed: boolean }>;
  /** Geoferry's declarations of fields: types that KML does not have, and the field with the ids. */
  readonly own: Map<string, FieldType>;
  ids: { readonly field: string; readonly type: FieldType } | null;
}

/** A field of the layer, and the source of its values. Plain data. */
export interface PlannedField {
  readonly name: string;
  readonly type: FieldType;
  /** The name of its values in the document. */
  readonly source: string;
  /** Whether the values come from elements and styles, from data, or both. */
  readonly takes: "both" | "elements" | "data";
}

const noTypes: ReadonlySet<FieldType> = new Set();

/** The types of data that no Schema declares. */
const undeclaredText = { both: "text", elements: "text", data: "text" } as const;
const undeclaredJson = { both: "json", elements: "text", data: "json" } as const;

/** Statistics of a field over all features. */
class FieldStats {
  /** The possible types of the data, as bits of `Looks`. */
  looks = 0;
  inData = false;
  /** Whether some data are arrays. */
  hasLists = false;
  /** The types of values in elements and styles. */
  elementTypes: ReadonlySet<FieldType> = noTypes;
  /** The number of features with a value in an element or style, and no data of the same name. */
  alone = 0;
  /** Whether a feature has different values in an element and in its data. */
  clashes = false;
  ownTypeFits = true;
  values = 0;
  maxBytes = 0;
  /** The last feature with a value, the value's index, and its source. */
  feature = -1;
  at = 0;
  constructor(readonly name: string) {}

  addElementType(type: FieldType): void {
    if (!this.elementTypes.has(type)) this.elementTypes = new Set([...this.elementTypes, type]);
  }
}

/** The maximum length of a double as text. */
const doubleBytes = 24;

/** Finds the fields of a layer's features, their order and their types. */
export class FieldScan {
  private readonly uses = new Map<string, FieldStats>();
  /** The statistics of the last feature's values, in their order. */
  private readonly lastUses: FieldStats[] = [];
  /** The Schema that was looked up last, and its id: comparing a string with itself is fast. */
  private lastSchema: DocumentSchema | undefined;
  private lastSchemaId = "";
  private readonly usedSchemas = new Set<string>();
  private feature = 0;
  private withId = 0;
  private idBytes = 0;

  constructor(private readonly schemas: ReadonlyMap<string, DocumentSchema>) {}

  add(record: FeatureRecord): void {
    this.feature++;
    if (record.id !== null) {
      this.withId++;
      this.idBytes = Math.max(this.idBytes, Buffer.byteLength(record.id));
    }
    for (const schema of record.usedSchemas) this.usedSchemas.add(schema);
    for (let at = 0; at < record.count; at++) {
      const name = record.names[at]!;
      // Most features have the same values in the same order.
      const before = this.lastUses[at];
      const use = before?.name === name ? before : this.useOf(name);
      this.lastUses[at] = use;
      if (use.feature === this.feature) this.compare(use, record, at);
      else use.values++;
      use.feature = this.feature;
      use.at = at;
      this.observe(use, record, at);
    }
  }

  private useOf(name: string): FieldStats {
    const known = this.uses.get(name);
    if (known) return known;
    const use = new FieldStats(name);
    this.uses.set(name, use);
    return use;
  }

  /** Adds the properties of shared styles, which up to `values` features use. */
  addStyles(styles: Iterable<StyleProperties>, values: number): void {
    for (const style of styles) {
      for (const [name, value] of Object.entries(style)) {
        if (name === "outline" && value !== 0) continue;
        const use = this.useOf(name === "outline" ? "stroke-opacity" : name);
        use.values = values;
        use.alone += values;
        use.addElementType(typeof value === "number" ? "double" : typeOfElement(name));
        use.maxBytes = Math.max(use.maxBytes, Buffer.byteLength(String(value)));
      }
    }
  }

  private compare(use: FieldStats, record: FeatureRecord, at: number): void {
    const pair = [record.sources[use.at], record.sources[at]];
    if (!pair.includes(ValueSource.element) || !pair.includes(ValueSource.data)) return;
    if (record.textAt(use.at) === record.textAt(at)) use.alone--;
    else use.clashes = true;
  }

  private observe(use: FieldStats, record: FeatureRecord, at: number): void {
    const form = record.forms[at]!;
    if (form === ValueForm.list) {
      use.inData = use.hasLists = true;
      use.maxBytes = Math.max(use.maxBytes, Buffer.byteLength(record.texts[at]!));
    } else if (record.sources[at] === ValueSource.data) {
      const from = record.from[at]!;
      const to = record.to[at]!;
      use.inData = true;
      // A value that can only be text makes the field a text.
      if ((use.looks & TextLookFlag.other) === 0) use.looks |= classifyText(record.bytes, from, to);
      if (to - from > use.maxBytes) use.maxBytes = to - from;
      const own = use.ownTypeFits && from < to ? this.ownType(record.schemas[at]!, use.name) : undefined;
      if (own) use.ownTypeFits = isOfType(own, record.textAt(at));
    } else this.observeElement(use, record, at, form);
  }

  private observeElement(use: FieldStats, record: FeatureRecord, at: number, form: number): void {
    use.alone++;
    if (form === ValueForm.bytes) use.maxBytes = Math.max(use.maxBytes, record.to[at]! - record.from[at]!);
    else if (form === ValueForm.text) use.maxBytes = Math.max(use.maxBytes, Buffer.byteLength(record.texts[at]!));
    if (form === ValueForm.number) use.addElementType("double");
    else if (form === ValueForm.boolean) use.addElementType("boolean");
    else if (use.name === "timestamp") use.addElementType(temporalType(record.texts[at]!) ?? "text");
    else use.addElementType(typeOfElement(use.name));
  }

  /** Returns the type that geoferry declares for a Schema's field. */
  private ownType(schema: string, field: string): FieldType | undefined {
    if (this.lastSchemaId !== schema || !this.lastSchema) {
      this.lastSchema = this.schemas.get(schema);
      this.lastSchemaId = schema;
    }
    const own = this.lastSchema?.own;
    return own && own.size > 0 ? own.get(field) : undefined;
  }

  /** Returns the Schemas that the layer's features use, or that have its name. */
  private schemasOf(layer: string | null): DocumentSchema[] {
    const all = [...new Set(this.schemas.values())];
    return layer === null ? all : all.filter(({ id, name }) => this.usedSchemas.has(id) || name === layer);
  }

  /**
   * Returns the fields in their order: elements of the feature, fields of Schemas, other data, styles.
   * @param layer the name of the layer's Schemas; null for those of the whole document
   * @param widening called for declared types that do not hold all values
   */
  fields(
    layer: string | null,
    widening: (field: string, declared: FieldType, type: FieldType) => void,
  ): PlannedField[] {
    const schemas = this.schemasOf(layer);
    const idFields = new Set(schemas.map(({ ids }) => ids?.field));
    const declared = new Set(schemas.flatMap(({ fields }) => [...fields.keys()]).filter((name) => !idFields.has(name)));
    const isFirst = (name: string) =>
      leadingFields.has(name) && !declared.has(name) && this.uses.get(name)?.inData === false;
    const isLast = (name: string) => isElementField(name) && !leadingFields.has(name) && !declared.has(name);
    const used = [...this.uses.keys()].filter((name) => !idFields.has(name) || this.elementOnly(name));
    const inTable = (names: string[]) =>
      names.sort((a, b) => elementFieldOrder.indexOf(a) - elementFieldOrder.indexOf(b));
    const first = inTable(used.filter(isFirst));
    const before = new Set([...first, ...declared]);
    const names = [...before];
    for (const name of used) if (!before.has(name) && !isLast(name)) names.push(name);
    names.push(...inTable(used.filter(isLast)));
    const planned: PlannedField[] = [];
    const others = new Set<string>();
    const isUsed = (name: string) => this.uses.has(name) && (!idFields.has(name) || this.elementOnly(name));
    const taken = { has: (name: string) => declared.has(name) || isUsed(name) || others.has(name) };
    for (const name of names) {
      const use = this.uses.get(name) ?? new FieldStats(name);
      const types = this.typesOf(use, schemas, widening);
      if (!use.clashes) planned.push({ name, source: name, type: types.both, takes: "both" });
      else {
        const other = uniqueName(name, taken);
        others.add(other);
        planned.push({ name, source: name, type: types.elements, takes: "elements" });
        planned.push({ name: other, source: name, type: types.data, takes: "data" });
      }
    }
    return planned;
  }

  /** Returns the display names of fields in the Schemas; the first one where they differ. */
  titles(layer: string | null, fields: readonly PlannedField[]): ColumnMetadata[] {
    const schemas = this.schemasOf(layer);
    return fields.flatMap(({ name, source, takes }) => {
      const found = takes === "elements" ? [] : schemas.flatMap(({ titles }) => titles.get(source) ?? []);
      const [first] = found;
      if (!first) return [];
      for (const each of found) if (each.title === first.title) each.isUsed = true;
      return [{ column: name, title: first.title }];
    });
  }

  /** Returns the names of the fields that each Schema declares, by its id. */
  declared(layer: string | null): ReadonlyMap<string, readonly string[]> {
    return new Map(this.schemasOf(layer).map(({ id, fields }) => [id, [...fields.keys()]]));
  }

  private elementOnly(name: string): boolean {
    const use = this.uses.get(name)!;
    return use.elementTypes.size > 0 && !use.inData;
  }

  private typesOf(
    use: FieldStats,
    schemas: readonly DocumentSchema[],
    widening: (field: string, declared: FieldType, type: FieldType) => void,
  ): { readonly both: FieldType; readonly elements: FieldType; readonly data: FieldType } {
    if (schemas.length === 0 && use.alone === 0)
      return use.hasLists && use.looks === 0 ? undeclaredJson : undeclaredText;
    const { name } = use;
    const own = new Set(schemas.flatMap((schema) => schema.own.get(name) ?? []));
    const declaredTypes = schemas.flatMap((schema) => schema.fields.get(name) ?? []);
    const elementTypes = use.alone > 0 ? use.elementTypes : noTypes;
    const elements = commonType(elementTypes);
    const [only] = own;
    if (own.size === 1 && only && fitsGeoferryType(use, elementTypes, only))
      return { both: only, elements: only, data: only };
    // Without a declaration of geoferry's, a field of an element has the element's usual type, where all values fit it.
    if (declaredTypes.length > 0 && isElementField(name) && own.size === 0) {
      const usual = elementFields[name][0];
      const fits = declaredTypes.every((type) => type === usual) && widenType(usual, use.looks) === usual;
      if (fits) return { both: usual, elements: usual, data: usual };
    }
    const declared = declaredTypes.length > 0 ? commonType(declaredTypes) : "text";
    const arrays = use.looks === 0 ? "json" : "text";
    const data = use.hasLists ? arrays : widenType(declared, use.looks);
    if (data !== declared && !use.hasLists) widening(name, declared, data);
    const both: FieldType[] = [...elementTypes];
    if (use.inData || declaredTypes.length > 0) both.push(data);
    return { both: commonType(both), elements, data };
  }

  /** Returns the type of the feature ids, and their fields by Schema; null for no ids. */
  ids(
    layer: string | null,
  ): { readonly type: FieldType; readonly fields: readonly (readonly [string, string])[] } | null {
    const own = this.schemasOf(layer).filter(({ ids }) => ids !== null);
    const fields = own.map(({ id, ids }) => [id, ids!.field] as const);
    const types: FieldType[] = own.map(({ ids }) => {
      const looks = this.uses.get(ids!.field)?.looks ?? 0;
      return widenType(ids!.type, looks) === ids!.type && ids!.type.startsWith("int") ? ids!.type : "text";
    });
    if (this.withId > 0) types.push("text");
    const isUsed = this.withId > 0 || fields.some(([, field]) => this.uses.has(field));
    return isUsed ? { type: commonType(types), fields } : null;
  }

  /** Returns upper bounds for the lengths of the fields' values. */
  summaries(fields: readonly PlannedField[]): FieldSummary[] {
    return fields.map(({ name, type, source }) => {
      const use = this.uses.get(source);
      const isText = type !== "boolean" && type !== "double" && !type.startsWith("int");
      const maxBytes =
        isText || !use ? (use?.maxBytes ?? 0) : Math.max(use.maxBytes, type === "double" ? doubleBytes : 5);
      return { name, type, values: use?.values ?? 0, maxBytes };
    });
  }

  /** Returns the length of the longest id in bytes, in an attribute or in one of the fields. */
  longestId(ids: ReturnType<FieldScan["ids"]>): number {
    const inFields = (ids?.fields ?? []).map(([, field]) => this.uses.get(field)?.maxBytes ?? 0);
    return Math.max(this.idBytes, ...inFields);
  }
}

const elementFieldOrder = Object.keys(elementFields);
/** Fields that precede data where no Schema lists them. */
const leadingFields = new Set<string>([
  "name",
  "visibility",
  "open",
  "author",
  "link",
  "address",
  "phoneNumber",
  "snippet",
  "description",
  "timestamp",
  "timespan",
  "folder",
]);

const typeOfElement = (name: string): FieldType => (isElementField(name) ? elementFields[name][0] : "text");

/** Whether all values fit the type that the document declares. */
function fitsGeoferryType(use: FieldStats, elementTypes: ReadonlySet<FieldType>, type: FieldType): boolean {
  if (widenType(type, use.looks) !== type || !use.ownTypeFits) return false;
  return type === "text" || [...elementTypes].every((element) => fitsElement(element, type, use.name));
}

/** Whether the value of an element fits the type that the document declares. */
function fitsElement(element: FieldType, type: FieldType, name: string): boolean {
  if (element === type) return true;
  return name !== "timestamp" && isElementField(name) && (elementFields[name] as readonly FieldType[]).includes(type);
}

export const isFieldType = (type: string): type is FieldType => (fieldTypes as readonly string[]).includes(type);
