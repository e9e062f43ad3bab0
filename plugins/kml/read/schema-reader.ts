import type { XmlReader } from "../../shared/xml/reader.js";
import { Tag } from "../vocabulary.js";
import type { DocumentVisitor } from "./document-visitor.js";

/** Reads Schemas, and what geoferry says of their fields beside them. */
export class SchemaReader {
  private field = "";

  constructor(private readonly findings: DocumentVisitor | null) {}

  /** A Schema begins. */
  begin({ attributes }: XmlReader): void {
    const name = attributes.get("name") ?? "";
    // Placemarks of a type of their own are elements of its name (KML 2.0 and 2.1).
    const typed = attributes.get("parent") === null ? null : name;
    this.findings?.schema(attributes.get("id") ?? name, typed, name);
  }

  /** An element in it begins. @returns whether its text is wanted */
  open(code: number, { attributes }: XmlReader): boolean {
    if (code === Tag.displayName) return true;
    // Typed placemarks of KML 2.0 have fields in elements called after their type: SimpleField all the same.
    if (code !== Tag.SimpleField && code !== Tag.SimpleArrayField) return false;
    this.field = attributes.get("name") ?? "";
    const type = attributes.get("type") ?? "string";
    if (code === Tag.SimpleField) this.findings?.schemaField(this.field, type);
    else this.findings?.schemaArray(this.field, type);
    return false;
  }

  /** The name for people of a field in an element with this code. */
  displayName(parent: number, name: string): void {
    if (name === "") return;
    if (parent === Tag.SimpleField) this.findings?.schemaTitle(this.field, name);
    else this.findings?.leftOut("displayName");
  }

  /** An element of geoferry's, about a field. */
  ownField({ name, attributes }: XmlReader): void {
    if (!this.findings) return;
    const [schema, field, type] = ["schema", "name", "type"].map((attribute) => attributes.get(attribute) ?? "");
    this.findings.ownField(name.local, schema!, field!, type!);
  }
}
