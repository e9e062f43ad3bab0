/** Decodes the features of one object of a topology into batches. */
import { type Batch, type Feature, packFeatures, uniqueName } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import type { GeometryDecoder } from "./geometry-decoder.js";
import { defineProperty, MarkedIntegers } from "./marked-integers.js";

const batchSize = 1000;
/** Most characters of a text in a reject. */
const maxRejectedText = 10_000;
/** Properties nested deeper than this are refused, because they become JSON again. */
const maxDepth = 512;

/** Members of a geometry (TopoJSON 1.0, 2.2), and the properties and id that make it a feature. */
const knownMembers = new Set(["type", "id", "properties", "arcs", "coordinates", "geometries", "bbox"]);

export class FeatureBatches {
  private readonly integers: MarkedIntegers;

  /** @param fid the name of a field for the ids; null for none */
  constructor(
    private readonly decoder: GeometryDecoder,
    mark: string,
    private readonly fid: string | null,
    private readonly context: ReadContext,
  ) {
    this.integers = new MarkedIntegers(mark, context);
  }

  /** @param geometries the geometries of an object */
  *read(geometries: readonly unknown[]): Generator<Batch> {
    for (let from = 0; from < geometries.length; from += batchSize) {
      this.context.signal.throwIfAborted();
      const batch = this.batch(geometries.slice(from, from + batchSize), from + 1);
      if (batch) yield batch;
    }
    this.reportNotes();
  }

  private batch(values: readonly unknown[], firstRecord: number): Batch | null {
    const features: Feature[] = [];
    const records: number[] = [];
    const unreadable: [row: number, reason: string][] = [];
    for (const [k, value] of values.entries()) {
      const flaw = flawOf(value);
      if (flaw === null) {
        features.push(this.feature(value as Json, features.length, unreadable));
        records.push(firstRecord + k);
      } else this.reject(value, flaw, firstRecord + k);
    }
    if (features.length === 0) return null;
    this.integers.restore(features);
    const batch = packFeatures(features, records[0]!).with({ recordNumbers: Uint32Array.from(records) });
    return rejectUnreadableGeometries(batch, unreadable, this.context);
  }

  private reject(value: unknown, reason: string, record: number): void {
    const text = isTooDeep(value) ? "" : (JSON.stringify(value) ?? "").slice(0, maxRejectedText);
    this.context.reject({ code: "feature-invalid", reason, place: { record }, feature: null, text });
  }

  private feature(object: Json, row: number, unreadable: [row: number, reason: string][]): Feature {
    const { context, fid } = this;
    for (const name in object)
      if (!knownMembers.has(name))
        context.reportLoss("foreign-member", name, "a member beside properties and geometry was left out");
    let geometry: Feature["geometry"] = null;
    try {
      geometry = this.decoder.decode(object);
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      unreadable.push([row, error.message]);
    }
    const { id } = object;
    const hasId = typeof id === "string" || typeof id === "number";
    if (!hasId && id !== undefined && id !== null)
      context.reportLoss("foreign-member", "id", "an id that is neither text nor a number was left out");
    // A copy, because the document is read again for each pass.
    const properties: Record<string, unknown> = isObject(object.properties) ? { ...object.properties } : {};
    if (fid !== null && hasId) defineProperty(properties, uniqueName(fid, new Set(Object.keys(properties))), id);
    return { type: "Feature", ...(hasId && { id }), geometry, properties };
  }

  private reportNotes(): void {
    const { context } = this;
    const { notes } = this.decoder;
    if (notes.emptyParts > 0)
      context.reportNotice(
        "empty-part",
        undefined,
        "a line, ring or polygon without arcs was left out",
        notes.emptyParts,
      );
    if (notes.closedRings > 0)
      context.reportNotice("ring-closed", undefined, "an open ring was closed", notes.closedRings);
    if (notes.extraCoordinates > 0)
      context.reportLoss(
        "extra-coordinates",
        undefined,
        "the fourth and further numbers of positions were left out",
        notes.extraCoordinates,
      );
    Object.assign(notes, { emptyParts: 0, closedRings: 0, extraCoordinates: 0 });
  }
}

/** Why a value is not a feature; null if it is one. */
function flawOf(value: unknown): string | null {
  if (!isObject(value)) return "it is not an object";
  const { properties } = value;
  if (properties !== null && properties !== undefined && !isObject(properties))
    return "its properties are not an object";
  return isTooDeep(properties) ? `its properties are nested more than ${maxDepth} deep` : null;
}

function isTooDeep(value: unknown): boolean {
  const open: [unknown, number][] = [[value, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [inner, depth] = next;
    if (typeof inner !== "object" || inner === null) continue;
    if (depth > maxDepth) return true;
    for (const each of Object.values(inner)) open.push([each, depth + 1]);
  }
  return false;
}
