/** Decodes features of Esri JSON into batches. */
import { Batch, type Feature, packFeatures } from "../../../src/model/index.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { type MalformedFeature, parseFeatures } from "../../shared/json/parse-features.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { AttributeColumns } from "../fields/attribute-columns.js";
import { EsriGeometryParser } from "../geometry/parse-geometry.js";
import type { EsriLayerPlan } from "./layer-plan.js";

const batchSize = 1000;
const featureMembers = new Set(["attributes", "geometry"]);
/** Most bytes of a text in a reject. */
const maxRejectedText = 10_000;

/** Decodes the parts of a layer one after the other. */
export class FeatureBatches {
  private readonly geometry: EsriGeometryParser;

  /** @param source the name of the file or service, for messages */
  constructor(
    private readonly source: string,
    private readonly plan: EsriLayerPlan,
    private readonly context: ReadContext,
  ) {
    this.geometry = new EsriGeometryParser(plan.dimensions);
  }

  /**
   * @param bytes the features of a part
   * @param start the offset of the part in the file
   * @param firstRecord the record number of its first feature
   * @throws input-corrupt
   */
  *read(bytes: Buffer, start: number, firstRecord: number): Generator<Batch> {
    const { values, malformed, hasInvalidUtf8 } = parseFeatures(bytes);
    if (hasInvalidUtf8)
      this.context.reportNotice("invalid-utf8", undefined, "bytes that are not UTF-8 were replaced by U+FFFD");
    const broken = new Map(malformed.map((each) => [each.index, each]));
    for (let from = 0; from < values.length; from += batchSize) {
      this.context.signal.throwIfAborted();
      const features: Json[] = [];
      const records: number[] = [];
      for (let i = from; i < Math.min(values.length, from + batchSize); i++) {
        const record = firstRecord + i;
        const flaw = broken.get(i);
        if (flaw) this.malformed(flaw, start, record);
        else if (this.isFeature(values[i], record)) {
          features.push(values[i] as Json);
          records.push(record);
        }
      }
      if (features.length > 0) yield this.batch(features, records);
    }
  }

  private malformed({ offset, text, reason }: MalformedFeature, start: number, record: number): void {
    const place = { record, byte: start + offset };
    if (!this.context.skipErrors)
      throw createError("input-corrupt", { source: this.source, place, reason, canSkip: true });
    this.context.reject({ code: "input-corrupt", reason, place, feature: null, text: text.slice(0, maxRejectedText) });
  }

  private isFeature(value: unknown, record: number): boolean {
    const reason = flawOf(value);
    if (reason === null) return true;
    const text = JSON.stringify(value)?.slice(0, maxRejectedText) ?? "";
    this.context.reject({ code: "feature-invalid", reason, place: { record }, feature: null, text });
    return false;
  }

  private batch(features: readonly Json[], records: readonly number[]): Batch {
    const { plan, context, geometry } = this;
    const unreadable: [row: number, reason: string][] = [];
    for (const [row, feature] of features.entries()) {
      for (const name in feature)
        if (!featureMembers.has(name))
          context.reportLoss("foreign-member", name, "a member beside attributes and geometry was left out");
      try {
        geometry.add(feature.geometry);
      } catch (error) {
        if (!(error instanceof GeometryParseError)) throw error;
        geometry.addNull();
        unreadable.push([row, error.message]);
      }
    }
    const column = geometry.finish(context);
    const { length } = features;
    const hasGaps = records.at(-1)! - records[0]! >= length;
    const numbers = {
      recordNumbers: hasGaps ? Uint32Array.from(records) : null,
      firstRecord: records[0]!,
    };
    let batch: Batch;
    if (plan.fields) {
      const columns = new AttributeColumns(plan.fields, context, length);
      for (const feature of features) columns.push(attributesOf(feature));
      const fields = plan.fields.fields.map(({ field }) => field);
      batch = new Batch({ length, fields, ids: null, columns: columns.finish(), geometry: column, ...numbers });
    } else {
      const plain = features.map(
        (feature): Feature => ({ type: "Feature", geometry: null, properties: attributesOf(feature) }),
      );
      batch = packFeatures(plain, records[0]!).with({ geometry: column, ...numbers });
    }
    return rejectUnreadableGeometries(batch, unreadable, context);
  }
}

const attributesOf = ({ attributes }: Json): Record<string, unknown> =>
  isObject(attributes) ? (attributes as Record<string, unknown>) : {};

/** Why a value is not a feature; null if it is one. */
function flawOf(value: unknown): string | null {
  if (!isObject(value)) return "it is not an object";
  const { attributes, geometry } = value;
  if (attributes !== undefined && attributes !== null && !isObject(attributes))
    return "its attributes are not an object";
  if (attributes === undefined && geometry === undefined)
    return "properties" in value
      ? "it has properties like a GeoJSON feature instead of attributes"
      : "it has neither attributes nor a geometry";
  return null;
}
