import { copyFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { Batch, type Dataset, type Layer } from "../../src/model/index.js";
import { fault, GeoferryError, type ReadContext, type ReaderModule, type Source } from "../../src/plugin/index.js";
import { settleUnreadable } from "../shared/unreadable-geometries.js";
import { tellRepairs } from "../shared/wkb-repairs.js";
import { hasOnlyUtc } from "./accepts.js";
import { askCatalogue } from "./catalogue.js";
import { GdalConnection } from "./connection.js";
import { gdalEnvironment } from "./environment.js";
import { readFailure } from "./failure.js";
import { reachingDrivers } from "./known-drivers.js";
import { givenOptions } from "./option-tables.js";
import type { GdalReply, LayerFacts } from "./protocol.js";

/** Values of the driver's own options, and of ours. */
export interface ReadValues {
  readonly memory: number;
  readonly ids: string;
  readonly [option: string]: unknown;
}

/** How the same dataset is opened once more. */
interface Opening {
  readonly source: Source;
  readonly path: string;
  readonly driver: string | null;
  readonly values: ReadValues;
  readonly context: ReadContext;
  readonly scratch: string;
}

/** SQLite writes beside a database that has a log: such a one is read from a copy. */
const onSqlite = new Set(["GPKG", "SQLite", "MBTiles"]);

async function pathFor(source: Source, driver: string | null, context: ReadContext): Promise<string> {
  const path = resolve(source.path);
  if (driver === null || !onSqlite.has(driver) || source.size < 20) return path;
  const file = await source.open();
  const head = await file.read(0, 20).finally(() => file.close());
  const [logged, journal] = [2, `${path}-wal`];
  if (head[18] !== logged) return path;
  const copy = await context.scratch(basename(path));
  await copyFile(path, copy);
  await copyFile(journal, `${copy}-wal`).catch(() => {});
  return copy;
}

function connect({ context, values, driver, scratch }: Opening): GdalConnection {
  return new GdalConnection({
    environment: gdalEnvironment(scratch, driver !== null && reachingDrivers.has(driver)),
    memory: values.memory,
    signal: context.signal,
    onWarning: (warning) => context.notice("gdal-warning", undefined, warning.replace(/^\w+ \d+: /, "")),
  });
}

/** Options that keep a driver from the network and from the input's folder, where the person says nothing else. */
const careful: Readonly<Record<string, readonly string[]>> = {
  GML: ["DOWNLOAD_SCHEMA=NO", "WRITE_GFS=NO"],
  NAS: ["DOWNLOAD_SCHEMA=NO"],
};

function openOptions(driver: string | null, values: ReadValues): string[] {
  const catalogue = askCatalogue();
  const facts = "missing" in catalogue ? undefined : catalogue.drivers.find(({ name }) => name === driver);
  const given = facts ? givenOptions(facts.openOptions, values) : [];
  const nameOf = (option: string) => option.slice(0, option.indexOf("="));
  const taken = new Set(given.map(nameOf));
  const declared = (option: string) => facts?.openOptions.includes(nameOf(option)) === true;
  const own = (driver === null ? [] : (careful[driver] ?? [])).filter(
    (option) => declared(option) && !taken.has(nameOf(option)),
  );
  return [...given, ...own];
}

async function openDataset(opening: Opening): Promise<[GdalConnection, GdalReply & { kind: "open" }]> {
  const { path, driver, values } = opening;
  const connection = connect(opening);
  try {
    const options = openOptions(driver, values);
    return [connection, await connection.ask({ kind: "open", path, driver, options })];
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Without a place on the earth, and what a GeoPackage has for none. */
const withoutEarth =
  /^(LOCAL_CS|ENGCRS|ENGINEERINGCRS|COORDINATESYSTEM)\b|^\w+\["Undefined (geographic|Cartesian) SRS"/i;

async function crsOf({ name, wkt }: LayerFacts, context: ReadContext): Promise<Layer["crs"]> {
  if (wkt === "" || withoutEarth.test(wkt)) return null;
  try {
    return await context.crs.parse(wkt);
  } catch (error) {
    if (!(error instanceof GeoferryError)) throw error;
    context.notice("crs-unreadable", undefined, `the reference system of the layer "${name}" is not understood`);
    return null;
  }
}

function tell(reply: GdalReply & { readonly kind: "rows" }, context: ReadContext): void {
  const { tally, rounded } = reply;
  tellRepairs(tally, context);
  if (rounded > 0) {
    context.lose("int64-rounded", undefined, "integers beyond 2^53 came through GDAL rounded to a double", rounded);
  }
}

function* batchesOf({ batches, unreadable }: GdalReply & { readonly kind: "rows" }, context: ReadContext) {
  for (const data of batches) {
    const batch = new Batch(data);
    const own = unreadable.flatMap(({ record, fid, reason }): [number, string][] => {
      const row = record - data.firstRecord;
      return row >= 0 && row < data.length ? [[row, `${reason} (feature ${fid})`]] : [];
    });
    yield settleUnreadable(batch, own, context);
  }
}

/** GDAL takes times for UTC where the file does not say what they are. */
function tellZones({ fields }: LayerFacts, context: ReadContext): void {
  for (const { name, type } of fields) {
    if (type === "datetime")
      context.notice("zone-assumed", name, "the file says no time zone: GDAL takes times for UTC");
  }
}

/** The processes of a dataset: one that is done with a layer serves the next one. */
class Connections {
  private readonly all = new Set<GdalConnection>();
  private readonly idle: GdalConnection[] = [];

  constructor(private readonly opening: Opening) {}

  /** One that has the dataset open. */
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

async function layerOf(opening: Opening, connections: Connections, facts: LayerFacts, index: number): Promise<Layer> {
  const { context, source, driver, values } = opening;
  const ids = values.ids === "yes" || (values.ids === "auto" && facts.keepsIds);
  async function* batches(): AsyncGenerator<Batch> {
    let connection: GdalConnection | undefined;
    let done = false;
    try {
      connection = await connections.take();
      await connection.ask({ kind: "start", layer: index, ids });
      if (hasOnlyUtc.has(driver ?? "")) tellZones(facts, context);
      // While the host works on what came, GDAL reads on.
      let ahead = connection.ask({ kind: "rows" });
      ahead.catch(() => undefined);
      while (!done) {
        const reply = await ahead;
        done = reply.done;
        if (!done) {
          ahead = connection.ask({ kind: "rows" });
          ahead.catch(() => undefined);
        }
        tell(reply, context);
        yield* batchesOf(reply, context);
      }
    } catch (error) {
      const failure = readFailure(error, source.name, driver);
      if (!context.skipErrors || !(failure instanceof GeoferryError) || failure.kind !== "input") throw failure;
      context.giveUp({ source: source.name, place: { layer: facts.name }, bytes: null, reason: failure.message });
    } finally {
      if (connection && done) connections.giveBack(connection);
      else if (connection) await connections.end(connection);
    }
  }
  return {
    name: facts.name,
    crs: await crsOf(facts, context),
    fields: facts.fields.map(({ name, type }) => ({ name, type })),
    geometryTypes: facts.isTable ? [] : null,
    featureCount: facts.featureCount,
    extent: null,
    bytes: source.size,
    batches,
  };
}

/** @param driver the driver to read with; null for whichever of the drivers takes the file that keep to it */
export function readerOf(driver: string | null): ReaderModule<ReadValues> {
  return {
    async open(source, values, context): Promise<Dataset> {
      const path = await pathFor(source, driver, context);
      const scratch = dirname(await context.scratch("gdal.log"));
      const opening: Opening = { source, path, driver, values, context, scratch };
      try {
        const [connection, reply] = await openDataset(opening);
        const sure = { ...opening, driver: reply.driver };
        const connections = new Connections(sure);
        connections.giveBack(connections.add(connection));
        if (reply.layers.length === 0) {
          await connections.close();
          throw fault("unsupported", { source: source.name, reason: `GDAL finds no layer of features in it` });
        }
        const layers: Layer[] = [];
        for (const [index, facts] of reply.layers.entries())
          layers.push(await layerOf(sure, connections, facts, index));
        return { layers, [Symbol.asyncDispose]: () => connections.close() };
      } catch (error) {
        throw readFailure(error, source.name, driver);
      }
    },
  };
}
