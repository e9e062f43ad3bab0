import type { FieldType } from "../../../src/model/index.js";
import { fieldTypeOfKmlType } from "../read/field-types.js";
import { type DocumentSchema, isFieldType } from "./field-scan.js";

/** Geoferry's declaration of a field: its type, or that it holds the feature ids. */
interface FieldDeclaration {
  readonly role: string;
  readonly name: string;
  readonly type: string;
}

/** Collects the Schemas of a document, by id. */
export class SchemaTable {
  readonly byId = new Map<string, DocumentSchema>();
  /** The Schema opened last. */
  private last: DocumentSchema | null = null;
  /** They precede their Schemas. */
  private readonly declarations = new Map<string, FieldDeclaration[]>();

  /** Begins a Schema. An id that repeats continues the first Schema with it. */
  begin(id: string, typed: string | null, name: string): void {
    const known = this.byId.get(id);
    const schema: DocumentSchema = known ?? {
      id,
      typed,
      name,
      fields: new Map(),
      arrays: new Map(),
      titles: new Map(),
      own: new Map(),
      ids: null,
    };
    if (!known) this.byId.set(id, schema);
    for (const declaration of this.declarations.get(id) ?? []) addDeclaration(schema, declaration);
    this.last = schema;
  }

  addField(name: string, type: string): void {
    this.last?.fields.set(name, fieldTypeOfKmlType(type));
  }

  addArray(name: string, type: string): void {
    this.last?.arrays.set(name, fieldTypeOfKmlType(type));
  }

  /** Adds a display name. @returns false where there is no Schema, or where the field has one */
  addTitle(field: string, title: string): boolean {
    const titles = this.last?.titles;
    if (!titles || titles.has(field)) return false;
    titles.set(field, { title, isUsed: false });
    return true;
  }

  /** Keeps a declaration for the Schema with this id, which follows. */
  declare(id: string, declaration: FieldDeclaration): void {
    const list = this.declarations.get(id);
    if (list) list.push(declaration);
    else this.declarations.set(id, [declaration]);
  }

  /** Whether the Schema of an element name defines typed placemarks (KML 2.0 and 2.1). */
  isTyped(elementName: string): boolean {
    return [...this.byId.values()].some(({ typed }) => typed === elementName);
  }

  isTypedField(name: string): boolean {
    return [...this.byId.values()].some(({ typed, fields }) => typed && fields.has(name));
  }

  /** Returns the fields of typed placemarks, by element name. */
  typedFields(): Map<string, readonly string[]> {
    const schemas = [...this.byId.values()];
    return new Map(schemas.flatMap(({ typed, fields }) => (typed === null ? [] : [[typed, [...fields.keys()]]])));
  }

  /** Returns the types of array values by field name, by id. */
  arrayTypes(): Map<string, ReadonlyMap<string, FieldType>> {
    return new Map([...this.byId].flatMap(([id, { arrays }]) => (arrays.size > 0 ? [[id, arrays]] : [])));
  }

  /** The number of display names of fields that no layer has. */
  get unusedTitles(): number {
    return [...this.byId.values()].flatMap(({ titles }) => [...titles.values()]).filter(({ isUsed }) => !isUsed).length;
  }
}

function addDeclaration(schema: DocumentSchema, { role, name, type }: FieldDeclaration): void {
  if (!isFieldType(type)) return;
  if (role === "id") schema.ids = { field: name, type };
  else if (role === "field") schema.own.set(name, type);
}
