/** Reads layer and column metadata (OGC 12-128r19: 2.2.6, Annexes F.8 and F.9). */
import type {
  ColumnConstraint,
  ColumnMetadata,
  LayerMetadata,
  MetadataContent,
  MetadataDocument,
} from "../../../src/model/index.js";
import type { SqliteValue } from "../sqlite/values.js";
import { timeConstraint } from "./schema-sql.js";

/** A row of a metadata table, by lower-case column names. */
export type TableRow = ReadonlyMap<string, SqliteValue>;

export const layerMetadataTables = {
  contents: "gpkg_contents",
  dataColumns: "gpkg_data_columns",
  constraints: "gpkg_data_column_constraints",
  metadata: "gpkg_metadata",
  references: "gpkg_metadata_reference",
} as const;

export type MetadataRecords = Readonly<Record<keyof typeof layerMetadataTables, readonly TableRow[]>>;

const toTextOrUndefined = (value: SqliteValue | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
const toKey = (value: SqliteValue | undefined): string => (typeof value === "string" ? value.toLowerCase() : "");
const isTrue = (value: SqliteValue | undefined): boolean | null =>
  value === null || value === undefined ? null : Number(value) !== 0;

/** The bound of a range: a number, or its digits as text where JSON cannot hold the number exactly. */
function rangeBound(value: SqliteValue | undefined): number | string | null {
  if (typeof value === "number" || typeof value === "string") return value;
  if (typeof value !== "bigint") return null;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** Omits undefined members. */
const definedMembers = <T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;

function readConstraint(name: string, rows: readonly TableRow[]): ColumnConstraint | undefined {
  const own = rows.filter((row) => toKey(row.get("constraint_name")) === name.toLowerCase());
  if (own.length === 0) return undefined;
  return {
    name,
    rows: own.map((row) => ({
      type: toTextOrUndefined(row.get("constraint_type")) ?? "",
      value: toTextOrUndefined(row.get("value")) ?? null,
      min: rangeBound(row.get("min")),
      // Camel case in version 1.0.
      minInclusive: isTrue(row.get("min_is_inclusive") ?? row.get("minisinclusive")),
      max: rangeBound(row.get("max")),
      maxInclusive: isTrue(row.get("max_is_inclusive") ?? row.get("maxisinclusive")),
      description: toTextOrUndefined(row.get("description")) ?? null,
    })),
  };
}

/** Omits the entries that only mark a text column as JSON or times: the field type has that. */
function readColumnMetadata(row: TableRow, constraints: readonly TableRow[]): ColumnMetadata | null {
  const column = toTextOrUndefined(row.get("column_name"));
  if (column === undefined) return null;
  const name = toTextOrUndefined(row.get("constraint_name"));
  const found = definedMembers<ColumnMetadata>({
    column,
    name: toTextOrUndefined(row.get("name")),
    title: toTextOrUndefined(row.get("title")),
    description: toTextOrUndefined(row.get("description")),
    mediaType: toTextOrUndefined(row.get("mime_type")),
    constraint: name === undefined || name === timeConstraint.name ? undefined : readConstraint(name, constraints),
  });
  const isTypeOnly = found.mediaType === "application/json" && Object.keys(found).length === 2;
  return Object.keys(found).length === 1 || isTypeOnly ? null : found;
}

function readDocumentContent(id: SqliteValue | undefined, rows: readonly TableRow[]): MetadataContent | undefined {
  if (id === null || id === undefined) return undefined;
  const row = rows.find((each) => Number(each.get("id")) === Number(id));
  return (
    row && {
      scope: toTextOrUndefined(row.get("md_scope")) ?? "dataset",
      standard: toTextOrUndefined(row.get("md_standard_uri")) ?? "",
      mediaType: toTextOrUndefined(row.get("mime_type")) ?? "text/xml",
      text: toTextOrUndefined(row.get("metadata")) ?? "",
    }
  );
}

/** GDAL writes an empty document for a GeoJSON file without foreign members. */
const isEmptyGdalData = ({ standard, text }: MetadataContent): boolean =>
  standard === "http://gdal.org" &&
  (text.match(/<Metadata\b/g) ?? []).length === 1 &&
  /<MDI key="NATIVE_DATA">\s*\{\s*\}\s*<\/MDI>/.test(text);

function readDocument(reference: TableRow, rows: readonly TableRow[]): MetadataDocument | null {
  const content = readDocumentContent(reference.get("md_file_id"), rows);
  if (!content || isEmptyGdalData(content)) return null;
  const scope = toKey(reference.get("reference_scope"));
  return definedMembers<MetadataDocument>({
    ...content,
    column: scope === "column" ? toTextOrUndefined(reference.get("column_name")) : undefined,
    isOfFile: scope === "geopackage" ? true : undefined,
    time: toTextOrUndefined(reference.get("timestamp")),
    parent: readDocumentContent(reference.get("md_parent_id"), rows),
  });
}

/** The metadata of a table; metadata of the whole file goes to the first table. */
export function readLayerMetadata(
  table: string,
  isFirst: boolean,
  records: MetadataRecords,
): LayerMetadata | undefined {
  const isOwn = (row: TableRow) => toKey(row.get("table_name")) === table.toLowerCase();
  const contents = records.contents.find(isOwn);
  const title = toTextOrUndefined(contents?.get("identifier"));
  const documents = records.references.flatMap((reference): MetadataDocument[] => {
    const scope = toKey(reference.get("reference_scope"));
    const applies = scope === "geopackage" ? isFirst : isOwn(reference) && (scope === "table" || scope === "column");
    const document = applies ? readDocument(reference, records.metadata) : null;
    return document ? [document] : [];
  });
  const columns = records.dataColumns
    .filter(isOwn)
    .flatMap((row) => readColumnMetadata(row, records.constraints) ?? []);
  const metadata = definedMembers<LayerMetadata>({
    title: title === table ? undefined : title,
    description: toTextOrUndefined(contents?.get("description")),
    documents: documents.length > 0 ? documents : undefined,
    columns: columns.length > 0 ? columns : undefined,
  });
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}

/** Counts metadata documents about single rows, about tables that are not layers, or without a reference. */
export function countDroppedDocuments(layers: readonly string[], { metadata, references }: MetadataRecords): number {
  const tables = new Set(layers.map((name) => name.toLowerCase()));
  const carried = new Set<number>();
  const lost = new Set<number>();
  for (const reference of references) {
    const scope = toKey(reference.get("reference_scope"));
    const isLayer = tables.has(toKey(reference.get("table_name")));
    const isCarried = scope === "geopackage" || (isLayer && (scope === "table" || scope === "column"));
    (isCarried ? carried : lost).add(Number(reference.get("md_file_id")));
    const parent = reference.get("md_parent_id");
    if (isCarried && parent !== null && parent !== undefined) carried.add(Number(parent));
  }
  const orphans = metadata.filter((row) => !carried.has(Number(row.get("id"))) && !lost.has(Number(row.get("id"))));
  return lost.size + orphans.length;
}
