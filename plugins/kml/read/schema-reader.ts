import type { XmlReader } from "../../shared/xml/reader.js";
import { Tag } from "../vocabulary.js";
import type { DocumentVisitor } from "./document-visitor.js";

/** Reads Schemas, and geoferry's declarations of their fields. */
export class SchemaReader {
  private field = "";

  constructor(private readonly findings: DocumentVisitor | null) {}

  /** Begins a Schema. */
  begin({ attributes }: XmlReader): void {
    const name = attributes.get("name") ?? "";
    // Typed placemarks are elements with the name of their Schema (KML 2.0 and 2.1).
    const typed = attributes.get("parent") === null ? null : name;
    this.findings?.schema(attributes.get("id") ?? name, typed, name);
  }

  /** Begins an element in it. @returns whether its text is wanted */
  open(code: number, { attributes }: XmlReader): boolean {
    if (code === Tag.displayName) return true;
    // In KML 2.0, an element named after the type declares a field, like SimpleField.
    if (code !== Tag.SimpleField && code !== Tag.SimpleArrayField) return false;
    this.field = attributes.get("name") ?? "";
    const type = attributes.get("type") ?? "string";
    if (code === Tag.SimpleField) this.findings?.schemaField(this.field, type);
    else this.findings?.schemaArray(this.field, type);
    return false;
  }

  /** Sets the display name of a field, from an element with this code. */
  displayName(parent: number, name: string): void {
    if (name === "") return;
    if (parent === Tag.SimpleField) this.findings?.schemaTitle(this.field, name);
    else this.findings?.leftOut("displayName");
  }

  /** Reads geoferry's declaration of a field. */
  ownField({ name, attributes }: XmlReader): void {
    if (!this.findings) return;
    const [schema, field, type] = ["schema", "name", "type"].map((attribute) => attributes.get(attribute) ?? "");
    this.findings.ownField(name.local, schema!, field!, type!);
  }
}
