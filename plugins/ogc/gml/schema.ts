/** Fields that an application schema declares (XML Schema 1.0; OGC 10-100r3, 8). */
import type { FieldType } from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/index.js";
import { XmlReader, XmlToken } from "../../shared/xml/reader.js";
import { attributeOf, ElementBuilder, type GmlElement } from "./element.js";

/** A property of a feature type. Plain data. */
export interface DeclaredProperty {
  readonly name: string;
  /** Null for nested content, or a type that is not known. */
  readonly type: FieldType | null;
  readonly isGeometry: boolean;
  /** The name of the type, without prefix. */
  readonly typeName: string;
  readonly width?: number;
}

/** Built-in types of XML Schema, part 2, and simple ones of GML. Types whose values may exceed a column become wider. */
const simpleTypes: Readonly<Record<string, FieldType>> = {
  boolean: "boolean",
  byte: "int32",
  short: "int32",
  int: "int32",
  unsignedByte: "int32",
  unsignedShort: "int32",
  long: "int64",
  integer: "int64",
  unsignedInt: "int64",
  nonNegativeInteger: "int64",
  positiveInteger: "int64",
  nonPositiveInteger: "int64",
  negativeInteger: "int64",
  unsignedLong: "int64",
  float: "double",
  double: "double",
  decimal: "double",
  date: "date",
  time: "time",
  dateTime: "datetime",
  string: "text",
  normalizedString: "text",
  token: "text",
  anyURI: "text",
  MeasureType: "double",
  LengthType: "double",
  AreaType: "double",
  VolumeType: "double",
  AngleType: "double",
  SpeedType: "double",
  CodeType: "text",
  CodeWithAuthorityType: "text",
  StringOrRefType: "text",
};
const geometryType =
  /^(Geometr\w*|Point|Curve|Surface|Solid|LineString|Polygon|MultiPoint|MultiCurve|MultiSurface|MultiSolid|MultiGeometry|MultiLineString|MultiPolygon|Multi\w*)PropertyType$|^GeometryAssociationType$/;
/** Derived types may refer to each other in a circle. */
const maxDerivations = 32;

const localOf = (name: string | null): string => name?.replace(/^.*:/, "") ?? "";

/** The declarations of one or more schema documents. */
export class ApplicationSchema {
  private readonly elements = new Map<string, GmlElement>();
  private readonly types = new Map<string, GmlElement>();

  /** @param schema the root element of a document */
  add(schema: GmlElement): void {
    for (const child of schema.children) {
      const name = attributeOf(child, "name");
      if (name === null) continue;
      if (child.local === "element") this.elements.set(name, child);
      else if (child.local === "complexType" || child.local === "simpleType") this.types.set(name, child);
    }
  }

  /** Names of the schema documents that a document includes or imports. */
  static includesOf(schema: GmlElement): string[] {
    return schema.children
      .filter(({ local }) => local === "include" || local === "import")
      .flatMap((child) => attributeOf(child, "schemaLocation") ?? []);
  }

  /** The properties of a feature type in their order; null if the schema does not declare it. */
  propertiesOf(element: string): DeclaredProperty[] | null {
    const declaration = this.elements.get(element);
    if (!declaration) return null;
    const type = this.typeOf(declaration);
    if (!type) return null;
    const found: DeclaredProperty[] = [];
    this.collect(type, found, 0);
    return found;
  }

  private typeOf(element: GmlElement): GmlElement | undefined {
    const inline = element.children.find(({ local }) => local === "complexType" || local === "simpleType");
    return inline ?? this.types.get(localOf(attributeOf(element, "type")));
  }

  private collect(element: GmlElement, found: DeclaredProperty[], derivations: number): void {
    for (const child of element.children) {
      if (child.local === "element") this.addProperty(child, found);
      else if (child.local === "extension" || child.local === "restriction") {
        const base = this.types.get(localOf(attributeOf(child, "base")));
        if (base && derivations < maxDerivations) this.collect(base, found, derivations + 1);
        this.collect(child, found, derivations);
      } else if (child.local !== "annotation") this.collect(child, found, derivations);
    }
  }

  private addProperty(element: GmlElement, found: DeclaredProperty[]): void {
    const name = attributeOf(element, "name") ?? localOf(attributeOf(element, "ref"));
    if (name === "" || name === "boundedBy") return;
    const declared = attributeOf(element, "name") === null ? (this.elements.get(name) ?? element) : element;
    const typeName = localOf(attributeOf(declared, "type"));
    const isGeometry = geometryType.test(typeName);
    const width = { maxLength: null as number | null };
    const inline = declared.children.find(({ local }) => local === "complexType" || local === "simpleType");
    const type = isGeometry ? null : inline ? this.simpleTypeOf(inline, width, 0) : this.namedType(typeName, width, 0);
    const repeats = attributeOf(element, "maxOccurs");
    const isList = repeats !== null && repeats !== "1" && repeats !== "0";
    const known = found.findIndex((each) => each.name === name);
    const property: DeclaredProperty = {
      name,
      type: isList ? null : type,
      isGeometry,
      typeName,
      ...(width.maxLength === null || type !== "text" ? {} : { width: width.maxLength }),
    };
    if (known < 0) found.push(property);
    else found[known] = property;
  }

  private namedType(name: string, width: { maxLength: number | null }, derivations: number): FieldType | null {
    const own = this.types.get(name);
    if (own && derivations < maxDerivations) return this.simpleTypeOf(own, width, derivations + 1);
    return Object.hasOwn(simpleTypes, name) ? simpleTypes[name]! : null;
  }

  /** The type of a simple type, or of a complex one with simple content. */
  private simpleTypeOf(type: GmlElement, width: { maxLength: number | null }, derivations: number): FieldType | null {
    const content = type.local === "simpleType" ? type : type.children.find(({ local }) => local === "simpleContent");
    const derived = content?.children.find(({ local }) => local === "restriction" || local === "extension");
    if (!derived) return null;
    for (const facet of derived.children) {
      const value = Number(attributeOf(facet, "value"));
      if (facet.local === "maxLength" && Number.isInteger(value)) width.maxLength ??= value;
    }
    return this.namedType(localOf(attributeOf(derived, "base")), width, derivations);
  }
}

/** Parses a whole document. @throws input-corrupt, input-truncated */
export async function readXmlTree(
  file: SourceFile,
  source: string,
  context: Pick<ReadContext, "getTextDecoder" | "reportLoss" | "reportNotice" | "signal" | "skipErrors">,
): Promise<GmlElement> {
  const xml = new XmlReader(file, { source, context: { ...context, skipErrors: false }, vocabulary: {} });
  const builder = new ElementBuilder();
  for (;;) {
    const token = xml.next();
    if (token === XmlToken.more) await xml.fill();
    else if (token === XmlToken.open) builder.begin(xml);
    else if (token === XmlToken.text && builder.isOpen) builder.text(xml);
    else if (token === XmlToken.close) {
      const tree = builder.end();
      if (tree) return tree;
    }
  }
}

/** A file in memory. */
export function memoryFile(bytes: Buffer): SourceFile {
  return {
    size: bytes.length,
    async read(position, length, into) {
      const part = bytes.subarray(position, position + length);
      if (!into) return Buffer.from(part);
      into.set(part);
      return Buffer.from(into.buffer, into.byteOffset, part.length);
    },
    async close() {},
    async [Symbol.asyncDispose]() {},
  };
}
