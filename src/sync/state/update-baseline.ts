/** Stores in the state how the map looks after a plan was applied, so that the next run detects no difference. */
import { canonicalFeature, digestText, type Rounding } from "../../canonical/canonical-feature.js";
import type { FeatureRow, TextLocation } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { Fingerprint } from "../../remote/snapshot/snapshot-stats.js";
import type { MapReread } from "../apply/map-reread.js";
import { checkUpdateEffect } from "../apply/patch-semantics.js";
import { haveEqualProperties, isLooselyEqual, isReformatted } from "../diff/loose-equality.js";
import { readMapFeature } from "../diff/read-rows.js";
import { detectRounding, equalsAfterRounding, roundingForPrecision } from "../diff/rounding.js";
import { type CreationRecorder, nullRecorder } from "../journal/backup-writer.js";
import {
  type BaselineEntry,
  countMapFeatures,
  type OpenPlan,
  type PlanAction,
  type PlanHeader,
  type PlannedFeature,
} from "../plan/plan.js";
import { type PlannedCreate, readCreates } from "../plan/plan-creates.js";
import { CreatedFeatureMatcher } from "./created-feature-matcher.js";
import type { Baseline, NewBaselineEntry, StoredBaseline } from "./map-state.js";

/** State rows per transaction. */
const writeBatchSize = 1000;

/** What the map shows of a plan. */
export interface BaselineUpdate {
  /** Whether the map is exactly as planned, without other changes since the plan was made. */
  readonly isAsPlanned: boolean;
  /** Whether the baseline has the ids of all created features that only their ids identify. */
  readonly areCreatesMatched: boolean;
}

/**
 * Updates the baseline.
 * @param after the map as read after the plan's creates and updates, with keys filled in. Changes that it does not show
 * were not applied and get no entry
 * @param record receives created and updated features that the map shows differently from how they were sent, for
 * example with fewer decimals
 */
export async function updateBaseline(
  plan: OpenPlan,
  after: Pick<MapReread, "workspace" | "snapshot">,
  state: StoredBaseline,
  record: CreationRecorder = nullRecorder,
): Promise<BaselineUpdate> {
  const { key, settings } = plan.header;
  const rounding = roundingForPrecision(settings.precision);
  const created = key?.by === "id" ? await CreatedFeatureMatcher.create(plan, after.workspace, rounding) : null;
  const builder = new BaselineBuilder(plan.header, after, rounding, created, state);
  const agreements: NewBaselineEntry[] = [];
  const addEntry = (agreement: NewBaselineEntry | null) => {
    if (agreement && agreements.push(agreement) === writeBatchSize) state.saveEntries(agreements.splice(0));
  };
  if (plan.counts.create > 0)
    for await (const creates of readCreates(plan)) {
      builder.buildCreateEntries(creates).forEach(addEntry);
      if (builder.alteredDigests.size >= writeBatchSize) await builder.flushAlteredDigests(record);
    }
  await builder.flushAlteredDigests(record);
  if (countMapFeatures(plan.counts) > 0)
    for await (const action of plan.actions(["update", "delete", "keep"])) {
      addEntry(builder.buildEntry(action));
      if (builder.alteredDigests.size >= writeBatchSize) await builder.flushAlteredDigests(record);
    }
  await builder.flushAlteredDigests(record);
  state.saveEntries(agreements);
  return { isAsPlanned: builder.isAsPlanned(), areCreatesMatched: builder.areCreatesMatched };
}

type ActionOfKind<A extends PlanAction["action"]> = Extract<PlanAction, { readonly action: A }>;

/** The needed columns of a map feature. */
type MapRow = Pick<FeatureRow, keyof TextLocation | "id" | "digest">;
/** The needed columns if the digest is conclusive. */
type MapRowDigest = Pick<FeatureRow, "id" | "digest">;

class BaselineBuilder {
  private readonly workspace: Workspace;
  /** Decimals to which the service seems to round; null if the map shows full precision. */
  private readonly decimals: number | null;
  private readonly byId;
  private readonly byKeys;
  /** Fingerprint of the map that the plan should produce. */
  private readonly expected: Fingerprint;
  /** Number of features created; if the map was empty, it should have no others. */
  private presentCount = 0;
  private readonly wasEmpty: boolean;
  private isConfirmed = true;
  areCreatesMatched = true;
  /** Digests of created and updated features, by id. */
  readonly alteredDigests = new Map<string, string>();

  /** @param createdMatcher for features matched by id: created ones have ids unknown to the plan */
  constructor(
    private readonly header: PlanHeader,
    private readonly reread: Pick<MapReread, "workspace" | "snapshot">,
    private readonly rounding: Rounding,
    private readonly createdMatcher: CreatedFeatureMatcher | null,
    private readonly baseline: Baseline,
  ) {
    const { workspace, snapshot } = reread;
    this.workspace = workspace;
    this.wasEmpty = header.snapshot.features === 0;
    this.decimals = detectRounding(snapshot.decimals, header.settings.precision);
    this.expected = new Fingerprint(header.snapshot.fingerprint);
    this.byId = workspace.database.prepare<[string], MapRow>(
      "SELECT id, digest, file, start, length FROM map WHERE id = ?",
    );
    this.byKeys = workspace.database
      .prepare<[string], [string, string, string]>(
        "SELECT key, id, digest FROM map WHERE key IN (SELECT value FROM json_each(?))",
      )
      .raw();
  }

  isAsPlanned(): boolean {
    const { features, fingerprint } = this.reread.snapshot;
    const isExpected = this.wasEmpty ? this.presentCount === features : this.expected.toString() === fingerprint;
    return this.isConfirmed && isExpected;
  }

  async flushAlteredDigests(record: CreationRecorder): Promise<void> {
    const digests = Object.fromEntries(this.alteredDigests);
    this.alteredDigests.clear();
    await record.recordDigests(digests);
  }

  buildCreateEntries(creates: readonly PlannedCreate[]): (NewBaselineEntry | null)[] {
    const agreements = creates.map(({ agreement }) => agreement);
    const rows = this.createdMatcher
      ? null
      : this.findRowsByName(agreements.flatMap((agreement) => agreement?.name ?? []));
    return creates.map((create, index) => this.buildCreateEntry(create, agreements[index]!, rows));
  }

  private findRowsByName(names: readonly string[]): ReadonlyMap<string, MapRowDigest> {
    return new Map(this.byKeys.all(JSON.stringify(names)).map(([key, id, digest]) => [key, { id, digest }]));
  }

  private buildCreateEntry(
    create: PlannedCreate,
    agreement: BaselineEntry | null,
    rows: ReadonlyMap<string, MapRowDigest> | null,
  ): NewBaselineEntry | null {
    if (!agreement) return null;
    const row = rows ? rows.get(agreement.name) : this.createdMatcher?.find(create.action.feature);
    const entry = row
      ? this.buildRowEntry(row, () => create.action.feature, agreement, this.createdMatcher ? row.id : null)
      : null;
    if (this.createdMatcher && !row) this.areCreatesMatched = false;
    this.isConfirmed &&= entry?.isConfirmed === true;
    if (row?.id && entry?.isConfirmed && row.digest !== agreement.sent) this.alteredDigests.set(row.id, row.digest);
    return entry;
  }

  buildEntry(action: PlanAction): NewBaselineEntry | null {
    if (action.action === "create") return null;
    if (action.action === "delete") {
      // A full synchronization in one request has already deleted them.
      if (this.header.put) this.expected.toggle(action.id, this.digest(action.before));
      return null;
    }
    if (!action.agreement) return null;
    if (action.action === "keep") {
      const { name, sent, held } = action.agreement;
      return { name, sent, held, isWhole: this.isWhole(action.agreement), assignedId: null, isConfirmed: true };
    }
    const agreement = this.buildUpdateEntry(action);
    this.isConfirmed &&= agreement?.isConfirmed === true;
    return agreement;
  }

  private buildUpdateEntry(update: ActionOfKind<"update">): NewBaselineEntry | null {
    const { id, before, feature, agreement } = update;
    const row = this.byId.get(id) ?? this.findRecreated(agreement);
    if (!row || !this.shows(update, row)) return null;
    this.expected.toggle(id, this.digest(before));
    const entry = this.buildRowEntry(row, () => feature, agreement, null);
    if (row.id && entry.isConfirmed && row.digest !== agreement.sent && row.digest !== this.digest(feature))
      this.alteredDigests.set(row.id, row.digest);
    return entry;
  }

  /** A recreated feature has a new id, but the same key. */
  private findRecreated({ name }: BaselineEntry): MapRow | undefined {
    const row = this.createdMatcher ? undefined : this.findRowsByName([name]).get(name);
    return row && this.byId.get(row.id!);
  }

  /** @param sent returns the feature; called only if its digest is inconclusive */
  private buildRowEntry(
    row: MapRowDigest,
    sent: () => PlannedFeature,
    agreement: BaselineEntry,
    assignedId: string | null,
  ): NewBaselineEntry {
    if (this.wasEmpty) this.presentCount += 1;
    else this.expected.toggle(row.id!, row.digest);
    const isConfirmed = row.digest === agreement.sent || this.isEquivalent(sent(), row);
    const isWhole = this.header.settings.replaceProperties || (isConfirmed && this.isWhole(agreement));
    return { name: agreement.name, sent: agreement.sent, held: row.digest, isWhole, assignedId, isConfirmed };
  }

  private isWhole({ keepsMapProperties }: BaselineEntry): boolean {
    return this.header.settings.replaceProperties || keepsMapProperties !== true;
  }

  private isEquivalent(feature: PlannedFeature, { id, digest }: MapRowDigest): boolean {
    if (digest === this.digest(feature)) return true;
    return isLooselyEqual(feature, readMapFeature(this.workspace.map, this.byId.get(id!)!), this.rounding);
  }

  /**
   * Whether the map shows an update, by the same rule that decides whether the run succeeded (`KeptWrites`): a service may
   * store values in a form of its own, but what is still as before was not updated, however little the update changes.
   */
  private shows(update: ActionOfKind<"update">, row: MapRow): boolean {
    const { feature, agreement } = update;
    if (row.digest === agreement.sent || row.digest === this.digest(feature) || this.isRounded(feature, row))
      return true;
    const held = readMapFeature(this.workspace.map, row);
    if (checkUpdateEffect(update, held, this.rounding).kind === "applied") return true;
    return this.baseline.isKnownResult(agreement, row.digest) && isReformatted(feature, held, this.rounding);
  }

  /** Whether the map shows the sent feature with the fewer decimals that it shows everywhere. */
  private isRounded({ geometry, properties }: PlannedFeature, row: MapRow): boolean {
    const mapFeature = readMapFeature(this.workspace.map, row);
    return (
      this.decimals !== null &&
      haveEqualProperties(properties, mapFeature.properties) &&
      equalsAfterRounding(geometry, mapFeature.geometry, this.decimals)
    );
  }

  private digest(feature: PlannedFeature): string {
    return digestText(canonicalFeature(feature, this.rounding));
  }
}
