/** The properties of a feature: simple ones by path, nested ones as JSON. */
import { type GmlElement, isGmlNamespace, isNil, xsiNamespace } from "./element.js";
import { isGeometry } from "./geometry.js";

/** A value of a feature: the text of an element without children, or an attribute. */
export interface Leaf {
  /** Names joined by `_`: `address_street`; for an attribute with its name: `height_uom`. */
  readonly path: string;
  /** Null for `xsi:nil`. */
  readonly text: string | null;
}

/** Attributes that do not carry data: they belong to XML Schema and XLink. */
const schemaAttributes = new Set(["type", "schemaLocation", "nil", "noNamespaceSchemaLocation"]);
const linkNamespace = "http://www.w3.org/1999/xlink";
/** `xlink:type` and the like say how a link is followed, not where to. */
const linkAttributes = new Set(["href", "title"]);

function isData({ local, namespace }: GmlElement["attributes"][number]): boolean {
  // Ids of elements within a feature are for references.
  if (local === "id" && isGmlNamespace(namespace)) return false;
  if (namespace === xsiNamespace) return !schemaAttributes.has(local);
  return namespace !== linkNamespace || linkAttributes.has(local);
}

/** The geometry that a property of a feature is; undefined if it is none. */
export function geometryOf(property: GmlElement): GmlElement | undefined {
  const [child, other] = property.children;
  return child && !other && isGeometry(child) ? child : undefined;
}

/** Whether a property is the envelope that a collection or feature has besides its data. */
export const isBounds = ({ local, isGml }: GmlElement): boolean => local === "boundedBy" && isGml;

/** The `timePosition` that is all of a property (OGC 07-036r1, 14.2.2); undefined for others. */
function timeOf({ children }: GmlElement): GmlElement | undefined {
  const [child, other] = children;
  if (!child?.isGml || other) return undefined;
  if (child.local === "timePosition" && child.children.length === 0) return child;
  return child.local === "TimeInstant" ? timeOf(child) : undefined;
}

/** Adds the leaves in a property, which may be nested. @param onGeometry called for each geometry in it */
export function addLeaves(
  leaves: Leaf[],
  element: GmlElement,
  path: string,
  onGeometry: (path: string) => void,
): Leaf[] {
  for (const attribute of element.attributes)
    if (isData(attribute)) leaves.push({ path: `${path}_${attribute.local}`, text: attribute.value });
  const instant = timeOf(element);
  if (instant) {
    leaves.push({ path, text: isNil(element) ? null : instant.text });
    return leaves;
  }
  const { children } = element;
  if (children.length === 0) {
    const isLink =
      element.text === "" &&
      element.attributes.some(({ local, namespace }) => local === "href" && namespace === linkNamespace);
    if (!isLink) leaves.push({ path, text: isNil(element) ? null : element.text });
    return leaves;
  }
  if (element.text.trim() !== "") leaves.push({ path, text: element.text.trim() });
  for (const child of children) {
    if (isGeometry(child)) onGeometry(`${path}_${child.local}`);
    else addLeaves(leaves, child, `${path}_${child.local}`, onGeometry);
  }
  return leaves;
}

/**
 * A nested property as a value for JSON: text, or an object with attributes as `@name`, text beside them as `#text`, and
 * children by name, repeated ones as arrays. Geometries are left out.
 */
export function toJson(element: GmlElement): unknown {
  const attributes = element.attributes.filter(isData);
  const { children } = element;
  if (children.length === 0 && attributes.length === 0) return isNil(element) ? null : element.text;
  const object = new Map<string, unknown[]>();
  for (const { local, value } of attributes) object.set(`@${local}`, [value]);
  if (element.text.trim() !== "") object.set("#text", [children.length === 0 ? element.text : element.text.trim()]);
  for (const child of children) {
    if (isGeometry(child)) continue;
    const values = object.get(child.local);
    if (values) values.push(toJson(child));
    else object.set(child.local, [toJson(child)]);
  }
  return Object.fromEntries([...object].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}
