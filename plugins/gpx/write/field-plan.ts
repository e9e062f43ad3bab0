import type { Batch, BytesColumn, Column, Field } from "../../../src/model/index.js";
import { type TagPair, tagPair } from "../../shared/text/literal.js";
import { toElementName } from "../element-names.js";
import { coordinateField, gpxTypeField, gpxTypes, linksField, segmentField, standardFields } from "../elements.js";
import {
  buildVendorElements,
  isUnqualified,
  plainTagPair,
  type VendorElement,
  vendorColumnIndexes,
} from "./vendor-elements.js";

/** A field with an element of GPX, and the index of its column. */
export interface StandardColumn extends TagPair {
  readonly name: string;
  readonly column: number;
  /** Whether the schema has it after the links. */
  readonly afterLinks: boolean;
}

/** The elements that the fields of a batch are written as. */
export interface FieldPlan {
  readonly fields: readonly Field[];
  readonly columns: readonly Column[];
  /** For wpt, rte and trk: columns for the elements of the schema, in its order, and those for extensions. */
  readonly standards: readonly (readonly StandardColumn[])[];
  readonly others: readonly (readonly number[])[];
  /** Fields that came from elements of other namespaces in a GPX file, and are written as these. */
  readonly vendors: readonly VendorElement[];
  /** Those of them that have only a text: `tags` has their tags. */
  readonly plain: ReadonlySet<VendorElement>;
  /** Those that GPX 1.1 does not allow, or that contain such elements. */
  readonly unqualified: ReadonlySet<VendorElement>;
  /** The tags of each field in extensions. */
  readonly tags: readonly TagPair[];
  readonly type: Column | null;
  readonly links: BytesColumn | null;
  readonly linksIndex: number;
  readonly coordinates: BytesColumn | null;
  readonly coordinatesIndex: number;
  readonly segments: BytesColumn | null;
  readonly segmentsIndex: number;
}

/** Elements of GPX that hold a field with another name, where no field has their own name. */
const displayNames: readonly (readonly [element: string, names: RegExp])[] = [
  ["name", /^name$/i],
  ["desc", /^desc(ription)?$/i],
];

/** Returns the names of fields that are written as an element of GPX with another name, by that name. */
export function findDisplayFields(fields: readonly Pick<Field, "name" | "type">[]): ReadonlyMap<string, string> {
  const shown = new Map<string, string>();
  for (const [element, names] of displayNames) {
    if (fields.some(({ name }) => name === element)) continue;
    const field = fields.find(({ name, type }) => type === "text" && names.test(name));
    if (field) shown.set(element, field.name);
  }
  return shown;
}

const hasUnqualified = (element: VendorElement): boolean =>
  isUnqualified(element) || element.children.some(hasUnqualified);

const lastBeforeLinks = standardFields.findIndex(({ name }) => name === "src");

export function planFields({ fields, columns }: Batch): FieldPlan {
  const find = (name: string) => fields.findIndex((field) => field.name === name);
  const shown = findDisplayFields(fields);
  const json = (index: number) => {
    const column = columns[index];
    return column?.type === "json" ? column : null;
  };
  const typeIndex = find(gpxTypeField);
  const linksIndex = find(linksField);
  const coordinatesIndex = find(coordinateField);
  const segmentsIndex = find(segmentField);
  const special = new Set([typeIndex]);
  if (json(segmentsIndex)) special.add(segmentsIndex);
  if (json(linksIndex)) special.add(linksIndex);
  if (json(coordinatesIndex)) special.add(coordinatesIndex);
  const standards = gpxTypes.map((_, kind) =>
    standardFields.flatMap(({ name, of }, index) => {
      const column = of.some((each) => each === kind) ? find(shown.get(name) ?? name) : -1;
      if (column < 0) return [];
      return [{ name, column, ...tagPair(name), afterLinks: index > lastBeforeLinks }];
    }),
  );
  const vendors = buildVendorElements(fields);
  const vendorColumns = vendors.flatMap(vendorColumnIndexes);
  const others = standards.map((list) => {
    const taken = new Set([...list.map(({ column }) => column), ...vendorColumns]);
    return fields.flatMap((_, index) => (taken.has(index) || special.has(index) ? [] : [index]));
  });
  const tags = fields.map(({ name }) => tagPair(`geoferry:${toElementName(name)}`));
  const plain = new Set<VendorElement>();
  for (const element of vendors) {
    const own = plainTagPair(element, fields);
    if (!own) continue;
    tags[element.column] = own;
    plain.add(element);
  }
  const type = columns[typeIndex] ?? null;
  const links = json(linksIndex);
  const coordinates = json(coordinatesIndex);
  return {
    fields,
    columns,
    standards,
    others,
    plain,
    unqualified: new Set(vendors.filter(hasUnqualified)),
    vendors,
    tags,
    type,
    links,
    linksIndex,
    coordinates,
    coordinatesIndex,
    segments: json(segmentsIndex),
    segmentsIndex,
  };
}
