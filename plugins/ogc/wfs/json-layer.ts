/** Keeps pages of GeoJSON, and finds out whether they have the same content as GML. */
import type { Feature, Field } from "../../../src/model/index.js";
import { createError } from "../../../src/plugin/index.js";
import { FeatureSpool, type SpooledFeatures } from "../../shared/json/feature-spool.js";
import { parseFeatures } from "../../shared/json/parse-features.js";
import type { FeatureRange } from "../../shared/json/structure-scanner.js";
import type { Json } from "../../shared/json/values.js";
import type { Page, PageStore } from "../service/complete-download.js";
import { type BatchContext, decodeJson } from "./json-batches.js";
import { crsMemberOf, type JsonForm, parseJson } from "./json-pages.js";

export class JsonStore implements PageStore<readonly Json[]> {
  private spooled: SpooledFeatures | null = null;

  private constructor(private readonly spool: FeatureSpool) {}

  static async create(path: string): Promise<JsonStore> {
    return new JsonStore(await FeatureSpool.create(path));
  }

  append({ content }: Page<readonly Json[]>): Promise<void> {
    return this.spool.append(content);
  }

  async close(): Promise<void> {
    this.spooled = await this.spool.finish();
  }

  get ranges(): readonly FeatureRange[] {
    return this.spooled!.ranges;
  }
}

/** The features of a part of the temporary file. @throws input-corrupt */
export function parseSpooled(source: string, bytes: Buffer): Json[] {
  const { values, malformed } = parseFeatures(bytes);
  if (malformed.length > 0) throw createError("input-corrupt", { source, reason: malformed[0]!.reason });
  return values as Json[];
}

export const quietContext: BatchContext & { reportNotice(): void } = {
  keepsBadGeometries: true,
  reject: () => undefined,
  reportLoss: () => undefined,
  reportNotice: () => undefined,
};

/** A feature as text, with types: two features with equal texts have the same values. */
const describe = ({ id, geometry, properties }: Feature): string =>
  JSON.stringify([id, geometry, properties], (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

/**
 * Compares features in GeoJSON with the same ones in GML: ids, values and all digits of the coordinates, whose order of
 * axes no standard says.
 * @returns how to read the pages, or why they must not be used
 */
export function sampleJson(
  source: string,
  body: Buffer,
  outputFormat: string,
  fields: readonly Field[],
  expected: readonly Feature[],
): JsonForm | string {
  const { json, features } = parseJson(source, body);
  if (expected.length === 0) return "there is no feature to compare";
  if (features.length !== expected.length) return "its number of features differs from that in GML";
  const wanted = expected.map(describe);
  for (const isNorthFirst of [false, true]) {
    const found = [...decodeJson(features, fields, isNorthFirst, 1, quietContext)].flatMap((batch) => [
      ...batch.features(),
    ]);
    if (found.every((feature, k) => describe(feature) === wanted[k]))
      return { outputFormat, crs: crsMemberOf(json), isNorthFirst };
  }
  return "the first features have other ids, values or coordinates in it than in GML";
}
