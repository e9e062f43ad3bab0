/** Elements of other namespaces in the extensions of points and segments, made of the values that they were read as. */
import type { XmlPathStep } from "../../../src/model/index.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { declarationsOf, declaredNamespaces, mergeNamespaces, type NamespaceMap, prefixOf } from "../prefixes.js";
import { isShapeList, isShapeName, writeShapePoints } from "../route-shape.js";
import { garminElements, type PointList } from "./point-elements.js";
import { buildVendorElements, type VendorElement } from "./vendor-elements.js";

/** Where the members of the objects stood (`Field.members`). */
export type VendorSteps = Readonly<Record<string, readonly XmlPathStep[]>>;

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
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

/**
 * The elements that lists are made into; in Garmin's extension, in the order of its schema.
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

/** They stand for geoferry's namespaces all over the file. */
const geoferryPrefixes: ReadonlySet<string> = new Set(["geoferry", "gf"]);

/** The prefixes of the elements that the values of a feature are made into, where each stands for one namespace. */
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

/** The texts that a value is, one for each time that the point has the element; null where it is anything else. */
function plainTexts(value: unknown): readonly (string | number)[] | null {
  if (isPlain(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isPlain) ? value : null;
}

/** Whether a value can be an element again. */
export const isVendorValue = (value: unknown, steps: readonly XmlPathStep[] | undefined): boolean =>
  isPlain(value) || plainTexts(value) !== null || (isShapeName(steps?.at(-1)?.name ?? "") && isShapeList(value));

/** The values at `index` of the lists as elements; empty where there are none. */
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

/** The same of one with attributes, or that the point has several times. */
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
