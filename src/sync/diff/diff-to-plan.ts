/**
 * Compares source and map feature by feature, and writes the plan file of changes that make the map match the source.
 */

import { canonicalGeometry, type Rounding } from "../../canonical/canonical-feature.js";
import { rowKey } from "../../compare/feature-side.js";
import { ComparisonTables, type MapRowStatus, type MatchedPair } from "../../compare/match/comparison-tables.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { RemoteKey } from "../../remote/wire.js";
import {
  type BaselineEntry,
  isEmptyPlan,
  type OpenPlan,
  type PlanAction,
  type PlanCounts,
  type PlanFileHeader,
  type PlanHeader,
  type PlanMode,
  planVersion,
  type SyncKey,
} from "../plan/plan.js";
import { type CreateWithText, PlanWriter } from "../plan/plan-writer.js";
import type { SyncRequest } from "../request.js";
import { reuseFeatureText } from "../source/reuse-feature-text.js";
import { matchByContent } from "../state/created-feature-matcher.js";
import type { Baseline, NewBaselineEntry } from "../state/map-state.js";
import { ChangedContents } from "./changed-contents.js";
import { assignContentNames, readContentName, restoreAssignedIds } from "./content-names.js";
import { mergeFeature, withKey } from "./merge-feature.js";
import { parsePlanned, readMapFeature, readPlanned } from "./read-rows.js";
import { detectRounding, equalsAfterRounding, roundingForPrecision } from "./rounding.js";

/** Both sides, limited to the scope, with keys filled in (`prepareKeys`), and their metadata. */
export interface DiffInput {
  readonly workspace: Workspace;
  readonly request: SyncRequest;
  /** `delete` if the source lists features to delete. */
  readonly mode: PlanMode;
  /** Base URL of the service. */
  readonly service: string;
  /** Null if features are not matched (append). */
  readonly key: SyncKey | null;
  readonly source: PlanHeader["source"];
  /** From a `Snapshot` (src/remote/snapshot/read-snapshot.ts). */
  readonly snapshot: PlanHeader["snapshot"] & { readonly decimals: number };
  /** The state after the last sync; null if there is none, or if it was compared with other settings. */
  readonly baseline: Baseline | null;
  /** Called with ids of features that were matched by their content, for later runs. */
  readonly onIdsFound?: (entries: readonly NewBaselineEntry[]) => void;
  readonly signal?: AbortSignal;
}

/**
 * Limits of one PUT: features (Map Features Service Interface, section 8), and bytes that every service should accept.
 */
export const putLimits = { features: 1000, bytes: 8 * 2 ** 20 } as const;

/** Number of features without a key whose content the plan includes for review. */
const maxUnmanagedContents = 1000;

/**
 * Writes the plan.
 * @param output path of the plan; `overwrite` replaces an existing file
 * @throws output-exists, output-failed, interrupted
 */
export async function diffToPlan(
  input: DiffInput,
  output: { readonly path: string; readonly overwrite: boolean },
): Promise<OpenPlan> {
  const planner = new DiffPlanner(input);
  await using writer = await PlanWriter.create(output.path, createHeader(input), output.overwrite);
  for (const action of planner.actions()) {
    if (input.signal?.aborted) throw createError("interrupted", {});
    const pendingWrite = writer.add(action);
    if (pendingWrite) await pendingWrite;
  }
  return await writer.finish((counts) => planner.fitsOnePut(counts));
}

function createHeader({ request, mode, service, key, source, snapshot }: DiffInput): PlanFileHeader {
  const { scope, precision, replaceProperties, unmanaged, updateWith, settleTime, singleRead, guards } = request;
  const { etag, fingerprint, features } = snapshot;
  return {
    type: "plan",
    version: planVersion,
    service,
    map: request.map,
    mode,
    key,
    settings: { scope, precision, replaceProperties, unmanaged, updateWith, settleTime, singleRead, guards },
    source,
    snapshot: { etag, fingerprint, features },
  };
}

class DiffPlanner {
  private readonly tables: ComparisonTables;
  private readonly changedContents: ChangedContents;
  private readonly rounding: Rounding;
  /** Bytes of the set that one PUT would send, as far as known. */
  private putBytes = 0;
  /** Whether one PUT may send the complete set, unless it turns out too large. */
  private readonly isPutCandidate: boolean;

  constructor(private readonly input: DiffInput) {
    const { workspace, request, mode, key, source, baseline, onIdsFound } = input;
    this.tables = new ComparisonTables(workspace);
    this.changedContents = new ChangedContents(workspace, key);
    if (key?.by === "id") {
      assignContentNames(workspace);
      // A list of features to delete names them by their ids only.
      if (mode !== "delete") {
        if (baseline) restoreAssignedIds(workspace, baseline);
        matchByContent(workspace, roundingForPrecision(request.precision), onIdsFound);
      }
    }
    this.rounding = roundingForPrecision(request.precision);
    this.isPutCandidate =
      mode === "full" &&
      key !== null &&
      request.scope === null &&
      source.complete &&
      source.features > 0 &&
      source.features <= putLimits.features;
  }

  /** Yields actions in file order: creates, updates, deletes, keeps. */
  *actions(): Generator<PlanAction | CreateWithText> {
    const { mode, key } = this.input;
    if (mode !== "delete") yield* this.planCreates();
    if (key === null) return;
    if (mode !== "delete") yield* this.planUpdates();
    yield* this.planDeletes();
    yield* this.planKeeps();
  }

  /** Whether one PUT of the complete set can replace all other requests. */
  fitsOnePut(counts: PlanCounts): boolean {
    const isWhole = counts.unmanaged + counts.protected + counts.onlyOnMap === 0;
    // The service chooses the ids of new features.
    const isIdentified = this.input.key?.by === "property" || counts.create === 0;
    return this.isPutCandidate && isWhole && isIdentified && !isEmptyPlan(counts) && this.putBytes <= putLimits.bytes;
  }

  private *planCreates(): Generator<CreateWithText> {
    const { workspace, key } = this.input;
    for (const row of key === null ? workspace.source.rows() : this.tables.findOnlyInSource()) {
      const value = key === null ? null : rowKey(row);
      const text = this.buildCreateText(workspace.source.textOf(row), value);
      const agreement = key === null ? null : { name: row.key ?? readContentName(workspace, row), sent: row.digest };
      this.addPutBytes(text);
      yield { action: "create", key: value, text, agreement };
    }
  }

  private buildCreateText(line: string, value: RemoteKey | null): string {
    const { key } = this.input;
    const property = key?.by === "property" && value !== null ? { property: key.name, value } : null;
    return (
      reuseFeatureText(line, property) ?? stringifyExactly(withKey(parsePlanned(line), property ? key : null, value))
    );
  }

  private *planUpdates(): Generator<PlanAction> {
    const decimals = this.detectServiceDecimals();
    for (const pair of this.tables.findDiffering()) {
      const { source, map } = pair;
      if (this.matchesBaseline(pair)) continue;
      const { before, wanted } = this.compare(pair, decimals);
      if (wanted.changed.length === 0) this.tables.markEquivalent(map, source.digest, wanted.keepsMapProperties);
      else {
        this.tables.markChanged(map);
        this.changedContents.add(map);
        this.addPutBytes(stringifyExactly(wanted.feature));
        const agreement = createEntry(map.key!, source.digest, wanted.keepsMapProperties);
        const { changed, feature } = wanted;
        yield {
          action: "update",
          id: before.id,
          key: rowKey(map),
          page: map.page,
          changed,
          before,
          feature,
          agreement,
        };
      }
    }
  }

  /** @param decimals to which the service is known to round; null if unknown */
  private compare({ source, map }: MatchedPair, decimals: number | null) {
    const { workspace, key, request } = this.input;
    const before = readMapFeature(workspace.map, map);
    const planned = withKey(readPlanned(workspace.source, source), key, rowKey(map));
    const isRounded = decimals !== null && equalsAfterRounding(planned.geometry, before.geometry, decimals);
    const feature = isRounded ? { ...planned, geometry: before.geometry } : planned;
    const { replaceProperties } = request;
    return { before, wanted: mergeFeature(feature, before, { rounding: this.rounding, replaceProperties }) };
  }

  /** Whether both sides are unchanged since the last sync, although the service formats the feature differently. */
  private matchesBaseline({ source, map }: MatchedPair): boolean {
    const entry = this.input.baseline?.getDigests(map.key!);
    if (!entry || (this.input.request.replaceProperties && !entry.isWhole)) return false;
    return entry.sent === source.digest && entry.held === map.digest;
  }

  /**
   * Detects the decimals to which the service rounds. Requires that there is no baseline, and that most features on
   * both sides differ only in rounding.
   */
  private detectServiceDecimals(): number | null {
    const { baseline, snapshot, request, workspace } = this.input;
    const decimals = detectRounding(snapshot.decimals, request.precision);
    if (decimals === null || (baseline && !baseline.isEmpty)) return null;
    let rounded = 0;
    for (const { source, map } of this.tables.findDiffering()) {
      const { geometry: exact } = readPlanned(workspace.source, source);
      const { geometry: shown } = readPlanned(workspace.map, map);
      const isExact = canonicalGeometry(exact, this.rounding) === canonicalGeometry(shown, this.rounding);
      if (!isExact && equalsAfterRounding(exact, shown, decimals)) rounded += 1;
    }
    return rounded * 2 > this.tables.matchedCount ? decimals : null;
  }

  private *planDeletes(): Generator<PlanAction> {
    const { workspace } = this.input;
    for (const row of this.tables.findNotUpdated()) {
      if (!this.shouldDelete(row)) continue;
      this.changedContents.add(row);
      const before = readMapFeature(workspace.map, row);
      yield { action: "delete", id: before.id, key: rowKey(row), before };
    }
  }

  /** Whether the mode deletes a feature that no update changes. */
  private shouldDelete(row: MapRowStatus): boolean {
    const { mode, request } = this.input;
    if (mode === "delete") return row.matched === 1;
    if (mode !== "full" || row.matched === 1) return false;
    return row.key === null ? request.unmanaged === "delete" : row.isSourceRejected === 0;
  }

  private *planKeeps(): Generator<PlanAction> {
    let unmanaged = 0;
    for (const row of this.tables.findNotUpdated()) {
      if (this.shouldDelete(row)) continue;
      const why = keepReason(row);
      const mark = this.changedContents.markOf(row);
      const keep = { action: "keep", why, id: row.id!, key: rowKey(row), ...mark } as const;
      if (why === "same") yield { ...keep, ...this.buildKeepDetails(row) };
      else if (why !== "unmanaged" || ++unmanaged > maxUnmanagedContents) yield keep;
      else yield { ...keep, feature: readPlanned(this.input.workspace.map, row) };
    }
  }

  private buildKeepDetails(row: MapRowStatus): Pick<Extract<PlanAction, { action: "keep" }>, "feature" | "agreement"> {
    const { workspace, key } = this.input;
    const agreement = row.sent && {
      ...createEntry(row.key!, row.sent, row.keepsMapProperties === 1),
      held: row.digest,
    };
    if (!this.isPutCandidate) return agreement ? { agreement } : {};
    const feature = withKey(readMapFeature(workspace.map, row), key, rowKey(row));
    this.addPutBytes(stringifyExactly(feature));
    return agreement ? { feature, agreement } : { feature };
  }

  private addPutBytes(text: string): void {
    if (this.isPutCandidate) this.putBytes += Buffer.byteLength(text) + 1;
  }
}

const createEntry = (name: string, sent: string, keepsMapProperties: boolean): BaselineEntry =>
  keepsMapProperties ? { name, sent, keepsMapProperties } : { name, sent };

function keepReason(row: MapRowStatus): Extract<PlanAction, { action: "keep" }>["why"] {
  if (row.matched === 1) return "same";
  if (row.key === null) return "unmanaged";
  return row.isSourceRejected === 1 ? "protected" : "only-on-map";
}
