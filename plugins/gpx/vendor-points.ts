/** Elements of other namespaces in the extensions of points and segments, made of the values that they were read as. */
import type { ElementStep } from "../../src/model/index.js";
import { attributeText, elementText } from "../shared/xml-text.js";
import { garminElements, type PointList } from "./point-elements.js";
import { declarationsOf, declaredBy, type Namespaces, prefixOf, within } from "./prefixes.js";
import { isShapeList, isShapeName, shapeText } from "./route-shape.js";
import { type VendorElement, vendorElements } from "./vendor-elements.js";

/** Where the members of the objects stood (`Field.members`). */
export type VendorSteps = Readonly<Record<string, readonly ElementStep[]>>;

/** An element as it stands in a line: with the prefixes that it declares there. */
interface PlacedElement {
  readonly name: string;
  /** `<name` with its declarations. */
  readonly opening: string;
  readonly closing: string;
  /** Its list, −1 where it has none of its own. */
  readonly column: number;
  readonly isShape: boolean;
  readonly attributes: VendorElement["attributes"];
  readonly children: readonly PlacedElement[];
}

/** Lists whose values are elements of other namespaces, and these. */
export interface VendorLists {
  readonly lists: readonly PointList[];
  readonly elements: readonly PlacedElement[];
}

const garminOrder = garminElements.map(([, element]) => element);
const localOf = (name: string): string => name.slice(name.indexOf(":") + 1);

/**
 * The elements that lists are made into; in Garmin's extension, in the order of its schema.
 * @param declared the prefixes that are declared around them
 */
export function vendorListsOf(lists: readonly PointList[], steps: VendorSteps, declared: Namespaces): VendorLists {
  const elements = vendorElements(lists.map(({ key }) => ({ name: key, type: "json", element: steps[key]! })));
  const rank = ({ name }: VendorElement) =>
    (garminOrder.indexOf(localOf(name)) + garminOrder.length + 1) % (garminOrder.length + 1);
  for (const { name, children } of elements) {
    if (localOf(name) === "TrackPointExtension") children.sort((a, b) => rank(a) - rank(b));
  }
  return { lists, elements: elements.map((element) => placed(element, declared)) };
}

function placed(element: VendorElement, around: Namespaces): PlacedElement {
  const { name, column, attributes, children } = element;
  const fresh = declaredBy(element, attributes, around);
  return {
    name,
    opening: `<${name}${declarationsOf(fresh)}`,
    closing: `</${name}>`,
    column,
    isShape: isShapeName(name),
    attributes,
    children: children.map((child) => placed(child, within(around, fresh))),
  };
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
  isPlain(value) || plainsOf(value) !== null || (isShapeName(steps?.at(-1)?.name ?? "") && isShapeList(value));

/** The values at `index` of the lists as elements; empty where there are none. */
export function vendorTextAt({ lists, elements }: VendorLists, index: number): string {
  let text = "";
  for (const element of elements) text += textOf(element, lists, index);
  return text;
}

function textOf(element: PlacedElement, lists: readonly PointList[], index: number): string {
  const { name, opening, closing, column, attributes, children } = element;
  const own = column < 0 ? null : lists[column]!.values[index];
  if (element.isShape && isShapeList(own)) return shapeText(name, own);
  let inside = "";
  for (const child of children) inside += textOf(child, lists, index);
  if (attributes.length > 0 || Array.isArray(own)) return several(element, lists, index, inside);
  const text = isPlain(own) ? elementText(String(own)) : null;
  return text === null && inside === "" ? "" : `${opening}>${text ?? ""}${inside}${closing}`;
}

/** The same of one with attributes, or that the point has several times. */
function several(element: PlacedElement, lists: readonly PointList[], index: number, inside: string): string {
  const { opening, closing, column, attributes } = element;
  const texts = (column < 0 ? null : plainsOf(lists[column]!.values[index])) ?? [];
  const ofAttributes = attributes.map((each) => plainsOf(lists[each.column]!.values[index]) ?? []);
  const count = Math.max(texts.length, inside === "" ? 0 : 1, ...ofAttributes.map(({ length }) => length));
  let all = "";
  for (let n = 0; n < count; n++) {
    let tag = opening;
    for (const [at, each] of attributes.entries()) {
      const value = ofAttributes[at]![n];
      if (value !== undefined) tag += ` ${each.name}="${attributeText(String(value))}"`;
    }
    const text = texts[n] === undefined ? "" : elementText(String(texts[n]));
    all += `${tag}>${text}${n === 0 ? inside : ""}${closing}`;
  }
  return all;
}
