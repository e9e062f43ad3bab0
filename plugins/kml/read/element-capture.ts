/** Elements of a document that are kept as they are, with prefixes that our writer declares. */

import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import type { XmlName, XmlReader } from "../../shared/xml/reader.js";
import { atomNamespace, kmlNamespace, kmlNamespacePattern } from "../element-fields.js";

/** An element as it stands in a document of ours. */
export interface CapturedElement {
  /** With its prefix, which KML's own have none of. */
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Namespaces by prefix that it declares, beyond those of our documents. */
  readonly declared: ReadonlyMap<string, string>;
  readonly children: (CapturedElement | string)[];
}

/** What one element may have in characters, with all in it. */
const maxTextLength = 1 << 16;

const gxNamespacePattern = /google\.com\/kml\/ext/i;

/** Takes an element with all that is in it, token by token. */
export class ElementCapture {
  private readonly open: CapturedElement[] = [];
  private size = 0;

  /** The element that the reader opened last begins, which is KML's or not. */
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

  /** Ends the innermost element: the outermost one once that has ended, null where it is too long, else undefined. */
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
    // The prefixes of our documents mean something else there.
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

/** The name of an attribute in our documents, whose prefix is declared where they do not declare it. */
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

/** The element as text; `around` is what the elements around it declare. */
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

/** The text of a child, undefined where there is none. */
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
