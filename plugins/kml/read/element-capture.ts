/** Captures elements of a document unchanged, with the prefixes that the writer declares. */

import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import type { XmlName, XmlReader } from "../../shared/xml/reader.js";
import { atomNamespace, kmlNamespace, kmlNamespacePattern } from "../element-fields.js";

/** An element as the writer writes it. */
export interface CapturedElement {
  /** The name with its prefix; KML's own elements have none. */
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Namespaces by prefix that it declares, in addition to those of the writer's documents. */
  readonly declared: ReadonlyMap<string, string>;
  readonly children: (CapturedElement | string)[];
}

/** The maximum length of an element with its content, in characters. */
const maxTextLength = 1 << 16;

const gxNamespacePattern = /google\.com\/kml\/ext/i;

/** Captures an element with its content, token by token. */
export class ElementCapture {
  private readonly open: CapturedElement[] = [];
  private size = 0;

  /** Begins the element that the reader opened last. @param isKml whether it is KML's */
  begin(xml: XmlReader, isKml: boolean): void {
    const parent = this.open.at(-1);
    if (!parent) this.size = 0;
    const element = captureElement(xml, isKml);
    this.size +=
      element.name.length + element.attributes.reduce((sum, pair) => sum + pair[0].length + pair[1].length, 8);
    parent?.children.push(element);
    this.open.push(element);
  }

  text(text: string): void {
    this.size += text.length;
    if (text.trim() !== "" && this.size <= maxTextLength) this.open.at(-1)?.children.push(text);
  }

  /** Ends the innermost element. @returns the outermost element at its end, or null if that is too long; else undefined */
  end(): CapturedElement | null | undefined {
    const element = this.open.pop();
    if (this.open.length > 0) return undefined;
    return this.size <= maxTextLength ? element! : null;
  }
}

function captureElement(xml: XmlReader, isKml: boolean): CapturedElement {
  const { name } = xml;
  const namespace = xml.namespace();
  const declared = new Map<string, string>();
  let written = name.local;
  if (namespace === atomNamespace || (namespace === null && name.prefix === "atom")) written = `atom:${name.local}`;
  else if ((namespace !== null && gxNamespacePattern.test(namespace)) || (namespace === null && name.prefix === "gx")) {
    written = `gx:${name.local}`;
  } else if (!isKml) {
    // The writer's documents declare these prefixes for other namespaces.
    const prefix = reservedPrefixes.has(name.prefix) ? `${name.prefix}1` : name.prefix;
    declared.set(prefix, namespace ?? "");
    written = prefix === "" ? name.local : `${prefix}:${name.local}`;
  }
  const attributes: (readonly [string, string])[] = [];
  for (let a = 0; a < xml.attributes.count; a++) {
    const attribute = xml.attributes.names[a]!;
    if (!attribute.isDeclaration)
      attributes.push([qualifiedAttributeName(xml, attribute, declared), xml.attributes.value(a)]);
  }
  return { name: written, attributes, declared, children: [] };
}

/** Returns the name of an attribute in the writer's documents, and adds a declaration of its prefix where they have none. */
function qualifiedAttributeName(xml: XmlReader, attribute: XmlName, declared: Map<string, string>): string {
  const { text, local, prefix } = attribute;
  const namespace = xml.namespaceOf(attribute);
  if (prefix === "" || prefix === "xml") return text;
  if (namespace === atomNamespace) return `atom:${local}`;
  if (namespace !== null && gxNamespacePattern.test(namespace)) return `gx:${local}`;
  if (namespace === null ? prefix === "kml" : kmlNamespacePattern.test(namespace)) return local;
  const own = reservedPrefixes.has(prefix) ? `${prefix}1` : prefix;
  declared.set(own, namespace ?? `urn:undeclared:${prefix}`);
  return `${own}:${local}`;
}

const reservedPrefixes: ReadonlySet<string> = new Set(["gx", "atom", "gf"]);

const noNamespaces: ReadonlyMap<string, string> = new Map();

/** Serializes an element. @param around the namespaces that the elements around it declare */
export function serializeCaptured(
  { name, attributes, declared, children }: CapturedElement,
  around = noNamespaces,
): string {
  const fresh = [...declared].filter(([prefix, namespace]) => around.get(prefix) !== namespace);
  const outside = around.get("");
  const isOwn = !name.includes(":") && !declared.has("");
  if (isOwn && outside !== undefined && outside !== kmlNamespace) fresh.push(["", kmlNamespace]);
  const inside = fresh.length > 0 ? new Map([...around, ...fresh]) : around;
  const namespaces = fresh.map(([prefix, namespace]) =>
    prefix === "" ? ` xmlns="${escapeAttribute(namespace)}"` : ` xmlns:${prefix}="${escapeAttribute(namespace)}"`,
  );
  const pairs = attributes.map(([key, value]) => ` ${key}="${escapeAttribute(value)}"`);
  const text = children.map((child) =>
    typeof child === "string" ? escapeElement(child) : serializeCaptured(child, inside),
  );
  return `<${name}${namespaces.join("")}${pairs.join("")}>${text.join("")}</${name}>`;
}

export const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

/** Returns the text of a child; undefined for none. */
export function readChildText({ children }: CapturedElement, local: string): string | undefined {
  const child = children.find((each) => typeof each !== "string" && localName(each.name) === local);
  if (child === undefined || typeof child === "string") return undefined;
  return (
    child.children
      .filter((each) => typeof each === "string")
      .join("")
      .trim() || undefined
  );
}
