/** Geometries for drivers of tables: coordinate columns if all are points, else a WKT column, as in the CSV writer. */
import {
  type Batch,
  BytesBuilder,
  type Column,
  emptyKindSummary,
  type Field,
  Kind,
  NumberBuilder,
  positionRange,
  uniqueName,
} from "../../../src/model/index.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { reportMissingCoordinates } from "../../shared/coordinate-losses.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { WktWriter } from "../../shared/wkt/index.js";
import type { RowChunk, RowEncoder } from "./row-encoder.js";

/** Choices of the option `geometry`. */
export const tableGeometries = ["auto", "xy", "wkt", "none"] as const;
export type TableGeometry = (typeof tableGeometries)[number];

/** Maximum length of a cell in characters (Excel specifications and limits). */
const maxCellLength: Readonly<Record<string, number>> = { XLSX: 32_767 };

interface TableLayout {
  readonly mode: Exclude<TableGeometry, "auto">;
  /** Columns of the geometry, before the others. */
  readonly fields: readonly Field[];
}

function chooseMode({ summary }: TargetLayer): TableLayout["mode"] {
  const geometries = summary!.featureCount - summary!.kinds[Kind.none]!.count;
  if (geometries === 0) return "none";
  return geometries === summary!.kinds[Kind.Point]!.count && !summary!.hasM ? "xy" : "wkt";
}

function createLayout(layer: TargetLayer, choice: TableGeometry): TableLayout {
  const mode = choice === "auto" ? chooseMode(layer) : choice;
  const taken = new Set((layer.fields ?? []).map(({ name }) => name));
  const field = (name: string, type: Field["type"]): Field => ({ name: uniqueName(name, taken), type });
  if (mode === "none") return { mode, fields: [] };
  if (mode === "wkt") return { mode, fields: [field("wkt", "text")] };
  const names = layer.crs?.kind === "geographic" ? ["lon", "lat"] : ["x", "y"];
  return { mode, fields: [...names, ...(layer.summary!.hasZ ? ["z"] : [])].map((name) => field(name, "double")) };
}

/** Converts a layer to a table: geometry columns become fields. */
export function toTableLayer(layer: TargetLayer, choice: TableGeometry): TargetLayer {
  const { fields } = createLayout(layer, choice);
  const { featureCount } = layer.summary!;
  const kinds = layer.summary!.kinds.map((_, kind) => ({
    ...emptyKindSummary(),
    count: kind === Kind.none ? featureCount : 0,
  }));
  const summary = { ...layer.summary!, kinds, hasZ: false, hasM: false, extent: null };
  return { ...layer, fields: [...fields, ...(layer.fields ?? [])], summary };
}

/** Moves geometries into columns before rows are encoded. */
export class TableGeometryEncoder implements Encoder<RowChunk> {
  private readonly layout: TableLayout;
  private readonly out = new TextBuffer();
  private readonly wkt = new WktWriter(this.out, null);
  private readonly longest: number;

  /**
   * @param rows encoder of the layer from `toTableLayer`
   * @param label name of the driver for messages
   */
  constructor(
    layer: TargetLayer,
    choice: TableGeometry,
    private readonly driver: { readonly name: string; readonly label: string },
    private readonly rows: RowEncoder,
    private readonly context: WriteContext,
  ) {
    this.layout = createLayout(layer, choice);
    this.longest = maxCellLength[driver.name] ?? Number.POSITIVE_INFINITY;
  }

  encode(batch: Batch): RowChunk {
    const { mode, fields } = this.layout;
    this.reportLosses(batch);
    const columns = mode === "none" ? [] : mode === "xy" ? this.coordinates(batch) : [this.texts(batch)];
    const kinds = new Uint8Array(batch.length);
    return this.rows.encode(
      batch.with({
        fields: [...fields, ...batch.fields],
        columns: [...columns, ...batch.columns],
        geometry: { ...batch.geometry, kinds },
      }),
    );
  }

  private reportLosses({ geometry: { kinds }, length }: Batch): void {
    const { mode, fields } = this.layout;
    let [geometries, others] = [0, 0];
    for (let row = 0; row < length; row++) {
      if (kinds[row] !== Kind.none) geometries += 1;
      if (kinds[row] !== Kind.none && kinds[row] !== Kind.Point) others += 1;
    }
    const { label } = this.driver;
    const names = fields.map(({ name }) => `"${name}"`).join(", ");
    const dropped = mode === "none" ? geometries : mode === "xy" ? others : 0;
    if (dropped > 0) {
      const why =
        mode === "xy" ? "coordinate columns hold points" : `${label} has no geometries, and --out geometry=none`;
      this.context.reportLoss("geometry-dropped", undefined, why, dropped);
    }
    if (geometries > dropped) {
      const example = `${label} has no geometries; they were written to the columns ${names}`;
      this.context.reportLoss("geometry-as-columns", undefined, example, geometries - dropped);
    }
  }

  private coordinates({ geometry, length }: Batch): Column[] {
    const { kinds, xy, z } = geometry;
    const builders = this.layout.fields.map(() => new NumberBuilder("double"));
    for (let row = 0; row < length; row++) {
      const [from, to] = kinds[row] === Kind.Point ? positionRange(geometry, row) : [0, 0];
      const values = to > from ? [xy[2 * from]!, xy[2 * from + 1]!, z ? z[from]! : Number.NaN] : [];
      builders.forEach((builder, c) => {
        const value = values[c] ?? Number.NaN;
        if (Number.isNaN(value)) builder.pushNull();
        else builder.push(value);
      });
    }
    return builders.map((builder) => builder.finish());
  }

  private texts({ geometry, length }: Batch): Column {
    const { wkt, out, context } = this;
    const builder = new BytesBuilder("text");
    for (let row = 0; row < length; row++) {
      if (geometry.kinds[row] === Kind.none) {
        builder.pushNull();
        continue;
      }
      wkt.write(geometry, row);
      const text = out.finish();
      if (text.length <= this.longest) builder.pushBytes(text, 0, text.length);
      else {
        builder.pushNull();
        const example = `the WKT has ${text.length} characters, more than the ${this.longest} of a cell of ${this.driver.label}`;
        context.reportLoss("geometry-dropped", undefined, example);
      }
    }
    reportMissingCoordinates(wkt, context);
    return builder.finish();
  }
}
