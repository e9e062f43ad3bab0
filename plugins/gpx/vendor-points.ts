/** Elements of other namespaces in the extensions of points and segments, made of the values that they were read as. */
import type { ElementStep } from "../../src/model/index.js";
import { attributeText, elementText } from "../shared/xml-text.js";
import { garminElements, type PointList } from "./point-elements.js";
import { declarationOf, prefixOf, type VendorElement, vendorElements } from "./vendor-elements.js";

/** Where the members of the objects stood (`Field.members`). */
export type VendorSteps = Readonly<Record<string, readonly ElementStep[]>>;

/** Namespaces by prefix. */
export type Namespaces = ReadonlyMap<string, string>;

/** Lists whose values are elements of other namespaces, and these. */
export interface VendorLists {
  readonly lists: readonly PointList[];
  readonly elements: readonly VendorElement[];
}

const garminOrder = garminElements.map(([, element]) => element);
const localOf = (name: string): string => name.slice(name.indexOf(":") + 1);

/** The elements that lists are made into; in Garmin's extension, in the order of its schema. */
export function vendorListsOf(lists: readonly PointList[], steps: VendorSteps): VendorLists {
  const elements = vendorElements(lists.map(({ key }) => ({ name: key, type: "json", element: steps[key]! })));
  const rank = ({ name }: VendorElement) =>
    (garminOrder.indexOf(localOf(name)) + garminOrder.length + 1) % (garminOrder.length + 1);
  for (const { name, children } of elements) {
    if (localOf(name) === "TrackPointExtension") children.sort((a, b) => rank(a) - rank(b));
  }
  return { lists, elements };
}

/** They stand for geoferry's namespaces all over the file. */
const ownPrefixes: ReadonlySet<string> = new Set(["geoferry", "gf"]);

/** The prefixes of the elements that the values of a feature are made into, where each stands for one namespace. */
export function prefixesOf(lists: readonly PointList[], steps: VendorSteps): Map<string, string> {
  const namespaces = new Map<string, string>();
  for (const { key } of lists) {
    for (const { name, namespace, isAttribute } of steps[key] ?? []) {
      const prefix = prefixOf(name);
      if (prefix !== "" && !isAttribute && !ownPrefixes.has(prefix) && !namespaces.has(prefix))
        namespaces.set(prefix, namespace);
    }
  }
  return namespaces;
}

/** The attributes that declare prefixes. */
export const declarationsOf = (namespaces: Namespaces): string =>
  [...namespaces].map(([prefix, namespace]) => ` xmlns:${prefix}="${attributeText(namespace)}"`).join("");

/** Whether a value can be the text of an element. */
export const isPlain = (value: unknown): value is string | number =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value));

/** The values at `index` of the lists as elements; empty where there are none. `declared` is what stands around them. */
export const vendorTextAt = ({ lists, elements }: VendorLists, index: number, declared: Namespaces): string =>
  elements.map((element) => textOf(element, lists, index, declared)).join("");

function textOf(element: VendorElement, lists: readonly PointList[], index: number, declared: Namespaces): string {
  const { name, namespace, column, attributes, children } = element;
  const prefix = prefixOf(name);
  const isDeclared = declared.get(prefix) === namespace;
  const inside = isDeclared ? declared : new Map(declared).set(prefix, namespace);
  let tag = "";
  for (const { name: attribute, column: of } of attributes) {
    const value = lists[of]!.values[index];
    if (isPlain(value)) tag += ` ${attribute}="${attributeText(String(value))}"`;
  }
  const own = column < 0 ? null : lists[column]!.values[index];
  let text = isPlain(own) ? elementText(String(own)) : "";
  for (const child of children) text += textOf(child, lists, index, inside);
  if (text === "" && tag === "" && !isPlain(own)) return "";
  return `<${name}${isDeclared ? "" : declarationOf({ name, namespace })}${tag}>${text}</${name}>`;
}
