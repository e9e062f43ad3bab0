/** Builds batches of features of GeoJSON with the fields that DescribeFeatureType declares. */
import {
  Batch,
  BytesBuilder,
  type ColumnBuilder,
  columnBuilder,
  type Field,
  GeometryBuilder,
  Presence,
} from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { toGeometry } from "../features/geojson-geometry.js";
import { fitsType, pushText } from "../gml/feature-batches.js";

const maxRows = 1000;

export type BatchContext = Pick<ReadContext, "keepsBadGeometries" | "reject" | "reportLoss">;

/** @param firstRecord the record number of the first feature */
export function* decodeJson(
  features: readonly Json[],
  fields: readonly Field[],
  isNorthFirst: boolean,
  firstRecord: number,
  context: BatchContext,
): Generator<Batch> {
  for (let from = 0; from < features.length; from += maxRows) {
    const some = features.slice(from, from + maxRows);
    yield new JsonBatch(fields, isNorthFirst, context).build(some, firstRecord + from);
  }
}

class JsonBatch {
  private readonly builders: readonly ColumnBuilder[];
  private readonly byName: ReadonlyMap<string, number>;
  private readonly geometry = new GeometryBuilder();
  private readonly unreadable: [row: number, reason: string][] = [];

  constructor(
    private readonly fields: readonly Field[],
    private readonly isNorthFirst: boolean,
    private readonly context: BatchContext,
  ) {
    this.builders = fields.map(({ type }) => columnBuilder(type, maxRows));
    this.byName = new Map(fields.map(({ name }, index) => [name, index]));
  }

  build(features: readonly Json[], firstRecord: number): Batch {
    const { builders, fields, geometry, unreadable, context } = this;
    const ids = new BytesBuilder("text", features.length);
    for (const [row, feature] of features.entries()) {
      const { id, properties } = feature;
      if (typeof id === "string" || typeof id === "number") ids.push(String(id));
      else ids.pushNull();
      this.addGeometry(feature.geometry, row);
      if (isObject(properties)) for (const name in properties) this.addProperty(name, properties[name]);
      for (const builder of builders) if (builder.length === row) builder.pushNull(Presence.null);
    }
    const columns = builders.map((builder) => builder.finish());
    const { length } = features;
    const batch = new Batch({
      ...{ length, fields, ids: ids.finish(), columns },
      ...{ geometry: geometry.finish(), recordNumbers: null, firstRecord },
    });
    return rejectUnreadableGeometries(batch, unreadable, context);
  }

  private addGeometry(value: unknown, row: number): void {
    try {
      const found = toGeometry(value, this.isNorthFirst);
      if (found === null) this.geometry.addNull();
      else this.geometry.addGeoJson(found);
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      this.geometry.addNull();
      this.unreadable.push([row, error.message]);
    }
  }

  private addProperty(name: string, value: unknown): void {
    const { byName, builders, fields, context } = this;
    const index = byName.get(name);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (index === undefined) {
      if (value !== null) context.reportLoss("attribute-undeclared", name, text.slice(0, 80));
      return;
    }
    const builder = builders[index]!;
    const { type } = fields[index]!;
    if (value === null) builder.pushNull();
    else if (fitsType(text, type)) pushText(builder, text);
    else {
      context.reportLoss("value-type-mismatch", name, `"${text.slice(0, 60)}" does not fit the declared type`);
      builder.pushNull();
    }
  }
}
