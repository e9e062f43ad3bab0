import {
  createError,
  GeoferryError,
  type Place,
  type ReadContext,
  type Source,
  type SourceFile,
} from "../../../src/plugin/index.js";
import { type DeclaredTable, parseCreateTable } from "../schema/create-table.js";
import { headerBytes, readHeader, type SqliteHeader } from "./header.js";
import { readJournal } from "./journal.js";
import { DatabasePages, type PageOverlay, SqliteDamage } from "./pages.js";
import { RowReader, rowidOf } from "./row-reader.js";
import { readLeaves } from "./tree.js";
import { decodeValues, type SqliteValue } from "./values.js";
import { readWal } from "./wal.js";

/** A row of sqlite_schema (file format, 2.6). */
export interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  /** Root page of the table's b-tree; 0 for views and virtual tables. */
  readonly root: number;
  readonly sql: string;
}

const schemaRootPage = 1;

function toInputError(source: string, error: unknown, canSkip = false): unknown {
  if (!(error instanceof SqliteDamage)) return error;
  const details = { source, place: { byte: error.byte }, reason: error.message, canSkip };
  return createError(error.isTruncated ? "input-truncated" : "input-corrupt", details, error);
}

/**
 * Reads a database page by page, without running SQL, taking locks or creating files beside it. Untrusted views, triggers
 * and generated columns therefore have no effect.
 */
export class Database {
  private spareReader: RowReader | null = null;

  private constructor(
    private readonly source: Source,
    private readonly files: readonly SourceFile[],
    readonly pages: DatabasePages,
    private readonly context: ReadContext,
    /** Whether pages of a write-ahead log or journal beside the file are part of it. */
    readonly hasOverlay: boolean,
  ) {}

  /** @throws input-empty, input-corrupt, input-truncated */
  static async open(source: Source, context: ReadContext, known: SqliteHeader | null): Promise<Database> {
    const file = await source.open();
    const files = [file];
    try {
      if (file.size === 0) throw createError("input-empty", { source: source.name });
      const wal = await openCompanion(source, "wal", files);
      const header = known ?? readHeader(await file.read(0, headerBytes));
      if (typeof header === "string") {
        const code = file.size < headerBytes ? "input-truncated" : "input-corrupt";
        throw createError(code, { source: source.name, place: { byte: 0 }, reason: header });
      }
      const journal = await openCompanion(source, "journal", files);
      const overlay: PageOverlay | null =
        (wal && (await readWal(wal, header))) ?? (journal && (await readJournal(journal, header)));
      const pages = new DatabasePages(file, header, overlay);
      if (!overlay && pages.bytes > file.size && !context.skipErrors) {
        const reason = `${pages.count} pages of ${header.pageSize} bytes are announced`;
        throw createError("input-truncated", { source: source.name, place: { byte: file.size }, reason });
      }
      return new Database(source, files, pages, context, overlay !== null);
    } catch (error) {
      for (const each of files) await each.close();
      throw toInputError(source.name, error);
    }
  }

  get encoding(): SqliteHeader["encoding"] {
    return this.pages.header.encoding;
  }

  /** Converts damage to a registry error; returns other errors unchanged. */
  toInputError(error: unknown): unknown {
    return toInputError(this.source.name, error);
  }

  /** The first damage that was skipped. */
  damage: GeoferryError | null = null;

  /**
   * Reports damage and returns with `skipErrors`, else throws.
   * @param canSkip whether the error advises `skipErrors`, as for rows of a layer
   * @throws input-corrupt, input-truncated
   */
  skipDamage(error: unknown, canSkip = false): void {
    const { skipErrors } = this.context;
    const inputError = toInputError(this.source.name, error, canSkip && !skipErrors);
    if (!skipErrors || !(inputError instanceof GeoferryError)) throw inputError;
    this.damage ??= inputError;
    const { place = {}, reason = inputError.message } = inputError.details as { place?: Place; reason?: string };
    // Damage of an interior page loses all pages below it, whose size is unknown.
    this.context.skipRange({ source: this.source.name, place, bytes: null, reason });
  }

  /** Like `skipDamage` for scans: reading the rows afterwards reports the damage. */
  skipDamageSilently(error: unknown): void {
    const { skipErrors } = this.context;
    const inputError = toInputError(this.source.name, error, !skipErrors);
    if (!skipErrors || !(inputError instanceof GeoferryError)) throw inputError;
  }

  /** All rows of a small table. Skips unreadable rows with `skipErrors`. */
  async *rows(
    root: number,
    damaged: (error: unknown) => void = (error) => this.skipDamage(error),
  ): AsyncGenerator<{ readonly rowid: number; readonly values: SqliteValue[] }> {
    const reader = this.takeReader();
    try {
      for await (const leaves of readLeaves(this.pages, root, damaged)) {
        for (const leaf of leaves) yield* this.rowsOf(reader, leaf, damaged);
      }
    } finally {
      this.returnReader(reader);
    }
  }

  private async *rowsOf(
    reader: RowReader,
    leaf: number,
    damaged: (error: unknown) => void,
  ): AsyncGenerator<{ readonly rowid: number; readonly values: SqliteValue[] }> {
    try {
      await reader.open(leaf);
    } catch (error) {
      damaged(error);
      return;
    }
    for (let i = 0; i < reader.count; i++) {
      let values: SqliteValue[];
      try {
        const more = reader.read(i);
        if (more) await more;
        values = decodeValues(reader.row, this.encoding);
      } catch (error) {
        damaged(error);
        continue;
      }
      yield { rowid: rowidOf(reader.row.high, reader.row.low), values };
    }
    if (reader.contradiction) damaged(reader.contradiction);
  }

  /** Borrows a reader with its cached pages; pass it to `returnReader` afterwards. */
  takeReader(): RowReader {
    const reader = this.spareReader ?? new RowReader(this.pages);
    this.spareReader = null;
    return reader;
  }

  returnReader(reader: RowReader): void {
    if (this.spareReader) void reader.close();
    else this.spareReader = reader;
  }

  /** Tables and views by lower-case name. */
  async schema(): Promise<Map<string, SchemaEntry>> {
    const entries = new Map<string, SchemaEntry>();
    for await (const { values } of this.rows(schemaRootPage)) {
      const [type, name, , root, sql] = values;
      if ((type !== "table" && type !== "view") || typeof name !== "string") continue;
      const entry = { type, name, root: Number(root ?? 0), sql: typeof sql === "string" ? sql : "" };
      entries.set(name.toLowerCase(), entry);
    }
    return entries;
  }

  /** Indexes and triggers that were created by SQL statements, with their tables. */
  async indexesAndTriggers(): Promise<{ readonly type: string; readonly name: string; readonly table: string }[]> {
    const found = [];
    for await (const { values } of this.rows(schemaRootPage)) {
      const [type, name, table, , sql] = values;
      const isAttached = (type === "index" || type === "trigger") && typeof sql === "string";
      if (isAttached) found.push({ type, name: String(name), table: String(table) });
    }
    return found;
  }

  /** Whether a table has rows, or is not readable. Ignores damage, since the table is not converted. */
  async mayHaveRows(entry: SchemaEntry): Promise<boolean> {
    if (!declareReadableTable(entry)) return true;
    for await (const _ of this.rows(entry.root, () => {})) return true;
    return false;
  }

  /** All rows of a table as maps with lower-case column names; null if it must be read by SQL. */
  async records(entry: SchemaEntry): Promise<Map<string, SqliteValue>[] | null> {
    const table = declareReadableTable(entry);
    if (!table) return null;
    const names = table.columns.map((column) => column.name.toLowerCase());
    const records: Map<string, SqliteValue>[] = [];
    for await (const { rowid, values } of this.rows(entry.root)) {
      const record = new Map(names.map((name, c) => [name, values[c] ?? null]));
      const alias = names[table.rowid];
      if (alias !== undefined) record.set(alias, rowid);
      records.push(record);
    }
    return records;
  }

  async close(): Promise<void> {
    await this.spareReader?.close();
    this.spareReader = null;
    for (const file of this.files) await file.close();
  }
}

/** Parses the schema of a table that can be read from its pages; null if it must be read by SQL. */
export function declareReadableTable(entry: SchemaEntry): DeclaredTable | null {
  if (entry.type !== "table" || entry.root <= 0) return null;
  const table = parseCreateTable(entry.sql);
  if (!table || table.withoutRowid || table.columns.some((column) => column.generated === "virtual")) return null;
  return table;
}

/** Opens `places.gpkg-wal` beside `places.gpkg`; null if missing or empty. */
async function openCompanion(source: Source, suffix: string, files: SourceFile[]): Promise<SourceFile | null> {
  const extension = /\.([^./\\]+)$/.exec(source.path)?.[1];
  const beside = extension === undefined ? null : source.findSibling(`${extension}-${suffix}`);
  if (!beside || beside.size === 0) return null;
  const file = await beside.open();
  files.push(file);
  return file;
}
