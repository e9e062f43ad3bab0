/** Elements of other namespaces in the extensions of points and segments, made of the values that they were read as. */
import type { ElementStep } from "../../src/model/index.js";
import { attributeText, elementText } from "../shared/xml-text.js";
import { garminElements, type PointList } from "./point-elements.js";
import { declarationsOf, declaredBy, type Namespaces, prefixOf, within } from "./prefixes.js";
import { isShape, shapeText } from "./route-shape.js";
import { type VendorElement, vendorElements } from "./vendor-elements.js";

/** Where the members of the objects stood (`Field.members`). */
export type VendorSteps = Readonly<Record<string, readonly ElementStep[]>>;

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

const isPlain = (value: unknown): value is string | number =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value));

/** The texts that a value is, one for each time that the point has the element; null where it is anything else. */
function plainsOf(value: unknown): readonly (string | number)[] | null {
  if (isPlain(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isPlain) ? value : null;
}

/** Whether a value can be an element again. */
export const isVendorValue = (value: unknown, steps: readonly ElementStep[] | undefined): boolean =>
  plainsOf(value) !== null || isShape(value, steps);

/** The values at `index` of the lists as elements; empty where there are none. `declared` is what stands around them. */
export const vendorTextAt = ({ lists, elements }: VendorLists, index: number, declared: Namespaces): string =>
  elements.map((element) => textOf(element, lists, index, declared)).join("");

function textOf(element: VendorElement, lists: readonly PointList[], index: number, around: Namespaces): string {
  const { name, column, attributes, children } = element;
  const own = column < 0 ? null : lists[column]!.values[index];
  if (isShape(own, [element])) return shapeText(name, own);
  const texts = plainsOf(own) ?? [];
  const ofAttributes = attributes.map((each) => plainsOf(lists[each.column]!.values[index]) ?? []);
  const fresh = declaredBy(element, attributes, around);
  const inside = children.map((child) => textOf(child, lists, index, within(around, fresh))).join("");
  const count = Math.max(texts.length, inside === "" ? 0 : 1, ...ofAttributes.map(({ length }) => length));
  const declared = declarationsOf(fresh);
  let all = "";
  for (let n = 0; n < count; n++) {
    let tag = "";
    for (const [at, each] of attributes.entries()) {
      const value = ofAttributes[at]![n];
      if (value !== undefined) tag += ` ${each.name}="${attributeText(String(value))}"`;
    }
    const text = texts[n] === undefined ? "" : elementText(String(texts[n]));
    all += `<${name}${declared}${tag}>${text}${n === 0 ? inside : ""}</${name}>`;
  }
  return all;
}
