/** Elements of other namespaces in GPX's extensions (Garmin's gpxx, opencpn …), made of the fields that they were read as. */
import { type Column, type ElementStep, type Field, Presence, valueAt } from "../../src/model/index.js";
import { Literal, type Tags } from "../shared/literal.js";
import { attributeText, elementText } from "../shared/xml-text.js";
import { gpxNamespace } from "./elements.js";
import { declarationsOf, declaredBy, type Namespaces, noNamespaces, within } from "./prefixes.js";
import { textOf } from "./values.js";

/** An element, and the columns of its text and attributes, −1 where it has none. */
export interface VendorElement extends ElementStep {
  column: number;
  readonly attributes: (ElementStep & { readonly column: number })[];
  readonly children: VendorElement[];
}

/** The outermost elements of all fields that say where they stood. */
export function vendorElements(fields: readonly Field[]): VendorElement[] {
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
export const isUnqualified = ({ namespace }: ElementStep): boolean => namespace === "" || namespace === gpxNamespace;

/** Types whose values are written the same way whether in an element of their own or in one of ours. */
const plainTypes: ReadonlySet<string> = new Set(["text", "date", "time", "datetime", "int32"]);

/** The tags of an element that has nothing but a text; null of one that needs more work. */
export function plainTags(element: VendorElement, fields: readonly Field[]): Tags | null {
  const { name, column, attributes, children } = element;
  if (column < 0 || attributes.length > 0 || children.length > 0 || !plainTypes.has(fields[column]!.type)) return null;
  return {
    open: new Literal(`<${name}${declarationsOf(declaredBy(element, [], noNamespaces))}>`),
    close: new Literal(`</${name}>`),
  };
}

/** The columns that an element and those in it are made of. */
export const columnsOf = ({ column, attributes, children }: VendorElement): number[] => [
  ...(column < 0 ? [] : [column]),
  ...attributes.map((each) => each.column),
  ...children.flatMap(columnsOf),
];

const isThere = (columns: readonly Column[], index: number, row: number): boolean =>
  index >= 0 && columns[index]!.presence[row] === Presence.value;

/** The values of a field that is an array since features have its element several times; null of any other. */
function listOf(column: Column, row: number): string[] | null {
  if (column.type !== "json") return null;
  const value: unknown = JSON.parse(String(valueAt(column, row)));
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}

/** A value as text: XML's words for booleans. */
const wordOf = (column: Column, row: number): string =>
  column.type === "boolean" ? String(valueAt(column, row)) : (textOf(column, row) ?? String(valueAt(column, row)));

/** An element of a feature as XML; empty where the feature has nothing of it. */
export function vendorText(
  element: VendorElement,
  columns: readonly Column[],
  row: number,
  around: Namespaces = noNamespaces,
): string {
  const { name, column, attributes, children } = element;
  const own = [{ name: "", column }, ...attributes].filter((each) => isThere(columns, each.column, row));
  const fresh = declaredBy(element, attributes, around);
  const inside = children.map((child) => vendorText(child, columns, row, within(around, fresh))).join("");
  if (own.length === 0 && inside === "") return "";
  const texts = own.map((each) => listOf(columns[each.column]!, row) ?? [wordOf(columns[each.column]!, row)]);
  const declared = declarationsOf(fresh);
  const count = Math.max(1, ...texts.map((list) => list.length));
  return Array.from({ length: count }, (_, n) => {
    let tag = `<${name}${declared}`;
    let text = "";
    for (const [at, each] of own.entries()) {
      const value = texts[at]![n];
      if (value === undefined) continue;
      if (each.name === "") text = elementText(value);
      else tag += ` ${each.name}="${attributeText(value)}"`;
    }
    return `${tag}>${text}${n === 0 ? inside : ""}</${name}>`;
  }).join("");
}
