import { type ColumnMetadata, type Field, type FieldType, uniqueName } from "../../../src/model/index.js";
import type { TargetLayer } from "../../../src/plugin/format.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { elementFields, geoferryNamespace, isElementField } from "../element-fields.js";

/** KML's own types (OGC 07-147r2, 9.8.4.2.1); the others travel as text, and the document says what they are. */
const kmlTypes: Readonly<Record<FieldType, string>> = {
  boolean: "bool",
  int32: "int",
  double: "double",
  int64: "string",
  text: "string",
  date: "string",
  time: "string",
  datetime: "string",
  binary: "string",
  json: "string",
};

/** What is written of a layer's fields before its features. */
export interface LayerSchema {
  /** The id of its Schema, an NCName. */
  readonly id: string;
  readonly fields: readonly Field[];
  /** The field of feature ids that cannot be the id of an element; null where there are no ids. */
  readonly idField: Field | null;
  /** What fields are called for people. */
  readonly titles: ReadonlyMap<string, string>;
}

/** A name of XML for a layer's Schema, another one for each name: what a name cannot have is told by its number. */
export const toSchemaId = (layerName: string): string =>
  `schema.${layerName.replace(/[^A-Za-z0-9-]/gu, (character) => `_${character.codePointAt(0)!.toString(16)}_`)}`;

export function createLayerSchema(layer: TargetLayer): LayerSchema {
  const fields = layer.fields ?? [];
  const idType = layer.summary?.idType ?? null;
  const idField = idType && {
    name: uniqueName("fid", new Set(fields.map((field) => field.name))),
    type: idType,
  };
  const titles = (layer.metadata?.columns ?? []).flatMap(({ column, title }) =>
    title === undefined ? [] : [[column, title] as const],
  );
  return { id: toSchemaId(layer.name), fields, idField, titles: new Map(titles) };
}

/** Reports what is said of columns beside a title, and of what are no fields here. */
export function reportDroppedColumns(
  { fields, metadata }: TargetLayer,
  lose: (column: string, what: string) => void,
): void {
  const { columns = [] } = metadata ?? {};
  if (columns.length === 0) return;
  const names = new Set((fields ?? []).map(({ name }) => name));
  for (const { column, ...said } of columns) {
    const isField = names.has(column);
    const lost = Object.entries(columnTerms).flatMap(([term, what]) => {
      const isHeld = term === "title" && isField;
      return said[term as keyof typeof said] === undefined || isHeld ? [] : [what];
    });
    if (lost.length > 0) lose(column, `the ${lost.join(", ")} of the column "${column}"`);
  }
}

const columnTerms = {
  name: "name for programs",
  title: "title",
  description: "description",
  mediaType: "media type",
  constraint: "rule for the values",
} as const satisfies Record<Exclude<keyof ColumnMetadata, "column">, string>;

/** Whether the type of a field can only be told by saying it. */
function needsGeoferryType({ name, type }: Field): boolean {
  if (isElementField(name)) return elementFields[name][0] !== type || type === "json";
  return kmlTypes[type] === "string" && type !== "text";
}

/** What goes into the ExtendedData of the document, each on a line: the types that KML does not have, and which field is the id. */
export function geoferryData(schemas: readonly LayerSchema[]): string {
  const elements = schemas.flatMap(({ id, fields, idField }) => [
    ...fields.filter(needsGeoferryType).map((field) => geoferryElement("field", id, field)),
    ...(idField ? [geoferryElement("id", id, idField)] : []),
  ]);
  return elements.map((element) => `${element}\n`).join("");
}

const geoferryElement = (element: string, schema: string, { name, type }: Field): string =>
  `<gf:${element} xmlns:gf="${geoferryNamespace}" schema="${schema}" name="${escapeAttribute(name)}" type="${type}"/>`;

/** Values that are put together at a time: strings of very many, all at once, take several times their text. */
const maxJoinedValues = 512;

function joinInChunks<T>(all: readonly T[], text: (one: T) => string): string {
  const parts: string[] = [];
  for (let from = 0; from < all.length; from += maxJoinedValues)
    parts.push(
      all
        .slice(from, from + maxJoinedValues)
        .map(text)
        .join(""),
    );
  return parts.join("");
}

/** The Schema of a layer, empty where it has no fields. */
export function writeSchema({ id, fields, idField, titles }: LayerSchema, layerName: string): string {
  const all = idField ? [...fields, idField] : fields;
  if (all.length === 0) return "";
  const text = ({ name, type }: Field): string => {
    const title = titles.get(name);
    const inner = title === undefined ? "" : `<displayName>${escapeElement(title)}</displayName>`;
    return `<SimpleField name="${escapeAttribute(name)}" type="${kmlTypes[type]}">${inner}</SimpleField>\n`;
  };
  return `<Schema name="${escapeAttribute(layerName)}" id="${id}">\n${joinInChunks(all, text)}</Schema>\n`;
}
