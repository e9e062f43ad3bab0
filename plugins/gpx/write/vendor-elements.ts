/** Writes fields that came from extension elements of other namespaces (Garmin's gpxx, opencpn …) as these elements. */
import { type Column, type Field, Presence, valueAt, type XmlPathStep } from "../../../src/model/index.js";
import { EncodedText, type TagPair } from "../../shared/text/literal.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { gpxNamespace } from "../elements.js";
import { declarationsOf, declaredNamespaces, mergeNamespaces, type NamespaceMap, noNamespaces } from "../prefixes.js";
import { schemaTextOf } from "./values.js";

/** An element with the columns of its text and attributes, −1 for none. */
export interface VendorElement extends XmlPathStep {
  column: number;
  readonly attributes: (XmlPathStep & { readonly column: number })[];
  readonly children: VendorElement[];
}

/** Returns the outermost elements of all fields with an element path. */
export function buildVendorElements(fields: readonly Field[]): VendorElement[] {
  const roots: VendorElement[] = [];
  for (const [column, { element: steps }] of fields.entries()) {
    let siblings = roots;
    let last: VendorElement | undefined;
    for (const { name, namespace, isAttribute } of steps ?? []) {
      if (isAttribute) {
        last?.attributes.push({ name, namespace, column });
        last = undefined;
        break;
      }
      let element = siblings.find((each) => each.name === name && each.namespace === namespace);
      if (!element) {
        element = { name, namespace, column: -1, attributes: [], children: [] };
        siblings.push(element);
      }
      last = element;
      siblings = element.children;
    }
    if (last) last.column = column;
  }
  return roots;
}

/** Whether GPX 1.1 does not allow the element in extensions, because its namespace is GPX's or none. */
export const isUnqualified = ({ namespace }: XmlPathStep): boolean => namespace === "" || namespace === gpxNamespace;

/** Types whose values have the same text in a vendor's element and in one of geoferry's. */
const plainTypes: ReadonlySet<string> = new Set(["text", "date", "time", "datetime", "int32"]);

/** Returns the tags of an element that has only a text; null for other elements. */
export function plainTagPair(element: VendorElement, fields: readonly Field[]): TagPair | null {
  const { name, column, attributes, children } = element;
  if (column < 0 || attributes.length > 0 || children.length > 0 || !plainTypes.has(fields[column]!.type)) return null;
  return {
    open: new EncodedText(`<${name}${declarationsOf(declaredNamespaces(element, [], noNamespaces))}>`),
    close: new EncodedText(`</${name}>`),
  };
}

/** Returns the columns of an element and of its descendants. */
export const vendorColumnIndexes = ({ column, attributes, children }: VendorElement): number[] => [
  ...(column < 0 ? [] : [column]),
  ...attributes.map((each) => each.column),
  ...children.flatMap(vendorColumnIndexes),
];

const hasValue = (columns: readonly Column[], index: number, row: number): boolean =>
  index >= 0 && columns[index]!.presence[row] === Presence.value;

/** Returns the values of an array field, whose element occurs several times; null for other fields. */
function parseValueList(column: Column, row: number): string[] | null {
  if (column.type !== "json") return null;
  const value: unknown = JSON.parse(String(valueAt(column, row)));
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}

/** Returns a value as text, with the boolean words of XML Schema. */
const toXmlText = (column: Column, row: number): string =>
  column.type === "boolean"
    ? String(valueAt(column, row))
    : (schemaTextOf(column, row) ?? String(valueAt(column, row)));

/** Returns an element of a feature as XML; empty where the feature has no value for it. */
export function writeVendorElement(
  element: VendorElement,
  columns: readonly Column[],
  row: number,
  around: NamespaceMap = noNamespaces,
): string {
  const { name, column, attributes, children } = element;
  const own = [{ name: "", column }, ...attributes].filter((each) => hasValue(columns, each.column, row));
  const fresh = declaredNamespaces(element, attributes, around);
  const inside = children
    .map((child) => writeVendorElement(child, columns, row, mergeNamespaces(around, fresh)))
    .join("");
  if (own.length === 0 && inside === "") return "";
  const texts = own.map(
    (each) => parseValueList(columns[each.column]!, row) ?? [toXmlText(columns[each.column]!, row)],
  );
  const declared = declarationsOf(fresh);
  const count = Math.max(1, ...texts.map((list) => list.length));
  return Array.from({ length: count }, (_, n) => {
    let tag = `<${name}${declared}`;
    let text = "";
    for (const [at, each] of own.entries()) {
      const value = texts[at]![n];
      if (value === undefined) continue;
      if (each.name === "") text = escapeElement(value);
      else tag += ` ${each.name}="${escapeAttribute(value)}"`;
    }
    return `${tag}>${text}${n === 0 ? inside : ""}</${name}>`;
  }).join("");
}
