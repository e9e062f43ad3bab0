/** Opens a dataset and reads its layers in batches. Runs in the GDAL process. */
import type { Dataset, Feature as GdalFeature, Layer } from "gdal-async";
import { type BatchData, BigintBuilder, type Field, GeometryBuilder } from "../../../src/model/index.js";
import { WkbReader } from "../../shared/wkb/index.js";
import { referencingDrivers } from "../drivers/known-drivers.js";
import type { Gdal } from "../process/library.js";
import type { GdalLog } from "../process/log.js";
import type { FieldPlan, GdalReply, GdalRequest, LayerInfo, UnreadableGeometry } from "../process/protocol.js";
import { GeometryBatch } from "./geometry-batch.js";
import { type ReadLayer, readLayers, selectLayer } from "./layer-facts.js";
import { quoteOgrName } from "./ogr-sql.js";
import { createValueColumn, type ValueColumn } from "./value-columns.js";

/** Row limit of a batch; `GeometryBatch` limits the size of geometries. */
const maxBatchRows = 1024;
const maxReplyBatches = 4;

type RowsReply = Omit<GdalReply & { readonly kind: "rows" }, "warnings">;

/** Types read as text: gdal-async rounds integers beyond 2^53 and drops fractions of seconds and offsets of times. */
const textReadTypes = new Set(["OFTInteger64", "OFTDate", "OFTTime", "OFTDateTime"]);

interface LayerSelection {
  readonly sql: string;
  /** Whether the fields of `byText` come as text. */
  readonly casts: boolean;
}

/** SQL selections to try, best first; empty if the layer is read directly. */
function planSelections({ facts, geometryColumn, isFirst }: ReadLayer, table: string): LayerSelection[] {
  const { fields } = facts;
  if (geometryColumn === null && !fields.some(({ ogrType }) => textReadTypes.has(ogrType))) return [];
  const names = new Set(fields.map((field) => field.name.toLowerCase()));
  const columns = fields.map(({ name: field, ogrType }) =>
    textReadTypes.has(ogrType)
      ? `CAST(${quoteOgrName(field)} AS CHARACTER) AS ${quoteOgrName(field)}`
      : quoteOgrName(field),
  );
  const geometry = geometryColumn === null ? [] : [quoteOgrName(geometryColumn)];
  const named = { sql: `SELECT ${[...geometry, ...columns].join(", ")} FROM ${quoteOgrName(table)}`, casts: true };
  const all = { sql: `SELECT * FROM ${quoteOgrName(table)}`, casts: false };
  return [
    // SQL cannot distinguish names that differ only in case.
    ...(names.size === fields.length ? [named] : []),
    // A first geometry column without a name can only be selected with SELECT *.
    ...(geometryColumn !== null && isFirst ? [all] : []),
  ];
}

/** Checks that the driver exists. */
function findDriverName(gdal: Gdal, name: string) {
  try {
    return gdal.drivers.get(name);
  } catch (error) {
    throw new Error(`GDAL ${gdal.version} has no driver ${name}`, { cause: error });
  }
}

export class DatasetReading {
  private readonly layers: readonly ReadLayer[];
  private current: LayerInfo | undefined;
  private source: Layer | undefined;
  private cells: ValueColumn[] = [];
  private started = false;
  private ids: BigintBuilder | null = null;
  private readonly geometry = new GeometryBuilder();
  private readonly wkb = new WkbReader();
  private readonly run: GeometryBatch;
  private record = 0;

  private constructor(
    private readonly gdal: Gdal,
    private readonly log: GdalLog,
    private readonly dataset: Dataset,
    private readonly driver: string,
  ) {
    this.run = new GeometryBatch(gdal, this.wkb);
    this.layers = dataset.layers
      .map((layer, index) => ({ layer, index }))
      .flatMap(({ layer, index }) => readLayers(gdal, log, dataset, layer, index));
  }

  /** @throws Error with GDAL's message */
  static open(
    gdal: Gdal,
    log: GdalLog,
    { path, driver, options }: GdalRequest & { readonly kind: "open" },
  ): DatasetReading {
    const safe = () =>
      gdal.drivers
        .map((each) => each)
        .filter((each) => (each.getMetadata() as Record<string, string>).DCAP_VECTOR === "YES")
        .map((each) => each.description)
        .filter((name) => !referencingDrivers.has(name));
    const dataset =
      driver === null ? gdal.open(path, "r", safe()) : findDriverName(gdal, driver).open(path, "r", [...options]);
    return new DatasetReading(gdal, log, dataset, driver ?? dataset.driver.description);
  }

  facts(): { readonly kind: "open"; readonly driver: string; readonly layers: readonly LayerInfo[] } {
    return { kind: "open", driver: this.driver, layers: this.layers.map(({ facts }) => facts) };
  }

  /** Rewinds to the first feature of a layer. */
  start(index: number, ids: boolean): void {
    const layer = this.layers[index]!;
    const { facts } = layer;
    this.current = facts;
    const whole = this.dataset.layers.get(layer.index);
    const selected = this.select(planSelections(layer, whole.name));
    if (layer.geometryColumn !== null && !selected)
      throw new Error(`the geometries "${layer.geometryColumn}" of the layer ${whole.name} cannot be selected`);
    this.source = selected?.layer ?? whole;
    this.cells = facts.fields.map((field) =>
      createValueColumn(field, selected?.casts === true && textReadTypes.has(field.ogrType)),
    );
    this.ids = ids ? new BigintBuilder() : null;
    this.started = false;
    this.record = 0;
  }

  private select(selections: readonly LayerSelection[]): { readonly layer: Layer; readonly casts: boolean } | null {
    for (const { sql, casts } of selections) {
      try {
        return { layer: selectLayer(this.dataset, sql), casts };
      } catch {
        // Try the next one, then the layer itself.
        this.log.takeErrors();
      }
    }
    return null;
  }

  private next(): GdalFeature | null {
    const features = this.source!.features;
    const feature = this.started ? features.next() : features.first();
    this.started = true;
    return feature;
  }

  rows(): RowsReply {
    const batches: BatchData[] = [];
    const unreadable: UnreadableGeometry[] = [];
    let done = false;
    while (!done && batches.length < maxReplyBatches) {
      const batch = this.batch(unreadable);
      if (batch) batches.push(batch);
      done = this.ended;
    }
    const { curves, closedRings, unreadable: partly } = this.wkb;
    this.wkb.curves = 0;
    this.wkb.closedRings = 0;
    this.wkb.unreadable = 0;
    const rounded = this.cells.reduce((sum, cells) => sum + cells.rounded, 0);
    const dates = this.cells.map((cells) => cells.unreadable);
    for (const cells of this.cells) cells.rounded = cells.unreadable = 0;
    const tally = { curves, closedRings, unreadable: partly };
    return { kind: "rows", batches, unreadable, tally, rounded, dates, done };
  }

  private ended = false;

  private batch(unreadable: UnreadableGeometry[]): BatchData | null {
    const { geometry, cells, run } = this;
    const firstRecord = this.record + 1;
    const rows: { readonly fid: number; readonly values: readonly unknown[] }[] = [];
    this.ended = false;
    geometry.reset();
    while (rows.length < maxBatchRows && !run.isFull) {
      const feature = this.next();
      if (!feature) {
        this.ended = true;
        this.checkEnd();
        break;
      }
      if (this.current!.isTable) run.addNone();
      else run.add(feature);
      rows.push({ fid: feature.fid, values: feature.fields.toArray() as unknown[] });
    }
    run.take(geometry, (row, reason) => {
      const { fid, values } = rows[row]!;
      if (reason !== null) {
        unreadable.push({ record: firstRecord + row, fid, reason });
        geometry.addNull();
      }
      for (let f = 0; f < cells.length; f++) cells[f]!.add(values[f]);
      this.ids?.push(BigInt(fid));
    });
    this.record += rows.length;
    const { length } = geometry;
    if (length === 0) return null;
    const ids = this.ids?.finish() ?? null;
    if (this.ids) this.ids = new BigintBuilder();
    return {
      length,
      ids,
      fields: fieldsOf(this.current!),
      columns: cells.map((each) => each.finish()),
      geometry: geometry.finish(),
      recordNumbers: null,
      firstRecord,
    };
  }

  /** Detects a damaged file, which GDAL may report like the end of the layer. @throws Error */
  private checkEnd(): void {
    const error = this.gdal.lastError as { readonly level: number; readonly message: string } | null;
    if (error && error.level >= this.gdal.CE_Failure) throw new Error(error.message);
  }
}

export function fieldsOf({ fields }: { readonly fields: readonly FieldPlan[] }): Field[] {
  return fields.map(({ name, type, width, decimals }) => ({
    name,
    type,
    ...(width > 0 && type === "double" ? { width, decimals } : {}),
  }));
}
