import { copyFile, rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { Batch, type Dataset, type Layer, type ScanBatch } from "../../src/model/index.js";
import {
  createError,
  GeoferryError,
  type ReadContext,
  type ReaderModule,
  type Source,
} from "../../src/plugin/index.js";
import { rejectUnreadableGeometries } from "../shared/unreadable-geometries.js";
import { reportWkbRepairs } from "../shared/wkb/report-repairs.js";
import { utcOnlyDrivers } from "./drivers/capabilities.js";
import { requireCatalog } from "./drivers/catalog.js";
import { referencingDrivers } from "./drivers/known-drivers.js";
import { toGdalOptions } from "./drivers/option-tables.js";
import { GdalConnection, GdalError } from "./process/connection.js";
import { gdalEnvironment } from "./process/environment.js";
import { toReadError } from "./process/failure.js";
import type { GdalReply, LayerInfo } from "./process/protocol.js";
import { reportWarning } from "./process/report-warning.js";
import { countMidRows, missingMapInfoFile } from "./read/mapinfo-files.js";
import { ReplySpool, type RowsReply } from "./read/reply-spool.js";

/** Values of the driver's options and of the added ones. */
export interface ReadOptionValues {
  readonly memory: number;
  readonly ids: string;
  readonly [option: string]: unknown;
}

/** Parameters to open the dataset again in another process. */
interface DatasetOpening {
  readonly source: Source;
  readonly path: string;
  readonly driver: string | null;
  readonly values: ReadOptionValues;
  readonly context: ReadContext;
  readonly scratch: string;
}

const mapInfo = "MapInfo File";

/** Drivers that read from a copy if the database is in WAL mode: SQLite would write files beside it. */
const sqliteDrivers = new Set(["GPKG", "SQLite", "MBTiles"]);

async function readablePath(source: Source, driver: string | null, context: ReadContext): Promise<string> {
  const path = resolve(source.path);
  if (driver === null || !sqliteDrivers.has(driver) || source.size < 20) return path;
  const file = await source.open();
  const head = await file.read(0, 20).finally(() => file.close());
  const [logged, journal] = [2, `${path}-wal`];
  if (head[18] !== logged) return path;
  const copy = await context.createTemporaryPath(basename(path));
  await copyFile(path, copy);
  await copyFile(journal, `${copy}-wal`).catch(() => {});
  return copy;
}

/** Warnings after which values or features may be missing. */
const damagePattern = /incorrect|corrupt|damaged|truncat|invalid|inconsistent|unexpected end|premature/i;

/** Likewise after an error with which GDAL went on. */
const isDamage = (message: string): boolean => message.startsWith("ERROR ") || damagePattern.test(message);

function startConnection({ context, values, driver, scratch }: DatasetOpening): GdalConnection {
  return new GdalConnection({
    environment: gdalEnvironment(scratch, driver !== null && referencingDrivers.has(driver)),
    memory: values.memory,
    signal: context.signal,
    onWarning: (warning) => reportWarning(warning, context, isDamage),
  });
}

/** Default options that prevent network access and writing to the input's folder. */
const restrictiveOptions: Readonly<Record<string, readonly string[]>> = {
  GML: ["DOWNLOAD_SCHEMA=NO", "WRITE_GFS=NO"],
  NAS: ["DOWNLOAD_SCHEMA=NO"],
};

/** @throws unsupported if GDAL is not available */
function openOptions({ source, driver, values }: DatasetOpening): string[] {
  const facts = requireCatalog(source.name).drivers.find(({ name }) => name === driver);
  const given = facts ? toGdalOptions(facts.openOptions, values) : [];
  const nameOf = (option: string) => option.slice(0, option.indexOf("="));
  const taken = new Set(given.map(nameOf));
  const declared = (option: string) => facts?.openOptions.includes(nameOf(option)) === true;
  const own = (driver === null ? [] : (restrictiveOptions[driver] ?? [])).filter(
    (option) => declared(option) && !taken.has(nameOf(option)),
  );
  return [...given, ...own];
}

async function openDataset(opening: DatasetOpening): Promise<[GdalConnection, GdalReply & { kind: "open" }]> {
  const { path, driver } = opening;
  const connection = startConnection(opening);
  try {
    const options = openOptions(opening);
    return [connection, await connection.ask({ kind: "open", path, driver, options })];
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Local and undefined CRS. */
const localCrsPattern =
  /^(LOCAL_CS|ENGCRS|ENGINEERINGCRS|COORDINATESYSTEM)\b|^\w+\["Undefined (geographic|Cartesian) SRS"/i;

async function resolveCrs({ name, wkt }: LayerInfo, context: ReadContext): Promise<Layer["crs"]> {
  if (wkt === "" || localCrsPattern.test(wkt)) return null;
  try {
    return await context.crs.parse(wkt);
  } catch (error) {
    if (!(error instanceof GeoferryError)) throw error;
    context.reportNotice("crs-unreadable", undefined, `the CRS of the layer "${name}" cannot be parsed`);
    return null;
  }
}

function reportReply(reply: RowsReply, { fields }: Pick<LayerInfo, "fields">, context: RowListener): void {
  const { tally, rounded, dates } = reply;
  reportWkbRepairs(tally, context);
  if (rounded > 0) {
    context.reportLoss("int64-rounded", undefined, "GDAL rounded integers beyond 2^53 to a double", rounded);
  }
  for (const [f, count] of dates.entries()) {
    const example = `a day that the calendar does not have is no ${fields[f]!.type}, and became null`;
    if (count > 0) context.reportLoss("value-unreadable", fields[f]!.name, example, count);
  }
}

function* toBatches({ batches, unreadable }: RowsReply, context: RowListener) {
  for (const data of batches) {
    const batch = new Batch(data);
    const own = unreadable.flatMap(({ record, fid, reason }): [number, string][] => {
      const row = record - data.firstRecord;
      return row >= 0 && row < data.length ? [[row, `${reason} (feature ${fid})`]] : [];
    });
    yield rejectUnreadableGeometries(batch, own, context);
  }
}

/** GDAL assumes UTC for times without a zone. */
function reportAssumedZones({ fields }: LayerInfo, context: RowListener): void {
  for (const { name, type } of fields) {
    if (type === "datetime") context.reportNotice("zone-assumed", name, "the file has no time zone; GDAL assumes UTC");
  }
}

/** GDAL processes of a dataset, reused for further layers. */
class ConnectionPool {
  private readonly all = new Set<GdalConnection>();
  private readonly idle: GdalConnection[] = [];

  constructor(private readonly opening: DatasetOpening) {}

  /** Returns a process that has the dataset open. */
  async take(): Promise<GdalConnection> {
    const idle = this.idle.pop();
    if (idle) return idle;
    const [connection] = await openDataset(this.opening);
    return this.add(connection);
  }

  add(connection: GdalConnection): GdalConnection {
    this.all.add(connection);
    return connection;
  }

  giveBack(connection: GdalConnection): void {
    this.idle.push(connection);
  }

  async end(connection: GdalConnection): Promise<void> {
    this.all.delete(connection);
    await connection.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.all].map((connection) => connection.close()));
  }
}

/** Where a reading reports to. */
type RowListener = Pick<ReadContext, "reportLoss" | "reportNotice" | "reject" | "keepsBadGeometries">;

/** The batches of one layer, from GDAL, or from the replies that a scan has kept. */
class LayerReading {
  /** Null before a complete scan, or if the temporary file could not be written. */
  private kept: ReplySpool | null = null;

  constructor(
    private readonly opening: DatasetOpening,
    private readonly connections: ConnectionPool,
    private readonly facts: LayerInfo,
    private readonly index: number,
  ) {}

  async *batches(): AsyncGenerator<Batch> {
    const { context, source } = this.opening;
    try {
      yield* this.read(this.kept ? this.kept.replies() : this.replies(), context);
    } catch (error) {
      const reason = this.skippedDamage(error).message;
      context.skipRange({ source: source.name, place: { layer: this.facts.name }, bytes: null, reason });
    }
  }

  /** Keeps the replies of GDAL for `batches`, which reports losses and skips damage. */
  async *scanBatches(): AsyncGenerator<ScanBatch> {
    const { keepsBadGeometries } = this.opening.context;
    const silent: RowListener = { reportLoss() {}, reportNotice() {}, reject() {}, keepsBadGeometries };
    try {
      for await (const batch of this.read(this.kept ? this.kept.replies() : this.keep(this.replies()), silent))
        yield { batch, bytes: 0 };
    } catch (error) {
      this.skippedDamage(error);
    }
  }

  /** The damage that ends a reading which skips errors. @throws any other error */
  private skippedDamage(error: unknown): GeoferryError {
    const { context, source, driver } = this.opening;
    const failure = toReadError(error, source.name, driver);
    if (context.skipErrors && failure instanceof GeoferryError && failure.kind === "input") return failure;
    throw failure;
  }

  async close(): Promise<void> {
    await this.kept?.close();
    this.kept = null;
  }

  private async *read(replies: AsyncIterable<RowsReply>, listener: RowListener): AsyncGenerator<Batch> {
    const { facts } = this;
    const { source, driver } = this.opening;
    if (facts.error !== null)
      throw new GdalError(`its layer "${facts.name}" is damaged, or needs a newer GDAL: ${facts.error}`);
    if (utcOnlyDrivers.has(driver ?? "")) reportAssumedZones(facts, listener);
    const missing = driver === mapInfo ? missingMapInfoFile(source, facts.fields.length > 0) : null;
    if (missing !== null) listener.reportLoss("companion-missing", undefined, missing);
    let features = 0;
    for await (const reply of replies) {
      reportReply(reply, facts, listener);
      for (const { length } of reply.batches) features += length;
      yield* toBatches(reply, listener);
    }
    const rows = driver === mapInfo ? await countMidRows(source) : null;
    if (rows !== null && features < rows)
      throw new GdalError(`it ends after ${features} features, and its .mid has ${rows} rows`);
  }

  /** The replies of a process of GDAL, whose next rows are read while the host processes the current ones. */
  private async *replies(): AsyncGenerator<RowsReply> {
    const { connections, facts, index } = this;
    const { values } = this.opening;
    const connection = await connections.take();
    let done = false;
    try {
      const ids = values.ids === "yes" || (values.ids === "auto" && facts.keepsIds);
      await connection.ask({ kind: "start", layer: index, ids });
      let ahead = connection.ask({ kind: "rows" });
      ahead.catch(() => undefined);
      while (!done) {
        const reply = await ahead;
        done = reply.done;
        if (!done) {
          ahead = connection.ask({ kind: "rows" });
          ahead.catch(() => undefined);
        }
        yield reply;
      }
    } finally {
      if (done) connections.giveBack(connection);
      else await connections.end(connection);
    }
  }

  /** Without room for the temporary file, GDAL reads the layer again. */
  private async *keep(replies: AsyncIterable<RowsReply>): AsyncGenerator<RowsReply> {
    const path = await this.opening.context.createTemporaryPath(`replies-${this.index}`);
    let spool = await ReplySpool.create(path).catch(() => null);
    let isComplete = false;
    try {
      for await (const reply of replies) {
        // Before it is passed on, since threads take over the memory of batches.
        const isKept = await spool?.add(reply).then(
          () => true,
          () => false,
        );
        if (isKept === false) {
          await this.discard(spool, path);
          spool = null;
        }
        yield reply;
      }
      isComplete = true;
    } finally {
      if (isComplete) this.kept = spool;
      else await this.discard(spool, path);
    }
  }

  private async discard(spool: ReplySpool | null, path: string): Promise<void> {
    await spool?.close();
    await rm(path, { force: true });
  }
}

async function createLayer(
  reading: LayerReading,
  { context, source }: DatasetOpening,
  facts: LayerInfo,
): Promise<Layer> {
  return {
    name: facts.name,
    crs: await resolveCrs(facts, context),
    fields: facts.fields.map(({ name, type }) => ({ name, type })),
    geometryTypes: facts.isTable ? [] : null,
    featureCount: facts.featureCount,
    extent: null,
    bytes: source.size,
    batches: () => reading.batches(),
    scanBatches: () => reading.scanBatches(),
  };
}

/** @param driver the driver to read with; null: any that recognizes the file and follows no references */
export function createReader(driver: string | null): ReaderModule<ReadOptionValues> {
  return {
    async open(source, values, context): Promise<Dataset> {
      const path = await readablePath(source, driver, context);
      const scratch = dirname(await context.createTemporaryPath("gdal.log"));
      const opening: DatasetOpening = { source, path, driver, values, context, scratch };
      try {
        const [connection, reply] = await openDataset(opening);
        const sure = { ...opening, driver: reply.driver };
        const connections = new ConnectionPool(sure);
        connections.giveBack(connections.add(connection));
        if (reply.layers.length === 0) {
          await connections.close();
          throw createError("unsupported", { source: source.name, reason: `GDAL finds no vector layer in it` });
        }
        const layers: Layer[] = [];
        const readings = reply.layers.map((facts, index) => new LayerReading(sure, connections, facts, index));
        for (const [index, facts] of reply.layers.entries())
          layers.push(await createLayer(readings[index]!, sure, facts));
        return {
          layers,
          async [Symbol.asyncDispose]() {
            await connections.close();
            for (const reading of readings) await reading.close();
          },
        };
      } catch (error) {
        throw toReadError(error, source.name, driver);
      }
    },
  };
}
