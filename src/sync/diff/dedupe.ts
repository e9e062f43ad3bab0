/**
 * Removes features with duplicate keys from a map, by an ordinary plan of deletes. Of equal features one stays;
 * differing ones are deleted only on request.
 */
import { join } from "node:path";
import { type KeyedRow, rowKey } from "../../compare/feature-side.js";
import { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { findExactDifferences } from "../../remote/snapshot/exact-feature.js";
import { readSnapshot, type Snapshot } from "../../remote/snapshot/read-snapshot.js";
import type { RemoteKey } from "../../remote/wire.js";
import { applyAndUpdateBaseline } from "../apply/apply-and-update-baseline.js";
import type { ApplyReport } from "../apply/apply-context.js";
import { strongEtag } from "../apply/etag-chain.js";
import { waitForEarlierRequests } from "../journal/wait-for-earlier-requests.js";
import { type DuplicateKey, findDuplicateKeys, groupByContent } from "../keys/duplicate-keys.js";
import { fillMapKeys } from "../keys/fill-keys.js";
import { createKeyReader } from "../keys/key-value.js";
import { checkGuards } from "../plan/guards.js";
import {
  isEmptyPlan,
  type MapFeature,
  type OpenPlan,
  type PlanAction,
  type PlanFileHeader,
  planVersion,
} from "../plan/plan.js";
import { PlanWriter } from "../plan/plan-writer.js";
import type { Guards, SyncRequest } from "../request.js";
import { removeOutOfScope } from "../source/scope.js";
import type { ReadonlySyncRun, SyncRun } from "../sync-run.js";
import { ChangedContents } from "./changed-contents.js";
import { mergeFeature } from "./merge-feature.js";
import { readMapFeature } from "./read-rows.js";
import { roundingForPrecision } from "./rounding.js";

export type KeptDuplicate = "first" | "last";

export interface DedupeRequest extends Pick<SyncRequest, "scope" | "precision" | "singleRead" | "settleTime"> {
  /** The property that identifies a feature. */
  readonly remoteField: string;
  /** Which feature of a key to keep, in the order of `orderBy`. */
  readonly keep: KeptDuplicate;
  /** The property whose value orders the features of a key; null orders by id. */
  readonly orderBy: string | null;
  /** Also deletes features that differ from the kept one. */
  readonly deleteDifferent: boolean;
  readonly guards: Pick<Guards, "maxDelete">;
}

/** The kept and deleted features of one key. */
export interface Duplicates {
  readonly key: RemoteKey;
  /** Ids of the kept feature, or of several differing ones if their deletion was not requested. */
  readonly stay: readonly string[];
  readonly go: readonly string[];
  /**
   * Differences between the features: "geometry", properties as `properties.name`, and names of other members; empty if
   * they are exactly equal.
   */
  readonly differ: readonly string[];
}

export interface DedupePlan {
  readonly plan: OpenPlan;
  readonly snapshot: Snapshot;
  /** Number of keys with several features. */
  readonly duplicateKeys: number;
  /** Number of these keys whose features differ. */
  readonly differingKeys: number;
  /** Number of keys that keep several features. */
  readonly remainingKeys: number;
}

/** Callbacks before duplicates are deleted. */
export interface DedupeHooks {
  /** Called for each key with several features. */
  onDuplicates?(duplicates: Duplicates): void;
  /** Called before the guards check the plan. */
  onPlan(found: DedupePlan): void;
  /** Called after the guards pass; false leaves the map unchanged. */
  confirm(found: DedupePlan): Promise<boolean>;
}

/**
 * Deletes features with duplicate keys.
 * @returns `applied` is null if there was nothing to do or the user did not confirm; its `error` is what stopped the
 * run
 * @throws guard-sync, backup-failed; errors of `planDedupe`; then nothing was sent
 */
export async function deduplicate(
  request: DedupeRequest,
  run: SyncRun,
  hooks: DedupeHooks,
): Promise<{ readonly found: DedupePlan; readonly applied: ApplyReport | null }> {
  const found = await planDedupe(request, run, (duplicates) => hooks.onDuplicates?.(duplicates));
  hooks.onPlan(found);
  checkGuards(found.plan);
  if (isEmptyPlan(found.plan.counts) || !(await hooks.confirm(found))) return { found, applied: null };
  // The plan only deletes, so no feature is written to the rejects file.
  const rejects = { path: join(run.spool.folder(), "rejects.geojsonl"), origin: "" };
  return { found, applied: await applyAndUpdateBaseline(found.plan, rejects, run) };
}

/**
 * Creates the plan.
 * @param onDuplicates called for each key with several features
 * @throws field-not-on-map, remote-changed-during-read, output-failed, interrupted; errors of `MapClient.page`
 */
export async function planDedupe(
  request: DedupeRequest,
  run: ReadonlySyncRun,
  onDuplicates: (duplicates: Duplicates) => void,
): Promise<DedupePlan> {
  await waitForEarlierRequests(run, request.settleTime);
  const { client, spool, context } = run;
  const { signal } = context.host;
  const { remoteField, precision, singleRead, scope } = request;
  using workspace = await Workspace.create(spool);
  const snapshot = await readSnapshot(client, workspace, {
    rounding: roundingForPrecision(precision),
    singleRead,
    key: createKeyReader(remoteField),
    exact: true,
    ...(context.onSnapshotProgress ? { onProgress: context.onSnapshotProgress } : {}),
  });
  for (const field of [remoteField, ...(request.orderBy === null ? [] : [request.orderBy])])
    if (snapshot.features > 0 && !snapshot.fields.has(field))
      throw createError("field-not-on-map", { map: client.id, field, fields: [...snapshot.fields.keys()] });
  await removeOutOfScope(workspace, scope, signal);
  await fillMapKeys(workspace, { by: "property", name: remoteField }, signal);
  const planner = new DedupePlanner(request, workspace, onDuplicates, strongEtag(snapshot.etag) !== null);
  await using writer = await PlanWriter.create(
    join(spool.folder(), "plan.ndjson"),
    createHeader(request, run, snapshot),
    false,
  );
  for (const action of planner.actions()) {
    if (signal.aborted) throw createError("interrupted", {});
    const pendingWrite = writer.add(action);
    if (pendingWrite) await pendingWrite;
  }
  const plan = await writer.finish(() => false);
  const { duplicateKeys, differingKeys, remainingKeys } = planner;
  return { plan, snapshot, duplicateKeys, differingKeys, remainingKeys };
}

class DedupePlanner {
  duplicateKeys = 0;
  differingKeys = 0;
  remainingKeys = 0;

  constructor(
    private readonly request: DedupeRequest,
    private readonly workspace: Workspace,
    private readonly onDuplicates: (duplicates: Duplicates) => void,
    /** Whether every delete will be conditional on the map being unchanged. */
    private readonly isConditional: boolean,
  ) {}

  *actions(): Generator<PlanAction> {
    const { database, map } = this.workspace;
    database.exec("CREATE TABLE duplicate_row (seq INTEGER PRIMARY KEY, is_removed INTEGER NOT NULL)");
    const insert = database.prepare("INSERT INTO duplicate_row VALUES (?, ?)");
    const changedContents = new ChangedContents(this.workspace, restoreKey);
    for (const duplicate of findDuplicateKeys(this.workspace)) {
      this.duplicateKeys += 1;
      const { kept, removed } = this.chooseKept(duplicate);
      if (kept.length > 1) this.remainingKeys += 1;
      this.reportDuplicates(duplicate, kept, removed);
      this.workspace.transaction(() => {
        for (const row of kept) insert.run(row.seq, 0);
        for (const { row } of removed) insert.run(row.seq, 1);
      });
      for (const { row, keptRow } of removed) {
        const before = readMapFeature(map, row);
        changedContents.add(row);
        yield {
          ...{ action: "delete", id: before.id, key: rowKey(row), before },
          stays: { id: keptRow.id!, digest: keptRow.digest, exact: keptRow.exact, other: row.exact },
        };
      }
    }
    const removedFlag = database
      .prepare<[number], number>("SELECT is_removed FROM duplicate_row WHERE seq = ?")
      .pluck();
    for (const row of map.rows()) {
      const isRemoved = removedFlag.get(row.seq);
      if (isRemoved === 1) continue;
      const why = isRemoved === 0 ? "same" : row.key === null ? "unmanaged" : "only-on-map";
      yield { action: "keep", why, id: row.id!, key: rowKey(row), ...changedContents.markOf(row) };
    }
  }

  /** Chooses the kept features, and pairs each removed one with the feature that replaces it. */
  private chooseKept(duplicate: DuplicateKey): {
    readonly kept: readonly KeyedRow[];
    readonly removed: readonly { readonly row: KeyedRow; readonly keptRow: KeyedRow }[];
  } {
    const groups = this.request.deleteDifferent ? [duplicate.rows] : groupByContent(duplicate);
    const kept: KeyedRow[] = [];
    const removed: { row: KeyedRow; keptRow: KeyedRow }[] = [];
    for (const group of groups) {
      const ordered = this.sortRows(group);
      const chosen = this.request.keep === "first" ? ordered[0]! : ordered.at(-1)!;
      const keptRow = this.isConditional ? chosen : lowestEqual(chosen, group);
      kept.push(keptRow);
      removed.push(...group.filter((row) => row !== keptRow).map((row) => ({ row, keptRow })));
    }
    return { kept, removed };
  }

  /** Sorts by `orderBy`; rows are already sorted by id. */
  private sortRows(rows: readonly KeyedRow[]): readonly KeyedRow[] {
    const { orderBy } = this.request;
    if (orderBy === null) return rows;
    return rows
      .map((row) => ({ row, value: this.readFeature(row).properties[orderBy] }))
      .sort((one, other) => compareValues(one.value, other.value))
      .map(({ row }) => row);
  }

  private readFeature(row: KeyedRow): MapFeature {
    return readMapFeature(this.workspace.map, row);
  }

  /**
   * Compares as a push does; if that finds no difference, compares exactly, including further digits and members
   * unknown to GeoJSON.
   */
  private findDifferences(one: KeyedRow, other: KeyedRow): readonly string[] {
    const settings = { rounding: roundingForPrecision(this.request.precision), replaceProperties: true };
    const { changed } = mergeFeature(this.readFeature(one), this.readFeature(other), settings);
    const { map } = this.workspace;
    return changed.length > 0 ? changed : findExactDifferences(map.textOf(one), map.textOf(other));
  }

  private reportDuplicates(
    duplicate: DuplicateKey,
    stay: readonly KeyedRow[],
    go: readonly { readonly row: KeyedRow }[],
  ): void {
    const [first, ...others] = groupByContent(duplicate).map(([row]) => row!);
    const differ = new Set(others.flatMap((other) => this.findDifferences(first!, other)));
    if (others.length > 0) this.differingKeys += 1;
    this.onDuplicates({
      key: rowKey(duplicate.rows[0]!)!,
      stay: stay.map(({ id }) => id!),
      go: go.map(({ row }) => row.id!),
      differ: [...differ],
    });
  }
}

/**
 * The feature with the lowest id among those exactly equal to the given one. Without conditional deletes, a concurrent
 * run with other settings might otherwise delete the copy that this one keeps.
 * @param group sorted by id, the lowest first
 */
const lowestEqual = (one: KeyedRow, group: readonly KeyedRow[]): KeyedRow =>
  (one.exact === null ? undefined : group.find(({ exact }) => exact === one.exact)) ?? one;

const isNumeric = (value: unknown): boolean => typeof value === "number" || typeof value === "bigint";

/** Orders values: other types first, then numbers by size, then texts by code units. */
function compareValues(one: unknown, other: unknown): number {
  const rank = (value: unknown) => (typeof value === "string" ? 2 : isNumeric(value) ? 1 : 0);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (rank(one) === 0) return 0;
  return (one as string | number | bigint) < (other as string | number | bigint) ? -1 : one === other ? 0 : 1;
}

/** A restore of duplicates cannot match by their key, since the kept feature has the same key. */
const restoreKey = { by: "id" } as const;

function createHeader(request: DedupeRequest, { client }: ReadonlySyncRun, snapshot: Snapshot): PlanFileHeader {
  const { scope, precision, singleRead, settleTime, guards } = request;
  const { etag, fingerprint, features } = snapshot;
  return {
    type: "plan",
    version: planVersion,
    service: client.url,
    map: client.id,
    mode: "delete",
    key: restoreKey,
    settings: {
      ...{ scope, precision, singleRead, settleTime },
      ...{ replaceProperties: false, unmanaged: "keep", updateWith: "patch" },
      guards: { ...guards, maxUpdate: null, allowNullGeometry: false, allowEmpty: true },
    },
    source: {
      ...{ inputs: [], fingerprint: `dedupe ${fingerprint}`, features: 0, complete: true },
      ...{ rejected: 0, unidentified: 0, gaps: 0, files: [] },
    },
    snapshot: { etag, fingerprint, features },
  };
}
