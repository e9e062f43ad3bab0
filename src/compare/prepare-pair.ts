/** Brings both layers of a pair to the same reference system and the same rules, so that their digests are comparable. */

import type { ComparisonRules } from "../canonical/rules.js";
import { isWgs84 } from "../crs/index.js";
import type { Spool } from "../io/input/spool.js";
import type { Crs } from "../model/layer.js";
import type { Loss } from "../model/report.js";
import type { Executor } from "../pipeline/execute/executor.js";
import type { Host } from "../pipeline/request.js";
import type { Registry } from "../plugin/registry.js";
import { requestedKey } from "./match/choose-key.js";
import {
  type CrsComparison,
  compareCrs,
  compareSchemas,
  type FieldDifference,
  type LayerPair,
  limitsOf,
} from "./pair-layers.js";
import type { CompareRequest } from "./request.js";
import { defaultDecimals, type EncoderRules, resolveRules } from "./spool/comparison-format.js";
import { respoolLayer } from "./spool/read-side.js";
import type { SpooledLayer } from "./spool/spooled-side.js";

export interface PreparedPair extends Disposable {
  readonly pair: LayerPair;
  readonly rules: ComparisonRules;
  readonly schema: readonly FieldDifference[];
  readonly crs: CrsComparison;
  /** Features that could not be reprojected. */
  readonly rejected: number;
  readonly rejectReason: string | null;
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
}

/** The rules with which sides are read, before their formats, fields and reference systems are known. */
export function assumedRules(request: CompareRequest, registry: Registry): EncoderRules {
  const limits = (["old", "new"] as const).map((side) => {
    const from = request[`${side}Options`]?.from ?? request.from;
    const format = registry.findByExtension(request[side])[0];
    return limitsOf(from === undefined ? (format?.id ?? "") : registry.get(from).id, registry);
  });
  return {
    decimals: request.precision ?? null,
    fields: null,
    ignored: request.ignore ?? [],
    comparisons: {},
    emptyTextIsNull: limits.some(({ emptyTextIsNull }) => emptyTextIsNull),
    ignoresTrailingBlanks: limits.some(({ padsText }) => padsText),
    ignoresHeights: false,
    ignoresMeasures: false,
    withIds: request.match === "id",
  };
}

/** @throws crs-no-operation, field-missing, usage */
export async function preparePair(
  given: LayerPair,
  request: CompareRequest,
  assumed: EncoderRules,
  host: Host,
  spool: Spool,
  executor: Executor | null,
): Promise<PreparedPair> {
  const limits = { old: limitsOf(given.old.format, host.registry), new: limitsOf(given.new.format, host.registry) };
  const sides = [limits.old, limits.new];
  const { differences, shared, comparisons, idFields } = compareSchemas(given.old, given.new, assumed.ignored, limits);
  const crs = await compareCrs(given.old, given.new);
  const { isReprojected, taken } = crs;
  const decimals = isReprojected ? 7 : defaultDecimals(taken.new ?? taken.old);
  const rules: ComparisonRules = {
    ...assumed,
    decimals: request.precision ?? decimals,
    fields: shared,
    comparisons,
    emptyTextIsNull: sides.some(({ emptyTextIsNull }) => emptyTextIsNull),
    ignoresTrailingBlanks: sides.some(({ padsText }) => padsText),
    ignoresHeights: sides.some(({ z }) => !z),
    ignoresMeasures: sides.some(({ m }) => !m),
    withIds: requestedKey(request, given)?.by === "id",
  };
  const results: Awaited<ReturnType<typeof respoolLayer>>[] = [];
  const prepare = async (layer: SpooledLayer, system: Crs | null): Promise<SpooledLayer> => {
    const toWgs84 = isReprojected && !isWgs84(system!);
    if (!toWgs84 && hasSameDigests(layer, resolveRules(assumed, layer.crs), rules)) return layer;
    const { accuracy, grids, workers } = request;
    const result = await respoolLayer(
      layer,
      rules,
      { accuracy, grids, workers, toWgs84From: toWgs84 ? system : null },
      host,
      spool,
      executor,
    );
    results.push(result);
    return result.layer;
  };
  const pair = { name: given.name, old: await prepare(given.old, taken.old), new: await prepare(given.new, taken.new) };
  return {
    pair,
    rules,
    schema: differences,
    crs,
    rejected: results.reduce((sum, { report }) => sum + report.rejected, 0),
    rejectReason: results.find(({ rejectReason }) => rejectReason !== null)?.rejectReason ?? null,
    losses: results.flatMap(({ report }) => report.losses),
    notices: [
      ...results.flatMap(({ report }) => report.notices),
      ...idFields.map(({ field, side }) => ({
        code: "id-as-field",
        layer: given.name,
        field,
        count: 1,
        example: `the format of the ${side} side has no feature ids; the field stands for those of the other side and is not compared`,
      })),
    ],
    [Symbol.dispose]: () => {
      for (const { layer } of results) layer[Symbol.dispose]();
    },
  };
}

/** Whether the features of a layer have the same digests under both rules. */
function hasSameDigests(layer: SpooledLayer, one: ComparisonRules, other: ComparisonRules): boolean {
  if (layer.rows === 0) return true;
  const fields = layer.fields.filter(({ name }) => !other.ignored.includes(name));
  const texts = fields.some(({ type }) => type === "text" || type === "json");
  return (
    (one.decimals === other.decimals || layer.geometryTypes.length === 0) &&
    fields.every(({ name }) => other.fields === null || other.fields.includes(name)) &&
    Object.keys(other.comparisons).length === 0 &&
    (!texts ||
      (one.emptyTextIsNull === other.emptyTextIsNull && one.ignoresTrailingBlanks === other.ignoresTrailingBlanks)) &&
    (!layer.hasZ || one.ignoresHeights === other.ignoresHeights) &&
    (!layer.hasM || one.ignoresMeasures === other.ignoresMeasures) &&
    one.withIds === other.withIds
  );
}
