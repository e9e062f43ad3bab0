/**
 * Removes features from a map that have a key which another feature has as well: a plan of deletes, which goes the way of
 * all plans. Of features that say the same one stays; of those that differ, only where it is asked for.
 */
import { join } from "node:path";
import { fault } from "../errors.js";
import { type KeyedRow, keyOf } from "../remote/feature-side.js";
import { type Snapshot, takeSnapshot } from "../remote/snapshot.js";
import type { RemoteKey } from "../remote/wire.js";
import { Workspace } from "../remote/workspace.js";
import type { ApplyReport } from "./apply-tools.js";
import { roundingOf } from "./classify-rounding.js";
import { readHeld } from "./classify-rows.js";
import { wantedOf } from "./classify-wanted.js";
import { checkGuards } from "./guards.js";
import { fillMapKeys } from "./key-fill.js";
import { keyReader } from "./key-value.js";
import {
  type HeldFeature,
  isEmptyPlan,
  type OpenPlan,
  type PlanAction,
  type PlanBeginning,
  planVersion,
} from "./plan.js";
import { PlanWriter } from "./plan-writer.js";
import { type RepeatedKey, repeatedKeys, twinsOf } from "./repeated-keys.js";
import type { Guards, SyncRequest } from "./request.js";
import { limitMap } from "./scope.js";
import { awaitEarlierRequests, carryOut } from "./sync.js";
import type { ReadingRun, SyncRun } from "./sync-run.js";

export type Kept = "first" | "last";

export interface DedupeRequest extends Pick<SyncRequest, "scope" | "precision" | "trustPages" | "settle"> {
  /** The property that identifies a feature. */
  readonly remoteField: string;
  /** Which feature of a key stays, in the order of `orderBy`. */
  readonly keep: Kept;
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
  /** What the features differ in: "geometry", and names of properties as `properties.name`; empty where they are the same. */
  readonly differ: readonly string[];
}

export interface Deduplication {
  readonly plan: OpenPlan;
  readonly snapshot: Snapshot;
  /** Keys that several features have. */
  readonly keys: number;
  /** Of these, keys whose features differ. */
  readonly differing: number;
  /** Keys that several features will still have. */
  readonly left: number;
}

/** Who is told of duplicates before they are deleted. */
export interface DedupeOnlooker {
  /** Of each key that several features have. */
  onDuplicates?(duplicates: Duplicates): void;
  /** Before the guards look at it. */
  onPlan(found: Deduplication): void;
  /** Once the guards let it pass; false leaves the map as it is. */
  confirm(found: Deduplication): Promise<boolean>;
}

/**
 * Deletes features whose key another one has.
 * @returns `applied` is null where there was nothing to do, or nothing was to be done; what stopped it is in there
 * @throws guard-sync, backup-failed, and what `prepareDeduplication` throws: then nothing was sent
 */
export async function deduplicate(
  request: DedupeRequest,
  run: SyncRun,
  onlooker: DedupeOnlooker,
): Promise<{ readonly found: Deduplication; readonly applied: ApplyReport | null }> {
  const found = await prepareDeduplication(request, run, (duplicates) => onlooker.onDuplicates?.(duplicates));
  onlooker.onPlan(found);
  checkGuards(found.plan);
  if (isEmptyPlan(found.plan.counts) || !(await onlooker.confirm(found))) return { found, applied: null };
  // Nothing is created or updated, so that nothing can be refused.
  return { found, applied: await carryOut(found.plan, join(run.spool.folder(), "rejects.geojsonl"), run) };
}

/**
 * Makes the plan.
 * @param onDuplicates told of each key that several features have
 * @throws field-not-on-map, remote-unsteady, output-failed, interrupted; what `MapClient.page` throws
 */
export async function prepareDeduplication(
  request: DedupeRequest,
  run: ReadingRun,
  onDuplicates: (duplicates: Duplicates) => void,
): Promise<Deduplication> {
  await awaitEarlierRequests(run, request.settle);
  const { client, spool, tools } = run;
  const { signal } = tools.host;
  const { remoteField, precision, trustPages, scope } = request;
  using workspace = await Workspace.create(spool);
  const snapshot = await takeSnapshot(client, workspace, {
    rounding: roundingOf(precision),
    trustPages,
    key: keyReader(remoteField),
    ...(tools.onMap ? { onProgress: tools.onMap } : {}),
  });
  for (const field of [remoteField, ...(request.orderBy === null ? [] : [request.orderBy])])
    if (snapshot.features > 0 && !snapshot.fields.has(field))
      throw fault("field-not-on-map", { map: client.id, field, fields: [...snapshot.fields.keys()] });
  await limitMap(workspace, scope, signal);
  await fillMapKeys(workspace, { by: "property", name: remoteField }, signal);
  const planner = new DedupePlanner(request, workspace, onDuplicates);
  await using writer = await PlanWriter.create(
    join(spool.folder(), "plan.ndjson"),
    headerOf(request, run, snapshot),
    false,
  );
  for (const action of planner.actions()) {
    if (signal.aborted) throw fault("interrupted", {});
    const written = writer.add(action);
    if (written) await written;
  }
  const plan = await writer.finish(() => false);
  const { keys, differing, left } = planner;
  return { plan, snapshot, keys, differing, left };
}

class DedupePlanner {
  keys = 0;
  differing = 0;
  left = 0;

  constructor(
    private readonly request: DedupeRequest,
    private readonly workspace: Workspace,
    private readonly onDuplicates: (duplicates: Duplicates) => void,
  ) {}

  *actions(): Generator<PlanAction> {
    const { database, map } = this.workspace;
    database.exec("CREATE TABLE fate (seq INTEGER PRIMARY KEY, goes INTEGER NOT NULL)");
    const note = database.prepare("INSERT INTO fate VALUES (?, ?)");
    for (const repeated of repeatedKeys(this.workspace)) {
      this.keys += 1;
      const { stay, go } = this.fates(repeated);
      if (stay.length > 1) this.left += 1;
      this.tell(repeated, stay, go);
      this.workspace.together(() => {
        for (const row of stay) note.run(row.seq, 0);
        for (const { row } of go) note.run(row.seq, 1);
      });
      for (const { row, twin } of go) {
        const before = readHeld(map, row);
        yield {
          ...{ action: "delete", id: before.id, key: keyOf(row), before },
          stays: { id: twin.id!, digest: twin.digest },
        };
      }
    }
    const fate = database.prepare<[number], number>("SELECT goes FROM fate WHERE seq = ?").pluck();
    for (const row of map.rows()) {
      const goes = fate.get(row.seq);
      if (goes === 1) continue;
      const why = goes === 0 ? "same" : row.key === null ? "unmanaged" : "only-on-map";
      yield { action: "keep", why, id: row.id!, key: keyOf(row) };
    }
  }

  /** Each that goes with the one that stays for it. */
  private fates(repeated: RepeatedKey): {
    readonly stay: readonly KeyedRow[];
    readonly go: readonly { readonly row: KeyedRow; readonly twin: KeyedRow }[];
  } {
    const groups = this.request.deleteDifferent ? [repeated.rows] : twinsOf(repeated);
    const stay: KeyedRow[] = [];
    const go: { row: KeyedRow; twin: KeyedRow }[] = [];
    for (const group of groups) {
      const ordered = this.ordered(group);
      const twin = this.request.keep === "first" ? ordered[0]! : ordered.at(-1)!;
      stay.push(twin);
      go.push(...group.filter((row) => row !== twin).map((row) => ({ row, twin })));
    }
    return { stay, go };
  }

  /** By ids they are in order already. */
  private ordered(rows: readonly KeyedRow[]): readonly KeyedRow[] {
    const { orderBy } = this.request;
    if (orderBy === null) return rows;
    return rows
      .map((row) => ({ row, value: this.held(row).properties[orderBy] }))
      .sort((one, other) => compareValues(one.value, other.value))
      .map(({ row }) => row);
  }

  private held(row: KeyedRow): HeldFeature {
    return readHeld(this.workspace.map, row);
  }

  private tell(repeated: RepeatedKey, stay: readonly KeyedRow[], go: readonly { readonly row: KeyedRow }[]): void {
    const [first, ...others] = twinsOf(repeated).map(([row]) => this.held(row!));
    const settings = { rounding: roundingOf(this.request.precision), replaceProperties: true };
    const differ = new Set(others.flatMap((other) => wantedOf(first!, other, settings).changed));
    if (differ.size > 0) this.differing += 1;
    this.onDuplicates({
      key: keyOf(repeated.rows[0]!)!,
      stay: stay.map(({ id }) => id!),
      go: go.map(({ row }) => row.id!),
      differ: [...differ],
    });
  }
}

/** Numbers by size, before texts, by code units; what is neither comes first, as it says nothing of time. */
function compareValues(one: unknown, other: unknown): number {
  const rank = (value: unknown) => (typeof value === "string" ? 2 : typeof value === "number" ? 1 : 0);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (rank(one) === 0) return 0;
  return (one as string | number) < (other as string | number) ? -1 : one === other ? 0 : 1;
}

/** By ids: a backup of twins is put back by those, since what stays has their key. */
function headerOf(request: DedupeRequest, { client }: ReadingRun, snapshot: Snapshot): PlanBeginning {
  const { scope, precision, trustPages, settle, guards } = request;
  const { etag, fingerprint, features } = snapshot;
  return {
    type: "plan",
    version: planVersion,
    service: client.url,
    map: client.id,
    mode: "delete",
    key: { by: "id" },
    settings: {
      ...{ scope, precision, trustPages, settle },
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
