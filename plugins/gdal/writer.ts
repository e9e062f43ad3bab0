import { type FileHandle, mkdir, open } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { quoteForShell } from "../../src/errors/shell-quote.js";
import { type Field, typesIn } from "../../src/model/index.js";
import type { Assembler, Sink, TargetLayer, WriteContext, WriterModule } from "../../src/plugin/index.js";
import { reportCoordinateLosses } from "../shared/coordinate-losses.js";
import {
  emptyGeometryDrivers,
  fifteenDigitDrivers,
  firstDateByDriver,
  noTimeZoneDrivers,
  tableDrivers,
  uniformDimensionDrivers,
  utcOnlyDrivers,
  wholeSecondDrivers,
  writerCapabilities,
} from "./drivers/capabilities.js";
import { findDriver } from "./drivers/catalog.js";
import { referencingDrivers } from "./drivers/known-drivers.js";
import { toGdalOptions } from "./drivers/option-tables.js";
import { GdalConnection } from "./process/connection.js";
import { gdalEnvironment } from "./process/environment.js";
import { toWriteError } from "./process/failure.js";
import type { DriverInfo } from "./process/protocol.js";
import { encodeHeader, featureCountOffset } from "./write/flatgeobuf.js";
import { IdCheck } from "./write/id-check.js";
import {
  buildVrt,
  fieldColumnName,
  geometryColumn,
  idColumn,
  type LayerDescription,
  measuredType,
  ogrGeometryType,
} from "./write/layer-vrt.js";
import { moveFilesToSink, moveFolderToSink } from "./write/output-files.js";
import { reportDifferences, reportUndeclaredCrs, reportWriteWarning } from "./write/report-differences.js";
import { type DriverTraits, type RowChunk, RowEncoder } from "./write/row-encoder.js";
import { type TableGeometry, TableGeometryEncoder, toTableLayer } from "./write/table-geometry.js";

/** Values of the driver's options and of the added ones. */
export interface WriteOptionValues {
  readonly memory: number;
  /** For drivers of tables only. */
  readonly geometry?: TableGeometry;
  readonly [option: string]: unknown;
}

/** Default options that reduce losses. */
const losslessOptions: Readonly<Record<string, readonly string[]>> = {
  GML: ["-dsco", "FORMAT=GML3.2"],
  CSV: ["-lco", "GEOMETRY=AS_WKT"],
};

/** Temporary file with the rows of one layer for GDAL. */
class RowFile {
  private size = 0;
  features = 0;
  /** By field. */
  readonly values: number[];
  readonly sums: number[];

  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
    readonly ids: IdCheck,
    fields: number,
  ) {
    this.values = new Array<number>(fields).fill(0);
    this.sums = new Array<number>(fields).fill(0);
  }

  static async create(path: string, driver: string, fields: readonly Field[]): Promise<RowFile> {
    const file = await open(path, "wx", 0o600);
    const rows = new RowFile(path, file, new IdCheck(driver), fields.length);
    await rows.write(
      encodeHeader([
        { name: geometryColumn, type: "binary" },
        { name: idColumn, type: "int64" },
        ...fields.map(({ type }, index) => ({ name: fieldColumnName(index), type })),
      ]),
    );
    return rows;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.file.write(bytes, 0, bytes.length, this.size);
    this.size += bytes.length;
  }

  /** Writes the number of features into the header. */
  async close(): Promise<void> {
    const count = Buffer.alloc(8);
    count.writeBigUInt64LE(BigInt(this.features));
    await this.file.write(count, 0, count.length, featureCountOffset);
    await this.file.close();
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => {});
  }
}

class GdalAssembler implements Assembler<RowChunk> {
  private connection: GdalConnection | undefined;

  constructor(
    private readonly facts: DriverInfo,
    private readonly sink: Sink,
    private readonly layers: readonly TargetLayer[],
    private readonly values: WriteOptionValues,
    private readonly context: WriteContext,
    private readonly scratch: string,
    private readonly files: readonly RowFile[],
  ) {}

  async append({ rows, features, ids, ...counts }: RowChunk, layer: number): Promise<void> {
    const file = this.files[layer]!;
    await file.write(rows);
    file.features += features;
    file.ids.add(ids, features);
    const { context, facts } = this;
    const { empty } = counts;
    if (empty > 0) context.reportLoss("geometry-empty", undefined, "a geometry without positions became none", empty);
    reportCoordinateLosses(counts, context);
    const fields = this.layers[layer]!.fields ?? [];
    fields.forEach(({ name, type }, f) => {
      const [values, zoned, fractions] = [counts.values[f]!, counts.zoned[f]!, counts.fractions[f]!];
      file.values[f]! += values;
      file.sums[f]! += counts.sums[f]!;
      if (type === "datetime" && utcOnlyDrivers.has(facts.name)) {
        if (values > zoned)
          context.reportLoss("zone-assumed", name, "a time without a zone was written as UTC", values - zoned);
        const changed = counts.nonUtc[f]!;
        if (changed > 0) context.reportLoss("zone-dropped", name, "a time became the same instant in UTC", changed);
      }
      const long = counts.longNumbers[f]!;
      if (long > 0) context.reportLoss("number-rounded", name, `${facts.label} keeps fifteen digits of a number`, long);
      if (fractions > 0 && wholeSecondDrivers.has(facts.name)) {
        context.reportLoss("seconds-rounded", name, `${facts.label} keeps whole seconds here`, fractions);
      }
      const early = counts.earlyDates[f]!;
      if (early > 0) {
        const option = `--cast ${quoteForShell(`${name}=text`)}`;
        const example = `${facts.label} has no dates before ${firstDateByDriver[facts.name]}, so they became null; ${option} keeps them as text`;
        context.reportLoss("date-before-1900", name, example, early);
      }
      // GDAL's times have milliseconds.
      if (counts.subMillisecond[f]! > 0 && !wholeSecondDrivers.has(facts.name)) {
        context.reportLoss(
          "time-rounded",
          name,
          "fractions beyond milliseconds were dropped",
          counts.subMillisecond[f]!,
        );
      }
      if (zoned > 0 && noTimeZoneDrivers.has(facts.name)) {
        context.reportLoss(
          "time-zone-dropped",
          name,
          `${facts.label} keeps the clock time and not its time zone`,
          zoned,
        );
      }
    });
  }

  async finish(): Promise<void> {
    for (const file of this.files) await file.close();
    const { facts, sink, context, scratch, layers } = this;
    const source = join(scratch, "layers.vrt");
    const ids = this.chooseIds();
    const descriptions = await Promise.all(
      layers.map((layer, n) => this.description(layer, this.files[n]!.path, ids[n]!)),
    );
    await writeText(source, buildVrt(descriptions));
    const folder = sink.folderPath ?? join(scratch, "output");
    await mkdir(folder);
    const path = join(folder, this.fileName());
    this.connection = new GdalConnection({
      environment: gdalEnvironment(scratch, referencingDrivers.has(facts.name)),
      memory: this.values.memory,
      signal: context.signal,
      onWarning: (warning) => reportWriteWarning(warning, context),
    });
    try {
      const args = this.args(descriptions);
      const written = await this.connection.ask({ kind: "write", source, path, driver: facts.name, args });
      if (written.layers) reportDifferences(written.layers, layers, this.files, facts, context);
      else if (facts.reads) {
        const example = `GDAL cannot read the output of its driver ${facts.name}, so it was not checked for losses`;
        context.reportLoss("output-unreadable", undefined, example);
      }
    } catch (error) {
      throw toWriteError(error, sink.name, facts.name);
    } finally {
      await this.connection.close();
    }
    if (sink.folderPath === undefined) await moveFilesToSink(folder, basename(path), sink);
    else await moveFolderToSink(folder, basename(path));
  }

  /** File name for the driver: some store the name in the file, or derive names of other files from it. */
  private fileName(): string {
    const { sink, facts } = this;
    const name = basename(sink.name.replace(/[/\\]+$/, "")).replace(/\.zip$/i, "");
    return extname(name) === "" && facts.extensions[0] !== undefined ? `${name}.${facts.extensions[0]}` : name;
  }

  /** Chooses ids: if any layer keeps its ids, those of the others are counted. */
  private chooseIds(): LayerDescription["ids"][] {
    const { facts, files, context } = this;
    const keeps = writerCapabilities(facts).ids !== "id";
    const given = files.map(({ ids }) => keeps && ids.count > 0 && ids.canKeep());
    for (const [n, { ids }] of files.entries()) {
      if (!keeps || given[n] || ids.count === 0) continue;
      const example = `"${this.layers[n]!.name}" has ids that are missing, repeated or invalid for ${facts.label}; its features were renumbered`;
      context.reportLoss("id-changed", undefined, example, ids.count);
    }
    const otherwise = given.some(Boolean) ? "counted" : null;
    return given.map((isGiven) => (isGiven ? "given" : otherwise));
  }

  private async description(layer: TargetLayer, path: string, ids: LayerDescription["ids"]): Promise<LayerDescription> {
    const accepts = writerCapabilities(this.facts);
    const tables = tableDrivers.has(this.facts.name);
    return {
      name: layer.name,
      path,
      wkt: layer.crs && (await this.context.crs.toWkt(layer.crs, "wkt2")),
      geometryType: tables ? "wkbNone" : ogrGeometryType(layer.summary, accepts.families !== undefined),
      fields: layer.fields ?? [],
      ids,
    };
  }

  private args(descriptions: readonly LayerDescription[]): string[] {
    const { facts, values, layers } = this;
    const given = [
      ...toGdalOptions(facts.datasetOptions, values).flatMap((option) => ["-dsco", option]),
      ...toGdalOptions(facts.layerOptions, values).flatMap((option) => ["-lco", option]),
    ];
    const own = losslessOptions[facts.name] ?? [];
    const ownName = own[1]?.slice(0, own[1].indexOf("=") + 1);
    const isGiven = ownName !== undefined && given.some((option) => option.startsWith(ownName));
    const hasIds = descriptions.some(({ ids }) => ids !== null);
    const measured = descriptions.map(({ geometryType }, n) => measuredType(geometryType, layers[n]!.summary));
    // `-nlt` applies to all layers, so it is set only if it is the same for each.
    const [type] = measured;
    const typed = type && measured.every((other) => other === type) ? ["-nlt", type] : [];
    return [
      ...given,
      ...(isGiven ? [] : own),
      ...this.bounds(),
      ...typed,
      ...(hasIds ? ["-preserve_fid"] : ["-unsetFid"]),
    ];
  }

  /** A .tab stores coordinates as integers scaled to its bounds: GDAL's default bounds leave centimetres. */
  private bounds(): string[] {
    const { facts, values, layers, sink } = this;
    const extent = layers[0]?.summary?.extent;
    const isTab = facts.name === "MapInfo File" && /\.tab$/i.test(sink.name);
    if (!isTab || values.BOUNDS !== undefined || !extent) return [];
    const margin = Math.max(1, extent[2] - extent[0], extent[3] - extent[1]);
    const [left, bottom, right, top] = extent;
    const bounds = [left - margin, bottom - margin, right + margin, top + margin];
    return ["-lco", `BOUNDS=${bounds.join(",")}`];
  }

  async abort(): Promise<void> {
    await this.connection?.close();
    for (const file of this.files) await file.discard();
  }
}

async function writeText(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  await file.writeFile(text).finally(() => file.close());
}

const driverTraits = (driver: string): DriverTraits => ({
  hasOneDimension: uniformDimensionDrivers.has(driver),
  keepsEmpty: emptyGeometryDrivers.has(driver),
  hasFifteenDigits: fifteenDigitDrivers.has(driver),
  firstDate: firstDateByDriver[driver] ?? null,
});

/** Converts a layer for drivers of tables, and reports that its CRS is not declared. */
function dropGeometry(layer: TargetLayer, choice: TableGeometry, label: string, context: WriteContext): TargetLayer {
  const { crs, summary } = layer;
  const hasColumns = choice !== "none" && summary !== null && typesIn(summary).length > 0;
  if (hasColumns && crs !== null && crs.id !== context.crs.wgs84.id) {
    reportUndeclaredCrs(label, crs, context);
  }
  return toTableLayer(layer, choice);
}

/** Fields that the reader of a driver's files adds: ids of GML (GML 3.2.1, 7.2.4.5) and the driver's own of a DXF. */
const addedFields: Readonly<Record<string, readonly string[]>> = {
  GML: ["gml_id"],
  DXF: ["Layer", "PaperSpace", "SubClasses", "Linetype", "EntityHandle", "Text"],
};

export function createWriter(driver: string): WriterModule<WriteOptionValues, RowChunk> {
  return {
    async createEncoder(layer, { geometry = "auto" }, context) {
      if (!tableDrivers.has(driver)) return new RowEncoder(layer, driverTraits(driver));
      const { label } = findDriver(driver);
      const rows = new RowEncoder(toTableLayer(layer, geometry), driverTraits(driver));
      return new TableGeometryEncoder(layer, geometry, { name: driver, label }, rows, context);
    },
    readBack: () => ({ types: "value", order: "any", addedFields: addedFields[driver] ?? [] }),

    async createAssembler(sink, given, values, context) {
      const facts = findDriver(driver);
      const layers = tableDrivers.has(driver)
        ? given.map((layer) => dropGeometry(layer, values.geometry ?? "auto", facts.label, context))
        : given;
      const scratch = dirname(await context.createTemporaryPath("gdal.log"));
      const files: RowFile[] = [];
      for (const [n, layer] of layers.entries()) {
        files.push(
          await RowFile.create(await context.createTemporaryPath(`rows-${n}.fgb`), facts.name, layer.fields ?? []),
        );
      }
      return new GdalAssembler(facts, sink, layers, values, context, scratch, files);
    },
  };
}
