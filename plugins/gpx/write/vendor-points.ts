/** Writes values of points and segments that came from extension elements of other namespaces as these elements. */
import type { XmlPathStep } from "../../../src/model/index.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { declarationsOf, declaredNamespaces, mergeNamespaces, type NamespaceMap, prefixOf } from "../prefixes.js";
import { isShapeList, isShapeName, writeShapePoints } from "../route-shape.js";
import { garminElements, type PointList } from "./point-elements.js";
import { buildVendorElements, type VendorElement } from "./vendor-elements.js";

/** The elements that members of the objects came from (`Field.members`). */
export type VendorSteps = Readonly<Record<string, readonly XmlPathStep[]>>;

/** An element in a line, with the prefixes that it declares. */
interface PlacedElement {
  readonly name: string;
  /** `<name` with its declarations. */
  readonly opening: string;
  readonly closing: string;
  /** The index of its list, −1 for none. */
  readonly column: number;
  readonly isShape: boolean;
  readonly attributes: VendorElement["attributes"];
  readonly children: readonly PlacedElement[];
}

/** Lists whose values came from elements of other namespaces, with these elements. */
export interface VendorLists {
  readonly lists: readonly PointList[];
  readonly elements: readonly PlacedElement[];
}

const garminOrder = garminElements.map(([, element]) => element);
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

/**
 * Returns the elements to write lists as; within Garmin's extension, in the order of its schema.
 * @param declared the prefixes that are declared around them
 */
export function createVendorLists(
  lists: readonly PointList[],
  steps: VendorSteps,
  declared: NamespaceMap,
): VendorLists {
  const elements = buildVendorElements(lists.map(({ key }) => ({ name: key, type: "json", element: steps[key]! })));
  const rank = ({ name }: VendorElement) =>
    (garminOrder.indexOf(localName(name)) + garminOrder.length + 1) % (garminOrder.length + 1);
  for (const { name, children } of elements) {
    if (localName(name) === "TrackPointExtension") children.sort((a, b) => rank(a) - rank(b));
  }
  return { lists, elements: elements.map((element) => placeElement(element, declared)) };
}

function placeElement(element: VendorElement, around: NamespaceMap): PlacedElement {
  const { name, column, attributes, children } = element;
  const fresh = declaredNamespaces(element, attributes, around);
  return {
    name,
    opening: `<${name}${declarationsOf(fresh)}`,
    closing: `</${name}>`,
    column,
    isShape: isShapeName(name),
    attributes,
    children: children.map((child) => placeElement(child, mergeNamespaces(around, fresh))),
  };
}

/** Prefixes that the whole file declares for geoferry's namespaces. */
const geoferryPrefixes: ReadonlySet<string> = new Set(["geoferry", "gf"]);

/** Returns the prefixes of the elements to write a feature's values as, where each has one namespace. */
export function collectPrefixes(lists: readonly PointList[], steps: VendorSteps): Map<string, string> {
  const namespaces = new Map<string, string>();
  for (const { key } of lists) {
    for (const { name, namespace, isAttribute } of steps[key] ?? []) {
      const prefix = prefixOf(name);
      if (prefix !== "" && !isAttribute && !geoferryPrefixes.has(prefix) && !namespaces.has(prefix))
        namespaces.set(prefix, namespace);
    }
  }
  return namespaces;
}

const isPlain = (value: unknown): value is string | number =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value));

/** Returns the texts of a value, one for each occurrence of the element; null for a value that is neither text nor a number. */
function plainTexts(value: unknown): readonly (string | number)[] | null {
  if (isPlain(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isPlain) ? value : null;
}

/** Whether a value can be written as an element. */
export const isVendorValue = (value: unknown, steps: readonly XmlPathStep[] | undefined): boolean =>
  isPlain(value) || plainTexts(value) !== null || (isShapeName(steps?.at(-1)?.name ?? "") && isShapeList(value));

/** Returns the values at `index` of the lists as elements; empty for none. */
export function writeVendorAt({ lists, elements }: VendorLists, index: number): string {
  let text = "";
  for (const element of elements) text += writePlaced(element, lists, index);
  return text;
}

function writePlaced(element: PlacedElement, lists: readonly PointList[], index: number): string {
  const { name, opening, closing, column, attributes, children } = element;
  const own = column < 0 ? null : lists[column]!.values[index];
  if (element.isShape && isShapeList(own)) return writeShapePoints(name, own);
  let inside = "";
  for (const child of children) inside += writePlaced(child, lists, index);
  if (attributes.length > 0 || Array.isArray(own)) return writeRepeated(element, lists, index, inside);
  const text = isPlain(own) ? escapeElement(String(own)) : null;
  return text === null && inside === "" ? "" : `${opening}>${text ?? ""}${inside}${closing}`;
}

/** Returns the elements of a value with attributes, or that the point has several times. */
function writeRepeated(element: PlacedElement, lists: readonly PointList[], index: number, inside: string): string {
  const { opening, closing, column, attributes } = element;
  const texts = (column < 0 ? null : plainTexts(lists[column]!.values[index])) ?? [];
  const ofAttributes = attributes.map((each) => plainTexts(lists[each.column]!.values[index]) ?? []);
  const count = Math.max(texts.length, inside === "" ? 0 : 1, ...ofAttributes.map(({ length }) => length));
  let all = "";
  for (let n = 0; n < count; n++) {
    let tag = opening;
    for (const [at, each] of attributes.entries()) {
      const value = ofAttributes[at]![n];
      if (value !== undefined) tag += ` ${each.name}="${escapeAttribute(String(value))}"`;
    }
    const text = texts[n] === undefined ? "" : escapeElement(String(texts[n]));
    all += `${tag}>${text}${n === 0 ? inside : ""}${closing}`;
  }
  return all;
}
