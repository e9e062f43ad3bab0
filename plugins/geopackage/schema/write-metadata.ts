/** Writes the metadata of a layer into the tables of the metadata and schema extensions. */

import type { ColumnConstraint, ColumnMetadata, MetadataContent, MetadataDocument } from "../../../src/model/index.js";
import type { Database } from "../../../src/sqlite/index.js";

/** Inserts a document, or reuses an equal one. @returns its id */
function insertContent(database: Database, { scope, standard, mediaType, text }: MetadataContent): bigint | number {
  const known = database
    .prepare<unknown[], { id: bigint }>(
      "SELECT id FROM gpkg_metadata WHERE md_scope = ? AND md_standard_uri = ? AND mime_type = ? AND metadata = ?",
    )
    .get(scope, standard, mediaType, text);
  if (known) return known.id;
  return database
    .prepare("INSERT INTO gpkg_metadata (md_scope, md_standard_uri, mime_type, metadata) VALUES (?, ?, ?, ?)")
    .run(scope, standard, mediaType, text).lastInsertRowid;
}

/** @param now timestamp of references that have none */
export function insertDocument(database: Database, table: string, document: MetadataDocument, now: Date): void {
  const { column, isOfFile = false, time, parent } = document;
  const scope = isOfFile ? "geopackage" : column === undefined ? "table" : "column";
  const values = [scope, isOfFile ? null : table, isOfFile ? null : (column ?? null)];
  const id = insertContent(database, document);
  const above = parent ? insertContent(database, parent) : null;
  const known = database
    .prepare(
      "SELECT 1 FROM gpkg_metadata_reference WHERE reference_scope = ? AND table_name IS ? AND column_name IS ? AND md_file_id = ?",
    )
    .get(...values, id);
  if (known !== undefined) return;
  database
    .prepare(
      "INSERT INTO gpkg_metadata_reference (reference_scope, table_name, column_name, row_id_value, timestamp, md_file_id, md_parent_id) VALUES (?, ?, ?, NULL, ?, ?, ?)",
    )
    .run(...values, time ?? now.toISOString(), id, above);
}

interface ConstraintRow {
  readonly constraint_type: string;
  readonly value: string | null;
  readonly min: number | bigint | string | null;
  readonly max: number | bigint | string | null;
}

/** Appends a number to the name of a constraint if a different constraint has it. */
function uniqueConstraintName(database: Database, { name, rows }: ColumnConstraint): { name: string; isNew: boolean } {
  const wanted = JSON.stringify(rows.map(({ type, value, min, max }) => [type, value, min, max].map(String)).sort());
  const rowsOf = database.prepare<[string], ConstraintRow>(
    "SELECT constraint_type, value, min, max FROM gpkg_data_column_constraints WHERE constraint_name = ?",
  );
  for (let n = 0; ; n++) {
    const tried = n === 0 ? name : `${name}_${n}`;
    const there = rowsOf.all(tried);
    if (there.length === 0) return { name: tried, isNew: true };
    const same = there.map((row) => [row.constraint_type, row.value, row.min, row.max].map(String)).sort();
    if (JSON.stringify(same) === wanted) return { name: tried, isNew: false };
  }
}

function insertConstraint(database: Database, constraint: ColumnConstraint): string {
  const { name, isNew } = uniqueConstraintName(database, constraint);
  if (!isNew) return name;
  const flag = (value: boolean | null) => (value === null ? null : Number(value));
  // By position: version 1.0 names two columns differently.
  const put = database.prepare("INSERT INTO gpkg_data_column_constraints VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const { type, value, min, minInclusive, max, maxInclusive, description } of constraint.rows) {
    put.run(name, type, value, min, flag(minInclusive), max, flag(maxInclusive), description);
  }
  return name;
}

/** Completes the row of a column, which may exist for its type. Omits a name that another column has (Table 53). */
export function insertColumnMetadata(database: Database, table: string, metadata: ColumnMetadata): void {
  const { column, name, title, description, mediaType, constraint } = metadata;
  const taken = database
    .prepare("SELECT 1 FROM gpkg_data_columns WHERE table_name = ? COLLATE NOCASE AND name = ? AND column_name <> ?")
    .get(table, name ?? null, column);
  database
    .prepare("INSERT OR IGNORE INTO gpkg_data_columns (table_name, column_name) VALUES (?, ?)")
    .run(table, column);
  database
    .prepare(
      `UPDATE gpkg_data_columns SET name = ?, title = ?, description = ?, mime_type = coalesce(mime_type, ?),
      constraint_name = coalesce(?, constraint_name) WHERE table_name = ? AND column_name = ?`,
    )
    .run(
      taken === undefined ? (name ?? null) : null,
      title ?? null,
      description ?? null,
      mediaType ?? null,
      constraint ? insertConstraint(database, constraint) : null,
      table,
      column,
    );
}
