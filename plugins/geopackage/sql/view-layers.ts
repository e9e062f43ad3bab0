import { open as openFile } from "node:fs/promises";
import type { Batch, FieldType, Layer } from "../../../src/model/index.js";
import { createError, GeoferryError, type ReadContext, type Source } from "../../../src/plugin/index.js";
import { ChildProcessError } from "../../shared/child-process-client.js";
import { BatchBuilder } from "../read/batch-builder.js";
import { type ColumnPlan, type LayerPlan, layerInfoOf } from "../read/layer-plan.js";
import type { ReadOptions } from "../reader.js";
import { isGeometryType, typeOfDeclaration } from "../schema/column-types.js";
import type { Database } from "../sqlite/database.js";
import { PageCursor } from "../sqlite/page-cursor.js";
import type { SqliteValue } from "../sqlite/values.js";
import { type SqliteQuery, startQuery } from "./query.js";
import type { QueriedColumn } from "./query-protocol.js";

/** Offset of the file format versions in the header, and their value for a rollback journal (file format, 1.3.3). */
const [journalModeOffset, rollbackJournalMode] = [18, 1];

/**
 * Path of a database that SQLite can open without creating files beside it: the file itself, or a temporary copy that
 * includes the content of its write-ahead log or journal.
 */
async function readablePath(source: Source, database: Database, context: ReadContext): Promise<string> {
  const { pages } = database;
  if (!database.hasOverlay && !pages.header.logged) return source.path;
  const path = await context.createTemporaryPath("copy.gpkg");
  const file = await openFile(path, "wx", 0o600);
  const cursor = new PageCursor(pages);
  try {
    for (let page = 1; page <= pages.count; page++) {
      await cursor.move(page);
      const bytes = Buffer.from(cursor.bytes.subarray(cursor.start, cursor.start + pages.header.pageSize));
      if (page === 1) bytes.fill(rollbackJournalMode, journalModeOffset, journalModeOffset + 2);
      await file.write(bytes);
    }
  } finally {
    cursor.close();
    await file.close();
  }
  return path;
}

/** Row limit for a metadata table that is a view, since its rows are kept in memory. */
const maxRecords = 100_000;
const viewRowsRemedy = "; raise the limit with --in viewRows=N";

/** Reads views, and tables that need SQLite: WITHOUT ROWID, or with generated columns. */
export class ViewLayers {
  private path: Promise<string> | null = null;

  constructor(
    private readonly source: Source,
    private readonly database: Database,
    private readonly options: ReadOptions,
    private readonly context: ReadContext,
  ) {}

  private async start(table: string): Promise<{ query: SqliteQuery; columns: readonly QueriedColumn[] }> {
    this.path ??= readablePath(this.source, this.database, this.context);
    const path = await this.path;
    const { viewTimeout, viewMemory } = this.options;
    const query = startQuery(viewTimeout, viewMemory, this.context.signal);
    const { columns } = await query.ask({ kind: "open", path, table });
    return { query, columns };
  }

  private failed({ name }: { readonly name: string }, error: unknown): unknown {
    if (!(error instanceof ChildProcessError)) return error;
    const reason = `the view "${name}" cannot be read: ${error.message}`;
    return createError("unsupported", { source: this.source.name, place: { layer: name }, reason }, error);
  }

  /** All rows of a small view or table, as maps with lower-case column names. @throws unsupported */
  async records(table: string): Promise<Map<string, SqliteValue>[]> {
    let query: SqliteQuery | undefined;
    try {
      const started = await this.start(table);
      query = started.query;
      const names = started.columns.map(({ name }) => name.toLowerCase());
      const records: Map<string, SqliteValue>[] = [];
      for await (const rows of this.rows(query, maxRecords, "")) {
        for (const row of rows) records.push(new Map(names.map((name, c) => [name, row[c] ?? null])));
      }
      return records;
    } catch (error) {
      throw this.failed({ name: table }, error);
    } finally {
      await query?.close();
    }
  }

  /** All rows of a query, some at a time. @throws ChildProcessError */
  private async *rows(
    query: SqliteQuery,
    most: number,
    remedy: string,
  ): AsyncGenerator<readonly (readonly SqliteValue[])[]> {
    let count = 0;
    for (let done = false; !done; ) {
      const reply = await query.ask({ kind: "rows", restart: count === 0 });
      done = reply.done;
      count += reply.rows.length;
      if (count > most) throw new ChildProcessError(`more than ${most} rows${remedy}`);
      yield reply.rows;
    }
  }

  /** Completes the plan with its columns. @throws unsupported */
  async plan(plan: LayerPlan): Promise<LayerPlan> {
    let started: SqliteQuery | undefined;
    try {
      const { query, columns } = await this.start(plan.table);
      started = query;
      const geometry = findGeometryColumn(columns, plan.geometryColumn);
      const roles = columns.map(({ declared }, c): ColumnPlan["role"] | null =>
        c === geometry ? "geometry" : declared === null ? null : typeOfDeclaration(declared),
      );
      const open = roles.flatMap((role, c) => (role === null ? [c] : []));
      const types: readonly (FieldType | null)[] =
        open.length === 0 ? [] : (await query.ask({ kind: "types", columns: open })).types;
      const named = columns.map(({ name }, c) => ({
        name,
        defaultValue: null,
        role: roles[c] ?? types[open.indexOf(c)] ?? "text",
      }));
      return { ...plan, columns: named, geometryColumn: columns[geometry]?.name ?? null };
    } catch (error) {
      throw this.failed(plan, error);
    } finally {
      await started?.close();
    }
  }

  layer(plan: LayerPlan): Layer {
    return {
      ...layerInfoOf(plan),
      bytes: 0,
      batches: () => this.batches(plan),
    };
  }

  private async *batches(plan: LayerPlan): AsyncGenerator<Batch> {
    const builder = new BatchBuilder(plan, "utf8", this.context);
    let query: SqliteQuery | undefined;
    try {
      query = (await this.start(plan.table)).query;
      for await (const rows of this.rows(query, this.options.viewRows, viewRowsRemedy)) {
        for (const row of rows) {
          builder.addValues(row);
          const batch = builder.isFull ? builder.take() : null;
          if (batch) yield batch;
        }
      }
      const batch = builder.take();
      if (batch) yield batch;
    } catch (error) {
      throw this.failed(plan, error);
    } finally {
      await query?.close();
    }
  }
}

export const isUnsupported = (error: unknown): error is GeoferryError =>
  error instanceof GeoferryError && error.code === "unsupported";

function findGeometryColumn(columns: readonly QueriedColumn[], registered: string | null): number {
  const named = columns.findIndex(({ name }) => registered !== null && name.toLowerCase() === registered.toLowerCase());
  return named >= 0 ? named : columns.findIndex(({ declared }) => declared !== null && isGeometryType(declared));
}
