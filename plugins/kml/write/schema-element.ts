import { type ColumnMetadata, type Field, type FieldType, uniqueName } from "../../../src/model/index.js";
import type { TargetLayer } from "../../../src/plugin/format.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { elementFields, geoferryNamespace, isElementField } from "../element-fields.js";

/** KML's own types (OGC 07-147r2, 9.8.4.2.1); other types are written as text, and declared in the document. */
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

/** The declarations of a layer's fields, before its features. */
export interface LayerSchema {
  /** The id of its Schema, an NCName. */
  readonly id: string;
  readonly fields: readonly Field[];
  /** The field for feature ids that cannot be the id of an element; null for no ids. */
  readonly idField: Field | null;
  /** The display names of fields. */
  readonly titles: ReadonlyMap<string, string>;
}

/** Returns an XML name for a layer's Schema, different for each layer name: other characters become their code points. */
export const toSchemaId = (layerName: string): string =>
  `schema.${layerName.replace(/[^A-Za-z0-9-]/gu, (character) => `_${character.codePointAt(0)!.toString(16)}_`)}`;

export function createLayerSchema(layer: TargetLayer): LayerSchema {
  const fields = layer.fields ?? [];
  const idType = layer.summary?.idType ?? null;
  const taken = { has: (name: string) => fields.some((field) => field.name === name) };
  // Ids of several types are texts.
  const idField = idType && { name: uniqueName("fid", taken), type: idType === "json" ? ("text" as const) : idType };
  const titles = (layer.metadata?.columns ?? []).flatMap(({ column, title }) =>
    title === undefined ? [] : [[column, title] as const],
  );
  return { id: toSchemaId(layer.name), fields, idField, titles: new Map(titles) };
}

/** Reports metadata of columns other than titles, and of columns that are not fields. */
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

/** Whether the type of a field has to be declared. */
function needsGeoferryType({ name, type }: Field): boolean {
  if (isElementField(name)) return elementFields[name][0] !== type || type === "json";
  return kmlTypes[type] === "string" && type !== "text";
}

/** Returns geoferry's declarations for the ExtendedData of the document, one per line: types that KML does not have, and the id field. */
export function geoferryData(schemas: readonly LayerSchema[]): string {
  const elements = schemas.flatMap(({ id, fields, idField }) => [
    ...fields.filter(needsGeoferryType).map((field) => geoferryElement("field", id, field)),
    ...(idField ? [geoferryElement("id", id, idField)] : []),
  ]);
  return elements.map((element) => `${element}\n`).join("");
}

const geoferryElement = (element: string, schema: string, { name, type }: Field): string =>
  `<gf:${element} xmlns:gf="${geoferryNamespace}" schema="${schema}" name="${escapeAttribute(name)}" type="${type}"/>`;

/** The number of values joined at a time: joining very many at once takes several times their memory. */
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

/** Returns the Schema of a layer; empty for a layer without fields. */
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
