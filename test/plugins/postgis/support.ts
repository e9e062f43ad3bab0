import { execFileSync } from "node:child_process";
import postgis from "../../../plugins/postgis/index.js";
import { crsContext } from "../../../src/crs/index.js";
import { AddressSource } from "../../../src/io/input/source.js";
import { UpdateSink } from "../../../src/io/output/update-sink.js";
import type { Batch } from "../../../src/model/batch.js";
import type { Crs } from "../../../src/model/layer.js";
import type { Loss } from "../../../src/model/report.js";
import { parseOptions } from "../../../src/plugin/options.js";
import {
  fittedBatches,
  layerBatches,
  openWriter,
  planTargets,
  RecordingContext,
  writeLayers,
} from "../../../src/testing/index.js";
import { execute, testDatabase } from "../../support/servers/postgres.js";

export interface PostgisDatabase {
  /** As geoferry takes it. */
  readonly address: string;
  /** As GDAL takes it. */
  readonly ogr: string;
  sql<Row extends Record<string, unknown>>(text: string): Promise<Row[]>;
}

/** A database of its own with PostGIS. Null if there is none, with a warning; an error in CI. */
export async function postgisDatabase(): Promise<PostgisDatabase | null> {
  const database = await testDatabase();
  if (!database) return null;
  try {
    await execute(database.url, "CREATE EXTENSION postgis");
  } catch (error) {
    const missing = `the PostgreSQL of the tests has no PostGIS (${(error as Error).message})`;
    if (process.env.CI) throw new Error(`${missing}; install the package postgresql-15-postgis-3`);
    console.warn(`NOT TESTED: ${missing}`);
    return null;
  }
  const url = new URL(database.url);
  const host = url.searchParams.get("host") ?? url.hostname;
  const ogr = `PG:host='${host}' port=${url.port || 5432} user=${url.username} dbname=${url.pathname.slice(1)}`;
  return { address: database.url, ogr, sql: (text) => execute(database.url, text) };
}

/** What ogr2ogr makes of something, as GeoJSON with full digits. */
export function ogrGeojson(source: string, layer: string): { features: Record<string, unknown>[] } {
  const args = [
    "-f",
    "GeoJSON",
    "/vsistdout/",
    source,
    layer,
    "-lco",
    "COORDINATE_PRECISION=15",
    "-lco",
    "SIGNIFICANT_FIGURES=17",
  ];
  return JSON.parse(
    execFileSync("ogr2ogr", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 }),
  );
}

export interface Written {
  /** What the writer was given. */
  readonly given: readonly Batch[];
  readonly losses: readonly Loss[];
}

/** Writes a batch into a table of its name, as the host would. */
export async function writeTable(
  { address }: PostgisDatabase,
  name: string,
  batch: Batch,
  crs: Crs | null = crsContext.wgs84,
): Promise<Written> {
  const writer = await openWriter(postgis);
  const [target] = planTargets(postgis, writer.capabilities, batch, name, crs);
  const given = fittedBatches(target!, batch, 7);
  const context = new RecordingContext();
  const sink = new UpdateSink(address, { path: address, mode: "add", isAddress: true });
  await writeLayers(writer, sink, [{ target: target!.layer, batches: given }], context, true);
  return { given, losses: context.losses };
}

export interface Read {
  readonly batches: readonly Batch[];
  readonly context: RecordingContext;
  readonly crs: Crs | null;
}

/** All batches of a table. */
export async function readTable(
  { address }: PostgisDatabase,
  name: string,
  given: Readonly<Record<string, string>> = {},
): Promise<Read> {
  const context = new RecordingContext();
  const reader = await postgis.reader!.load();
  const options = parseOptions("postgis", postgis.reader!.options, given);
  await using dataset = await reader.open(new AddressSource(address), options, context);
  const layer = dataset.layers.find((one) => one.name === name || one.aliases?.includes(name));
  if (!layer) throw new Error(`there is no ${name} among ${dataset.layers.map((one) => one.name).join(", ")}`);
  const batches: Batch[] = [];
  for await (const batch of layerBatches(layer)) batches.push(batch);
  return { batches, context, crs: layer.crs };
}

export const featuresOf = ({ batches }: Read) => batches.flatMap((batch) => [...batch.features()]);
