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

/** An entry of the schema (file format, 2.6). */
export interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  /** Page where the tree of a table starts; 0 for views and virtual tables. */
  readonly root: number;
  readonly sql: string;
}

const schemaRootPage = 1;

function toInputError(source: string, error: unknown, canSkip = false): unknown {
  if (!(error instanceof SqliteDamage)) return error;
  const details = { source, place: { byte: error.byte }, reason: error.message, canSkip };
  return createError(error.early ? "input-truncated" : "input-corrupt", details, error);
}

/**
 * A database that is read page by page. No SQL of it is run and no lock is taken: whatever its views, triggers and
 * generated columns say, reading a table is reading its pages; and neither the file nor its folder is touched.
 */
export class Database {
  private spareReader: RowReader | null = null;

  private constructor(
    private readonly source: Source,
    private readonly files: readonly SourceFile[],
    readonly pages: DatabasePages,
    private readonly context: ReadContext,
    /** Whether what a log or journal beside the file says is part of it. */
    readonly hasMore: boolean,
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
      const elsewhere: PageOverlay | null =
        (wal && (await readWal(wal, header))) ?? (journal && (await readJournal(journal, header)));
      const pages = new DatabasePages(file, header, elsewhere);
      if (!elsewhere && pages.bytes > file.size && !context.skipErrors) {
        const reason = `${pages.count} pages of ${header.pageSize} bytes are announced`;
        throw createError("input-truncated", { source: source.name, place: { byte: file.size }, reason });
      }
      return new Database(source, files, pages, context, elsewhere !== null);
    } catch (error) {
      for (const each of files) await each.close();
      throw toInputError(source.name, error);
    }
  }

  get encoding(): SqliteHeader["encoding"] {
    return this.pages.header.encoding;
  }

  /** Damage as an error of the registry; anything else as it is. */
  asFault(error: unknown): unknown {
    return toInputError(this.source.name, error);
  }

  /** The first damage that was passed. */
  damage: GeoferryError | null = null;

  /**
   * Goes on past damage with `skipErrors`, telling it.
   * @param canSkip whether that is worth advising, as it is among the rows of a layer
   * @throws input-corrupt, input-truncated
   */
  pass(error: unknown, canSkip = false): void {
    const { skipErrors } = this.context;
    const told = toInputError(this.source.name, error, canSkip && !skipErrors);
    if (!skipErrors || !(told instanceof GeoferryError)) throw told;
    this.damage ??= told;
    const { place = {}, reason = told.message } = told.details as { place?: Place; reason?: string };
    // A page higher up in a tree takes those below it along: how much that is cannot be known.
    this.context.skipRange({ source: this.source.name, place, bytes: null, reason });
  }

  /** Likewise at a first look: the reading that follows tells it. */
  overlook(error: unknown): void {
    const { skipErrors } = this.context;
    const told = toInputError(this.source.name, error, !skipErrors);
    if (!skipErrors || !(told instanceof GeoferryError)) throw told;
  }

  /** All rows of a small table. Rows that cannot be read are passed over with `skipErrors`. */
  async *rows(
    root: number,
    damaged: (error: unknown) => void = (error) => this.pass(error),
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

  /** A reader for one reading, with what the last one kept; to be returned after. */
  takeReader(): RowReader {
    const reader = this.spareReader ?? new RowReader(this.pages);
    this.spareReader = null;
    return reader;
  }

  returnReader(reader: RowReader): void {
    if (this.spareReader) void reader.close();
    else this.spareReader = reader;
  }

  /** What there is in the database, by lower-case names: of tables and views only. */
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

  /** The indexes and triggers that SQL made, with the tables that they are of. */
  async attached(): Promise<{ readonly type: string; readonly name: string; readonly table: string }[]> {
    const found = [];
    for await (const { values } of this.rows(schemaRootPage)) {
      const [type, name, table, , sql] = values;
      const isAttached = (type === "index" || type === "trigger") && typeof sql === "string";
      if (isAttached) found.push({ type, name: String(name), table: String(table) });
    }
    return found;
  }

  /** Whether a table has a row, as far as can be told: damage of a table that is not read is no matter. */
  async mayHaveRows(entry: SchemaEntry): Promise<boolean> {
    if (!declareReadableTable(entry)) return true;
    for await (const _ of this.rows(entry.root, () => {})) return true;
    return false;
  }

  /** A table about tables, each row by the lower-case names of its columns; null where it is no plain table. */
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

/** The columns of a table whose rows stand in its tree as they are; null for views, virtual tables and the like. */
export function declareReadableTable(entry: SchemaEntry): DeclaredTable | null {
  if (entry.type !== "table" || entry.root <= 0) return null;
  const table = parseCreateTable(entry.sql);
  if (!table || table.withoutRowid || table.columns.some((column) => column.generated === "virtual")) return null;
  return table;
}

/** `places.gpkg-wal` beside `places.gpkg`, where it is there and has something in it. */
async function openCompanion(source: Source, suffix: string, files: SourceFile[]): Promise<SourceFile | null> {
  const extension = /\.([^./\\]+)$/.exec(source.path)?.[1];
  const beside = extension === undefined ? null : source.findSibling(`${extension}-${suffix}`);
  if (!beside || beside.size === 0) return null;
  const file = await beside.open();
  files.push(file);
  return file;
}
