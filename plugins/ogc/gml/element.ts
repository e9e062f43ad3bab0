/** Elements of a feature in memory: a feature is small, and its parts are needed in another order than they are written. */
import { isSpace } from "../../shared/xml/bytes.js";
import type { XmlReader } from "../../shared/xml/reader.js";

export interface GmlAttribute {
  readonly local: string;
  /** Empty for none, null for a prefix that is not declared. */
  readonly namespace: string | null;
  readonly value: string;
}

export interface GmlElement {
  readonly local: string;
  /** Empty for none, null for a prefix that is not declared. */
  readonly namespace: string | null;
  readonly isGml: boolean;
  readonly attributes: readonly GmlAttribute[];
  readonly children: GmlElement[];
  /** The text between its tags, without that of its children. */
  text: string;
}

export const xsiNamespace = "http://www.w3.org/2001/XMLSchema-instance";
const gmlNamespace = /^http:\/\/www\.opengis\.net\/gml(\/|$)/;
/** Attributes whose values occur often, so that equal ones share a string. */
const frequentValues = new Set(["srsName", "srsDimension", "uom", "codeSpace", "nil", "nilReason"]);
const noAttributes: readonly GmlAttribute[] = [];

/** Whether a namespace is GML's, of any version. */
export const isGmlNamespace = (uri: string | null): boolean => uri !== null && gmlNamespace.test(uri);

/** The value of the attribute with this local name; null for none. */
export function attributeOf({ attributes }: GmlElement, local: string): string | null {
  for (const attribute of attributes) if (attribute.local === local) return attribute.value;
  return null;
}

/** The first child with this local name. */
export const childOf = ({ children }: GmlElement, local: string): GmlElement | undefined =>
  children.find((child) => child.local === local);

/** Whether `xsi:nil` is true (XML Schema 1.1, part 1, 2.7.2). */
export function isNil({ attributes }: GmlElement): boolean {
  const nil = attributes.find(({ local, namespace }) => local === "nil" && namespace === xsiNamespace)?.value.trim();
  return nil === "true" || nil === "1";
}

/** All text in an element, in order of the elements, for messages. */
export function allTextOf(element: GmlElement): string {
  const own = element.text.trim();
  return [own, ...element.children.map(allTextOf)].filter((text) => text !== "").join(" ");
}

/** The element opened last, without its content. */
export function elementOf(xml: XmlReader): GmlElement {
  const { name, attributes } = xml;
  const namespace = xml.namespace();
  let found: GmlAttribute[] | null = null;
  for (let a = 0; a < attributes.count; a++) {
    const attribute = attributes.names[a]!;
    if (attribute.isDeclaration) continue;
    found ??= [];
    found.push({
      local: attribute.local,
      namespace: xml.namespaceOf(attribute),
      value: frequentValues.has(attribute.local) ? attributes.keyword(a) : attributes.value(a),
    });
  }
  const isGml = isGmlNamespace(namespace) || (namespace === null && name.prefix === "gml");
  return { local: name.local, namespace, isGml, attributes: found ?? noAttributes, children: [], text: "" };
}

/** Whether the text token has only white space, and is not a CDATA section. */
function isBlank(xml: XmlReader): boolean {
  const { bytes, textFrom, textTo } = xml;
  for (let k = textFrom; k < textTo; k++) if (!isSpace(bytes[k]!)) return false;
  return !xml.isCdata;
}

/** Builds the tree of one element from the tokens of a reader. */
export class ElementBuilder {
  private readonly open: GmlElement[] = [];

  get isOpen(): boolean {
    return this.open.length > 0;
  }

  /** Begins with the element opened last, or adds it to the open one. */
  begin(xml: XmlReader): void {
    const element = elementOf(xml);
    this.open.at(-1)?.children.push(element);
    this.open.push(element);
  }

  text(xml: XmlReader): void {
    const { content } = xml;
    const element = this.open[this.open.length - 1]!;
    // Indentation of children is not content; blanks of a text are.
    if ((element.children.length > 0 || !xml.endsElement) && isBlank(xml)) return;
    content.clear();
    xml.collect();
    const text = content.bytes.toString("utf8", 0, content.length);
    element.text = element.text === "" ? text : element.text + text;
  }

  /** Ends the innermost element. @returns the whole tree if it is the outermost, else null */
  end(): GmlElement | null {
    const element = this.open.pop()!;
    if (element.text !== "" && /^\s*\n\s*$/.test(element.text)) element.text = "";
    return this.open.length === 0 ? element : null;
  }
}
