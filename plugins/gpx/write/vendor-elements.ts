/** Elements of other namespaces in GPX's extensions (Garmin's gpxx, opencpn …), made of the fields that they were read as. */
import { type Column, type Field, Presence, valueAt, type XmlPathStep } from "../../../src/model/index.js";
import { EncodedText, type TagPair } from "../../shared/text/literal.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { gpxNamespace } from "../elements.js";
import { declarationsOf, declaredNamespaces, mergeNamespaces, type NamespaceMap, noNamespaces } from "../prefixes.js";
import { schemaTextOf } from "./values.js";

/** An element, and the columns of its text and attributes, −1 where it has none. */
export interface VendorElement extends XmlPathStep {
  column: number;
  readonly attributes: (XmlPathStep & { readonly column: number })[];
  readonly children: VendorElement[];
}

/** The outermost elements of all fields that say where they stood. */
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

/** Whether GPX 1.1 has no such element in extensions: one of its own namespace, or of none. */
export const isUnqualified = ({ namespace }: XmlPathStep): boolean => namespace === "" || namespace === gpxNamespace;

/** Types whose values are written the same way whether in an element of their own or in one of ours. */
const plainTypes: ReadonlySet<string> = new Set(["text", "date", "time", "datetime", "int32"]);

/** The tags of an element that has nothing but a text; null of one that needs more work. */
export function plainTagPair(element: VendorElement, fields: readonly Field[]): TagPair | null {
  const { name, column, attributes, children } = element;
  if (column < 0 || attributes.length > 0 || children.length > 0 || !plainTypes.has(fields[column]!.type)) return null;
  return {
    open: new EncodedText(`<${name}${declarationsOf(declaredNamespaces(element, [], noNamespaces))}>`),
    close: new EncodedText(`</${name}>`),
  };
}

/** The columns that an element and those in it are made of. */
export const vendorColumnIndexes = ({ column, attributes, children }: VendorElement): number[] => [
  ...(column < 0 ? [] : [column]),
  ...attributes.map((each) => each.column),
  ...children.flatMap(vendorColumnIndexes),
];

const hasValue = (columns: readonly Column[], index: number, row: number): boolean =>
  index >= 0 && columns[index]!.presence[row] === Presence.value;

/** The values of a field that is an array since features have its element several times; null of any other. */
function parseValueList(column: Column, row: number): string[] | null {
  if (column.type !== "json") return null;
  const value: unknown = JSON.parse(String(valueAt(column, row)));
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}

/** A value as text: XML's words for booleans. */
const toXmlText = (column: Column, row: number): string =>
  column.type === "boolean"
    ? String(valueAt(column, row))
    : (schemaTextOf(column, row) ?? String(valueAt(column, row)));

/** An element of a feature as XML; empty where the feature has nothing of it. */
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
