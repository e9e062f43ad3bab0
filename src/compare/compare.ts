/** Compares two inputs: read both sides, pair their layers, match the features of each pair, report the differences. */

import { cancelEqual } from "../canonical/cancel-equal.js";
import { crsContext } from "../crs/index.js";
import { createError } from "../errors.js";
import { Spool } from "../io/input/spool.js";
import type { Field } from "../model/field.js";
import type { Crs } from "../model/layer.js";
import type { Loss, SkippedRange } from "../model/report.js";
import { fileSize, isSingleThreadFaster, openExecutor, threadCount } from "../pipeline/execute/choose-executor.js";
import type { Executor } from "../pipeline/execute/executor.js";
import type { Host } from "../pipeline/request.js";
import type { ChangeKind, FeatureChange } from "./changes/feature-change.js";
import type { ToDegrees } from "./changes/movement.js";
import { readChanges, readWholeLayer } from "./changes/read-changes.js";
import { createToDegrees } from "./degrees.js";
import { chooseKey, type KeyChoice } from "./match/choose-key.js";
import { matchRows } from "./match/match-rows.js";
import { type CrsComparison, type FieldDifference, type LayerPair, pairLayers } from "./pair-layers.js";
import { assumedRules, preparePair } from "./prepare-pair.js";
import type { CompareRequest } from "./request.js";
import { readSide, type SpooledSide } from "./spool/read-side.js";
import type { SpooledLayer } from "./spool/spooled-side.js";
import { Workspace } from "./workspace.js";

export interface ChangeCounts extends Record<ChangeKind, number> {
  /** Features of each side. */
  readonly old: number;
  readonly new: number;
  /** Features that are equal on both sides. */
  readonly equal: number;
}

/** A layer of either side, or of both, before its features are compared. */
export interface ComparedLayer {
  readonly name: string;
  /** Names on both sides; null if a side lacks the layer. */
  readonly old: string | null;
  readonly new: string | null;
  readonly fields: readonly FieldDifference[];
  /** Fields of either side. */
  readonly oldFields: readonly Field[];
  readonly newFields: readonly Field[];
  readonly crs: CrsComparison;
  /** The system of the coordinates of `FeatureChange`. */
  readonly comparedCrs: Crs | null;
  /** Decimals of the compared coordinates. */
  readonly precision: number | null;
  /** Null for a layer of only one side. */
  readonly key: KeyChoice | null;
  /** Converts those coordinates to longitude and latitude. */
  readonly toDegrees: ToDegrees;
}

export interface LayerResult extends ComparedLayer {
  readonly counts: ChangeCounts;
}

export interface CompareReport {
  readonly old: string;
  readonly new: string;
  readonly layers: readonly LayerResult[];
  readonly counts: ChangeCounts;
  /** Whether anything differs: features, fields, layers or reference systems. */
  readonly differs: boolean;
  /** Features that could not be read or reprojected, and were not compared. */
  readonly rejected: number;
  /** Why the first of them could not. */
  readonly rejectReason: string | null;
  readonly skippedRanges: readonly SkippedRange[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
}

/** Receives differences as they are found; each call is awaited. */
export interface CompareEvents {
  /** A layer, before its changes. */
  onLayer?(layer: ComparedLayer): void | Promise<void>;
  /** In the order of the new side; then what only the old side has. */
  onChange?(change: FeatureChange, layer: ComparedLayer): void | Promise<void>;
}

/**
 * Compares two inputs in constant memory.
 * @throws errors of `convert`; field-missing, usage
 */
export async function compare(request: CompareRequest, host: Host, events: CompareEvents = {}): Promise<CompareReport> {
  if (request.old === "-" && request.new === "-")
    throw createError("usage", { reason: "both inputs are stdin; save one of them in a file" });
  await using spool = new Spool();
  await using executor = await chooseSharedExecutor(request, host);
  const rules = assumedRules(request, host.registry);
  using old = await readSide(request, "old", rules, host, spool, executor);
  using recent = await readSide(request, "new", rules, host, spool, executor);
  const { pairs, removed, added } = pairLayers(old.layers, recent.layers);
  using workspace = await Workspace.create(spool);
  const layers: LayerResult[] = [];
  const found: PairFindings[] = [];
  for (const pair of pairs) {
    const { layer, ...findings } = await comparePair(pair, {
      request,
      rules,
      host,
      spool,
      executor,
      workspace,
      events,
    });
    layers.push(layer);
    found.push(findings);
  }
  for (const layer of removed) layers.push(await reportLayer(layer, "removed", events, host.signal));
  for (const layer of added) layers.push(await reportLayer(layer, "added", events, host.signal));
  return createReport(old, recent, layers, found);
}

/** One pool for both sides if they are large enough; null leaves the choice to each conversion. */
async function chooseSharedExecutor(request: CompareRequest, host: Host): Promise<Executor | null> {
  const inputs = [request.old, request.new];
  const options = { inputs, output: "", ...(request.workers === undefined ? {} : { workers: request.workers }) };
  const bytes = inputs.reduce((sum, input) => sum + (fileSize(input) ?? 0), 0);
  const isSmall = request.workers === undefined && isSingleThreadFaster(bytes, threadCount(options));
  if (isSmall || threadCount(options) < 2) return null;
  return openExecutor(options, host);
}

interface PairContext {
  readonly request: CompareRequest;
  readonly rules: ReturnType<typeof assumedRules>;
  readonly host: Host;
  readonly spool: Spool;
  readonly executor: Executor | null;
  readonly workspace: Workspace;
  readonly events: CompareEvents;
}

type PairFindings = Pick<CompareReport, "rejected" | "rejectReason" | "losses" | "notices">;

async function comparePair(given: LayerPair, context: PairContext): Promise<PairFindings & { layer: LayerResult }> {
  const { request, host, workspace, events } = context;
  using prepared = await preparePair(given, request, context.rules, host, context.spool, context.executor);
  const { pair, rules, crs, rejected, rejectReason, losses } = prepared;
  const remainders = cancelEqual(pair.old, pair.new);
  const key = chooseKey(request, pair, remainders);
  const comparedCrs = crs.isReprojected ? crsContext.wgs84 : (crs.taken.new ?? crs.taken.old);
  const layer: ComparedLayer = {
    name: given.name,
    old: given.old.name,
    new: given.new.name,
    fields: prepared.schema,
    oldFields: given.old.fields,
    newFields: given.new.fields,
    crs,
    comparedCrs,
    precision: rules.decimals,
    key,
    toDegrees: await createToDegrees(comparedCrs),
  };
  await events.onLayer?.(layer);
  const counts = { ...emptyCounts(), old: given.old.rows, new: given.new.rows, equal: remainders.equal };
  if (remainders.old.size + remainders.new.size > 0) {
    matchRows(workspace, pair, remainders, key, rules);
    for (const change of readChanges(workspace, pair, rules, layer)) {
      if (host.signal.aborted) throw createError("interrupted", {});
      if (change === "equal") counts.equal++;
      else {
        counts[change.change]++;
        await events.onChange?.(change, layer);
      }
    }
  }
  const notices = [...prepared.notices, ...keyNotices(layer), ...crsNotices(layer)];
  return { layer: { ...layer, counts }, rejected, rejectReason, losses, notices };
}

/** Reports all features of a layer that only one side has. */
async function reportLayer(
  spooled: SpooledLayer,
  change: "added" | "removed",
  events: CompareEvents,
  signal: AbortSignal,
): Promise<LayerResult> {
  const { name, crs, fields, rows } = spooled;
  const isNew = change === "added";
  const layer: ComparedLayer = {
    name,
    old: isNew ? null : name,
    new: isNew ? name : null,
    fields: [],
    oldFields: isNew ? [] : fields,
    newFields: isNew ? fields : [],
    crs: {
      old: isNew ? null : crs,
      new: isNew ? crs : null,
      relation: "same",
      taken: { old: crs, new: crs },
      isReprojected: false,
    },
    comparedCrs: crs,
    precision: null,
    key: null,
    toDegrees: await createToDegrees(crs),
  };
  await events.onLayer?.(layer);
  for (const one of readWholeLayer(spooled, change)) {
    if (signal.aborted) throw createError("interrupted", {});
    await events.onChange?.(one, layer);
  }
  return { ...layer, counts: { ...emptyCounts(), [isNew ? "new" : "old"]: rows, [change]: rows } };
}

const emptyCounts = () => ({ old: 0, new: 0, equal: 0, added: 0, removed: 0, changed: 0, moved: 0 });

function keyNotices({ name, key }: ComparedLayer): Loss[] {
  if (key?.key == null) return [];
  const field = key.key.by === "id" ? "id" : key.key.name;
  const notices: Loss[] = [];
  for (const side of ["old", "new"] as const) {
    const { missing, duplicates, example } = key[side] ?? { missing: 0, duplicates: 0, example: null };
    if (missing > 0)
      notices.push({
        code: "key-missing",
        layer: name,
        field,
        count: missing,
        example: `features of the ${side} side without a value are matched by geometry and attributes`,
      });
    if (duplicates > 0)
      notices.push({
        code: "duplicate-key-paired",
        layer: name,
        field,
        count: duplicates,
        example: `several features of the ${side} side have ${JSON.stringify(example)}; equal ones are matched first, others in their order`,
      });
  }
  return notices;
}

function crsNotices({ name, crs }: ComparedLayer): Loss[] {
  if (crs.relation !== "unknown") return [];
  const side = crs.old === null ? "old" : "new";
  const taken = crs.taken[side]!;
  const reason = taken === crsContext.wgs84 ? ", since all coordinates are in range" : ", the system of the other side";
  const example = `the ${side} side declares no coordinate reference system; assumed ${taken.id ?? taken.name}${reason}; --${side}-source-crs names another one`;
  return [{ code: "crs-assumed", layer: name, count: 1, example }];
}

function createReport(
  old: SpooledSide,
  recent: SpooledSide,
  layers: readonly LayerResult[],
  found: readonly PairFindings[],
): CompareReport {
  const counts = emptyCounts();
  for (const layer of layers)
    for (const name of Object.keys(counts) as (keyof ChangeCounts)[]) counts[name] += layer.counts[name];
  const all = [old, recent, ...found];
  return {
    old: old.name,
    new: recent.name,
    layers,
    counts,
    differs: layers.some(isDifferent),
    rejected: all.reduce((sum, { rejected }) => sum + rejected, 0),
    rejectReason: all.find(({ rejectReason }) => rejectReason !== null)?.rejectReason ?? null,
    skippedRanges: [...old.skippedRanges, ...recent.skippedRanges],
    losses: all.flatMap(({ losses }) => losses).filter(({ code }) => code !== "fields-dropped"),
    notices: all.flatMap(({ notices }) => notices),
  };
}

const isDifferent = ({ old, new: recent, fields, crs, counts }: LayerResult): boolean =>
  old === null ||
  recent === null ||
  fields.length > 0 ||
  crs.relation === "different" ||
  counts.added + counts.removed + counts.changed + counts.moved > 0;
