import {
  type Assembler,
  createError,
  GeoferryError,
  type InPlaceTarget,
  type Sink,
  type TargetLayer,
  type WriteContext,
} from "../../../src/plugin/index.js";
import { Connection } from "../connection/connection.js";
import { CopyIn } from "../connection/copy-in.js";
import { isUnanswered, writeError } from "../connection/errors.js";
import { resolveSettings } from "../connection/settings.js";
import { findOrInsertSrid, findPostgisSchema } from "../systems.js";
import type { PostgisChunk } from "./encoder.js";
import { NewTable } from "./new-table.js";
import { StagedTable } from "./staged-table.js";
import { designTable, type TableDesign, type WriteOptions } from "./table-design.js";
import { findTable, resolveTableName, sqlName } from "./table-names.js";
import type { TableTask, TableWriter } from "./table-writer.js";
import { resolveTargetSrid } from "./target-srid.js";
import { transactionNumber, wasCommitted } from "./transaction-outcome.js";
import { findIncompatibility } from "./truncate-insert.js";

interface OpenTable {
  /** Name for messages. */
  readonly name: string;
  readonly writer: TableWriter;
}

/** @throws usage, database-…, output-exists, unsupported, crs-not-writable */
export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<PostgisChunk>> {
  const { inPlaceTarget } = sink;
  if (!inPlaceTarget) throw createError("internal", { reason: "the PostGIS writer needs a database address" });
  const settings = resolveSettings(inPlaceTarget.path, process.env);
  const mode = { reads: false, lockTimeout: options.lockTimeout } as const;
  const open = () => Connection.open(sink.name, settings, mode, context.signal);
  const writer = new DatabaseWriter(sink.name, await open(), open, context);
  try {
    await writer.prepare(layers, inPlaceTarget.mode, options);
    return writer;
  } catch (error) {
    await writer.abort();
    throw writeError(sink.name, null, error);
  }
}

/** Writes tables in one transaction: after an error or a crash the database is unchanged. */
class DatabaseWriter implements Assembler<PostgisChunk> {
  private readonly tables: OpenTable[] = [];
  /** The table whose COPY is running. */
  private copying: { readonly table: OpenTable; readonly copy: CopyIn } | null = null;
  private isBusy = false;
  private readonly cancel = () => void this.connection.cancel();

  constructor(
    private readonly output: string,
    private readonly connection: Connection,
    private readonly openAnother: () => Promise<Connection>,
    private readonly context: WriteContext,
  ) {
    context.signal.addEventListener("abort", this.cancel);
  }

  async prepare(layers: readonly TargetLayer[], mode: InPlaceTarget["mode"], options: WriteOptions): Promise<void> {
    const designs = layers.map((layer) => designTable(layer, options));
    const postgis = await findPostgisSchema(this.connection);
    if (postgis === null && designs.some(({ geometry }) => geometry !== null)) {
      const reason = "the database has no PostGIS; its owner can add it with CREATE EXTENSION postgis";
      throw createError("unsupported", { source: this.output, reason });
    }
    for (const [n, layer] of layers.entries()) {
      const writer = await this.open(layer, designs[n]!, postgis, mode, options);
      this.tables.push({ name: layer.name, writer });
    }
  }

  private async open(
    layer: TargetLayer,
    design: TableDesign,
    postgis: string | null,
    mode: InPlaceTarget["mode"],
    options: WriteOptions,
  ): Promise<TableWriter> {
    const { connection, output, context } = this;
    const name = await resolveTableName(connection, output, layer.name);
    const existing = await findTable(connection, name);
    const shown = `${output}: the table "${layer.name}"`;
    if (existing && mode === "add") throw createError("output-exists", { output: shown });
    const isTable = existing !== null && (mode === "append" ? /[rpf]/ : /[rp]/).test(existing.kind);
    if (existing && !isTable) {
      const reason = `it is not a table, so it cannot be ${mode === "append" ? "appended to" : "replaced"}`;
      throw createError("unsupported", { source: shown, reason });
    }
    const hasGeometry = design.geometry !== null && postgis !== null;
    const named = { name: output, context };
    const task = { connection, output, name, design, postgis, options, context };
    if (existing && mode === "replace") {
      const truncateExisting = await this.refilled(layer, task, existing.kind);
      if (truncateExisting) return truncateExisting;
    }
    if (existing && mode === "append") {
      const srid = hasGeometry ? await resolveTargetSrid(connection, postgis, name, layer.crs, named) : 0;
      const added = new StagedTable({ ...task, srid });
      await added.match();
      return added;
    }
    const srid = hasGeometry && layer.crs ? await findOrInsertSrid(connection, postgis, layer.crs, named) : 0;
    if (hasGeometry && options.type === "geography" && layer.crs?.kind !== "geographic") {
      const reason = `geography takes longitude and latitude, not ${layer.crs?.name ?? "coordinates of no known system"}`;
      throw createError("unsupported", { source: shown, reason });
    }
    return new NewTable({ ...task, srid }, existing !== null);
  }

  /** Truncates the table and keeps its definition; null if the table must be recreated. */
  private async refilled(layer: TargetLayer, task: Omit<TableTask, "srid">, kind: string): Promise<TableWriter | null> {
    const { connection, name, design, postgis, context } = task;
    const named = { name: this.output, context };
    let srid: number | GeoferryError = 0;
    try {
      if (design.geometry && postgis) srid = await resolveTargetSrid(connection, postgis, name, layer.crs, named);
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.kind !== "unsupported") throw error;
      srid = error;
    }
    const incompatibility = await findIncompatibility({ ...task, srid: 0 }, layer.summary!, srid);
    if (incompatibility !== null || typeof srid !== "number") {
      context.reportNotice(
        "table-recreated",
        undefined,
        `"${name.table}" was dropped and recreated: ${incompatibility}`,
      );
      return null;
    }
    const refilled = new StagedTable({ ...task, srid }, `TRUNCATE ${kind === "p" ? "" : "ONLY "}${sqlName(name)}`);
    await refilled.match();
    return refilled;
  }

  append(chunk: PostgisChunk, index: number): Promise<void> {
    const table = this.tables[index]!;
    return this.attempt(table, async () => {
      if (this.copying?.table !== table) {
        await this.endCopy();
        await table.writer.begin(chunk);
        const copy = new CopyIn(`COPY ${table.writer.target} FROM STDIN (FORMAT binary)`);
        this.connection.client.query(copy);
        await copy.begin();
        this.copying = { table, copy };
      }
      table.writer.beforeCopy(chunk);
      await this.copying.copy.write(chunk.bytes);
    });
  }

  private async endCopy(): Promise<void> {
    const copying = this.copying;
    this.copying = null;
    await copying?.copy.end();
  }

  async finish(): Promise<void> {
    const last = this.copying?.table ?? null;
    await this.attempt(last, () => this.endCopy());
    for (const table of this.tables) await this.attempt(table, () => table.writer.finish());
  }

  private async attempt(table: OpenTable | null, work: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    try {
      await work();
      this.isBusy = false;
    } catch (error) {
      if (this.context.signal.aborted) throw error;
      throw writeError(this.output, table?.name ?? null, error);
    }
  }

  /** @throws commit-outcome-unknown if the connection broke and the database does not tell, output-failed, database-… */
  async commit(): Promise<void> {
    await this.attempt(null, async () => {
      const number = await transactionNumber(this.connection);
      try {
        const { command } = await this.connection.client.query("COMMIT");
        if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        const isCommitted = await wasCommitted(number, this.openAnother);
        if (isCommitted === false) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        if (isCommitted === null) throw createError("commit-outcome-unknown", { database: this.output, reason }, error);
      }
    });
    await this.close();
  }

  /** Cancels the running statement; the server rolls back. */
  async abort(): Promise<void> {
    if (this.isBusy || this.copying) await this.connection.destroy();
    await this.close();
  }

  private async close(): Promise<void> {
    this.context.signal.removeEventListener("abort", this.cancel);
    await this.connection.close();
  }
}
