/**
 * Removes features from a map that have a key which another feature has as well: a plan of deletes, which goes the way of
 * all plans. Of features that say the same one stays; of those that differ, only where it is asked for.
 */
import { join } from "node:path";
import { createError } from "../../errors.js";
import { findExactDifferences } from "../../remote/snapshot/exact-feature.js";
import { type KeyedRow, rowKey } from "../../remote/snapshot/feature-side.js";
import { readSnapshot, type Snapshot } from "../../remote/snapshot/read-snapshot.js";
import { Workspace } from "../../remote/snapshot/workspace.js";
import type { RemoteKey } from "../../remote/wire.js";
import type { ApplyReport } from "../apply/apply-context.js";
import { strongEtag } from "../apply/etag-chain.js";
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
import { applyAndUpdateBaseline, waitForEarlierRequests } from "../sync.js";
import type { ReadonlySyncRun, SyncRun } from "../sync-run.js";
import { mergeFeature } from "./merge-feature.js";
import { readMapFeature } from "./read-rows.js";
import { roundingForPrecision } from "./rounding.js";

export type KeptDuplicate = "first" | "last";

export interface DedupeRequest extends Pick<SyncRequest, "scope" | "precision" | "singleRead" | "settleTime"> {
  /** The property that identifies a feature. */
  readonly remoteField: string;
  /** Which feature of a key stays, in the order of `orderBy`. */
  readonly keep: KeptDuplicate;
  /** The property whose value orders the features of a key; null: their ids do. */
  readonly orderBy: string | null;
  /** Features go, too, that differ from the one that stays. */
  readonly deleteDifferent: boolean;
  readonly guards: Pick<Guards, "maxDelete">;
}

/** What becomes of the features that have one key. */
export interface Duplicates {
  readonly key: RemoteKey;
  /** Ids: of one feature, or of several that differ where nobody asked to delete such. */
  readonly stay: readonly string[];
  readonly go: readonly string[];
  /**
   * What the features differ in: "geometry", names of properties as `properties.name`, and of other members; empty where
   * they say exactly the same.
   */
  readonly differ: readonly string[];
}

export interface DedupePlan {
  readonly plan: OpenPlan;
  readonly snapshot: Snapshot;
  /** Keys that several features have. */
  readonly duplicateKeys: number;
  /** Of these, keys whose features differ. */
  readonly differingKeys: number;
  /** Keys that several features will still have. */
  readonly remainingKeys: number;
}

/** Who is told of duplicates before they are deleted. */
export interface DedupeHooks {
  /** Of each key that several features have. */
  onDuplicates?(duplicates: Duplicates): void;
  /** Before the guards look at it. */
  onPlan(found: DedupePlan): void;
  /** Once the guards let it pass; false leaves the map as it is. */
  confirm(found: DedupePlan): Promise<boolean>;
}

/**
 * Deletes features whose key another one has.
 * @returns `applied` is null where there was nothing to do, or nothing was to be done; what stopped it is in there
 * @throws guard-sync, backup-failed, and what `prepareDeduplication` throws: then nothing was sent
 */
export async function deduplicate(
  request: DedupeRequest,
  run: SyncRun,
  onlooker: DedupeHooks,
): Promise<{ readonly found: DedupePlan; readonly applied: ApplyReport | null }> {
  const found = await planDedupe(request, run, (duplicates) => onlooker.onDuplicates?.(duplicates));
  onlooker.onPlan(found);
  checkGuards(found.plan);
  if (isEmptyPlan(found.plan.counts) || !(await onlooker.confirm(found))) return { found, applied: null };
  // Nothing is created or updated, so that nothing can be refused.
  return {
    found,
    applied: await applyAndUpdateBaseline(found.plan, join(run.spool.folder(), "rejects.geojsonl"), run),
  };
}

/**
 * Makes the plan.
 * @param onDuplicates told of each key that several features have
 * @throws field-not-on-map, remote-changed-during-read, output-failed, interrupted; what `MapClient.page` throws
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
    const written = writer.add(action);
    if (written) await written;
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
    /** Every delete will be under the condition that nobody else has written since. */
    private readonly isConditional: boolean,
  ) {}

  *actions(): Generator<PlanAction> {
    const { database, map } = this.workspace;
    database.exec("CREATE TABLE fate (seq INTEGER PRIMARY KEY, goes INTEGER NOT NULL)");
    const note = database.prepare("INSERT INTO fate VALUES (?, ?)");
    for (const repeated of findDuplicateKeys(this.workspace)) {
      this.duplicateKeys += 1;
      const { kept, removed } = this.chooseKept(repeated);
      if (kept.length > 1) this.remainingKeys += 1;
      this.reportDuplicates(repeated, kept, removed);
      this.workspace.transaction(() => {
        for (const row of kept) note.run(row.seq, 0);
        for (const { row } of removed) note.run(row.seq, 1);
      });
      for (const { row, keptRow } of removed) {
        const before = readMapFeature(map, row);
        yield {
          ...{ action: "delete", id: before.id, key: rowKey(row), before },
          stays: { id: keptRow.id!, digest: keptRow.digest, exact: keptRow.exact, other: row.exact },
        };
      }
    }
    const fate = database.prepare<[number], number>("SELECT goes FROM fate WHERE seq = ?").pluck();
    for (const row of map.rows()) {
      const goes = fate.get(row.seq);
      if (goes === 1) continue;
      const why = goes === 0 ? "same" : row.key === null ? "unmanaged" : "only-on-map";
      yield { action: "keep", why, id: row.id!, key: rowKey(row) };
    }
  }

  /** Each that goes with the one that stays for it. */
  private chooseKept(repeated: DuplicateKey): {
    readonly kept: readonly KeyedRow[];
    readonly removed: readonly { readonly row: KeyedRow; readonly keptRow: KeyedRow }[];
  } {
    const groups = this.request.deleteDifferent ? [repeated.rows] : groupByContent(repeated);
    const kept: KeyedRow[] = [];
    const removed: { row: KeyedRow; keptRow: KeyedRow }[] = [];
    for (const group of groups) {
      const ordered = this.sortRows(group);
      const chosen = this.request.keep === "first" ? ordered[0]! : ordered.at(-1)!;
      const keptRow = this.isConditional ? chosen : lowestLike(chosen, group);
      kept.push(keptRow);
      removed.push(...group.filter((row) => row !== keptRow).map((row) => ({ row, keptRow })));
    }
    return { kept, removed };
  }

  /** By ids they are in order already. */
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

  /** As a push compares; where that finds nothing, in what is left of it: more digits, members that GeoJSON does not know. */
  private findDifferences(one: KeyedRow, other: KeyedRow): readonly string[] {
    const settings = { rounding: roundingForPrecision(this.request.precision), replaceProperties: true };
    const { changed } = mergeFeature(this.readFeature(one), this.readFeature(other), settings);
    const { map } = this.workspace;
    return changed.length > 0 ? changed : findExactDifferences(map.textOf(one), map.textOf(other));
  }

  private reportDuplicates(
    repeated: DuplicateKey,
    stay: readonly KeyedRow[],
    go: readonly { readonly row: KeyedRow }[],
  ): void {
    const [first, ...others] = groupByContent(repeated).map(([row]) => row!);
    const differ = new Set(others.flatMap((other) => this.findDifferences(first!, other)));
    if (others.length > 0) this.differingKeys += 1;
    this.onDuplicates({
      key: rowKey(repeated.rows[0]!)!,
      stay: stay.map(({ id }) => id!),
      go: go.map(({ row }) => row.id!),
      differ: [...differ],
    });
  }
}

/**
 * Of the features that say exactly what one says, the one with the lowest id: where no delete is conditional, another run
 * with other settings can be at work, and each would delete what the other one keeps.
 * @param group by ids, the lowest first
 */
const lowestLike = (one: KeyedRow, group: readonly KeyedRow[]): KeyedRow =>
  (one.exact === null ? undefined : group.find(({ exact }) => exact === one.exact)) ?? one;

/** Numbers by size, before texts, by code units; what is neither comes first, as it says nothing of time. */
function compareValues(one: unknown, other: unknown): number {
  const rank = (value: unknown) => (typeof value === "string" ? 2 : typeof value === "number" ? 1 : 0);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (rank(one) === 0) return 0;
  return (one as string | number) < (other as string | number) ? -1 : one === other ? 0 : 1;
}

/** By ids: a backup of twins is put back by those, since what stays has their key. */
function createHeader(request: DedupeRequest, { client }: ReadonlySyncRun, snapshot: Snapshot): PlanFileHeader {
  const { scope, precision, singleRead, settleTime, guards } = request;
  const { etag, fingerprint, features } = snapshot;
  return {
    type: "plan",
    version: planVersion,
    service: client.url,
    map: client.id,
    mode: "delete",
    key: { by: "id" },
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
