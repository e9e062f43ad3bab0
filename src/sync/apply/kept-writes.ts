/**
 * Compares the map, as read after the writes of a run, with what the run sent. A service can report features as created
 * or updated without storing them; a run that believed it would then delete what they replace.
 */
import type { FeatureRow } from "../../compare/feature-side.js";
import { createError, type GeoferryError } from "../../errors.js";
import { formatCount } from "../../format-count.js";
import { haveEqualProperties, isLooselyEqual, withoutOtherProperties } from "../diff/loose-equality.js";
import { readMapFeature } from "../diff/read-rows.js";
import { findFewDecimals } from "../diff/rounding.js";
import type { BaselineEntry, PlanAction, PlannedFeature } from "../plan/plan.js";
import { type PlannedCreate, readCreates } from "../plan/plan-creates.js";
import type { ApplyRun } from "./apply-run.js";
import type { MapReread } from "./map-reread.js";
import { checkUpdateEffect, type Update } from "./patch-semantics.js";

/** Maximum features that an error lists. */
const maxNamedFeatures = 3;

type MapRow = Pick<FeatureRow, "id" | "digest" | "file" | "start" | "length">;
type Keep = Extract<PlanAction, { readonly action: "keep" }>;

const rowColumns = "id, digest, file, start, length";

export interface SentWrites {
  /** Whether one PUT sent the complete set, including unchanged features. */
  readonly put: boolean;
  /** Strong tag of the map after the last write; null if unknown. */
  readonly etag: string | null;
}

/** How the map differs from what a run reported. */
export class KeptWrites {
  /** Number of creates and updates of the plan that the map shows as sent. */
  created = 0;
  updated = 0;
  /** Features that the map lacks, has with other content, or has more than once. */
  readonly examples: string[] = [];
  /** Features that a full synchronization in one request sent unchanged, and that the map lacks. */
  lostCount = 0;
  /** Features that the service has stored in a format of its own twice. */
  private reformattedCount = 0;
  /** Decimals of coordinates, if a feature differs only since the service keeps so few. */
  private decimals: number | null = null;

  private readonly selectById;
  private readonly selectByKeys;

  private constructor(
    private readonly run: ApplyRun,
    private readonly reading: MapReread,
    private readonly sent: SentWrites,
  ) {
    const { database } = reading.workspace;
    this.selectById = database.prepare<[string], MapRow>(`SELECT ${rowColumns} FROM map WHERE id = ?`);
    this.selectByKeys = database.prepare<[string], MapRow & { readonly key: string }>(
      `SELECT key, ${rowColumns} FROM map WHERE key IN (SELECT value FROM json_each(?))`,
    );
  }

  static async compare(run: ApplyRun, reading: MapReread, sent: SentWrites): Promise<KeptWrites> {
    const kept = new KeptWrites(run, reading, sent);
    if (run.counts.created > 0) await kept.findCreated();
    if (run.counts.updated > 0) await kept.findUpdated();
    if (sent.put) await kept.findLost();
    return kept;
  }

  /**
   * Whether the map has everything that the service reported as done. Rejected features are not known one by one here;
   * the service did not report them as done, so the numbers suffice.
   */
  get isComplete(): boolean {
    const { counts } = this.run;
    return this.created >= counts.created && this.updated >= counts.updated && this.lostCount === 0;
  }

  /** Notice for the user about values that the service has changed; null if there are none. */
  get notice(): string | null {
    const { reformattedCount: count } = this;
    return count === 0
      ? null
      : `the service stores values of ${formatCount(count, "feature")} differently from what was sent, again in the same way; they count as equal from now on`;
  }

  /** Reduces the counts of the report to what the map has, and creates the error. @throws errors of the client */
  async fail(): Promise<GeoferryError> {
    const { counts, header } = this.run;
    const { service, map } = header;
    const created = Math.max(0, counts.created - this.created);
    const updated = Math.max(0, counts.updated - this.updated);
    counts.created -= created;
    counts.updated -= updated;
    if (await this.run.wasChangedByOthers(this.sent.etag, this.reading.snapshot.etag))
      return this.run.createConflictError();
    const examples = counts.failed === 0 ? this.examples : [];
    return createError("writes-not-kept", {
      service,
      map,
      created,
      updated,
      lost: this.lostCount,
      examples,
      decimals: this.decimals,
    });
  }

  private async findCreated(): Promise<void> {
    if (this.run.header.key?.by !== "property") return this.findCreatedIds();
    for await (const creates of readCreates(this.run.plan)) {
      const rows = this.findRowsByKey(creates.map(({ key }) => String(key)));
      for (const create of creates) {
        const problem = this.findCreateProblem(create, rows.get(String(create.key)) ?? []);
        if (problem === null) this.created += 1;
        else this.addExample(`${JSON.stringify(create.key)} ${problem}`);
      }
    }
  }

  /** Without keys, only the ids that the service assigned identify created features. */
  private async findCreatedIds(): Promise<void> {
    const found = new Set<string>();
    for await (const ids of this.run.creationRecorder.readIds())
      for (const id of ids) {
        if (this.selectById.get(id)) found.add(id);
        else this.addExample(`${id} is missing`);
      }
    this.created = found.size;
  }

  private findCreateProblem({ agreement, action }: PlannedCreate, rows: readonly MapRow[]): string | null {
    const [row, other] = rows;
    if (!row) return "is missing";
    if (other) return `is there ${rows.length} times`;
    const sent = action.feature;
    if (row.digest === agreement?.sent || row.digest === this.run.digestOf(sent)) return null;
    const read = readMapFeature(this.reading.workspace.map, row);
    const held = withoutOtherProperties(read, sent);
    // Then a later comparison finds no difference.
    if (isLooselyEqual(sent, held, this.run.rounding)) return null;
    if (agreement && this.isStoredForm(sent, read, agreement)) return null;
    if (haveEqualProperties(sent.properties, held.properties))
      this.decimals ??= findFewDecimals(sent.geometry, held.geometry);
    return "differs from what was sent";
  }

  private async findUpdated(): Promise<void> {
    for await (const action of this.run.plan.actions(["update"])) {
      if (action.action !== "update") continue;
      const problem = this.findUpdateProblem(action);
      if (problem === null) this.updated += 1;
      else this.addExample(`${JSON.stringify(action.key ?? action.id)} ${problem}`);
    }
  }

  private findUpdateProblem(update: Update): string | null {
    const row = this.findRow(update);
    if (!row) return "is missing";
    if (row.digest === update.agreement?.sent || row.digest === this.run.digestOf(update.feature)) return null;
    const held = readMapFeature(this.reading.workspace.map, row);
    if (checkUpdateEffect(update, held, this.run.rounding).kind === "applied") return null;
    return this.isStoredForm(update.feature, held, update.agreement) ? null : "is not updated";
  }

  private isStoredForm(sent: PlannedFeature, held: PlannedFeature, entry: BaselineEntry): boolean {
    const isStored = this.run.isStoredForm(sent, held, entry);
    if (isStored) this.reformattedCount += 1;
    return isStored;
  }

  private async findLost(): Promise<void> {
    for await (const action of this.run.plan.actions(["keep"])) {
      if (action.action !== "keep" || this.findRow(action)) continue;
      this.lostCount += 1;
      this.addExample(`${JSON.stringify(action.key ?? action.id)} is missing`);
    }
  }

  /** Recreated features have new ids, but the same key. */
  private findRow({ id, key }: Update | Keep): MapRow | undefined {
    const row = this.selectById.get(id);
    if (row || key === null || this.run.header.key?.by !== "property") return row;
    return this.findRowsByKey([String(key)]).get(String(key))?.[0];
  }

  private findRowsByKey(keys: readonly string[]): ReadonlyMap<string, readonly MapRow[]> {
    const found = new Map<string, MapRow[]>();
    for (const row of this.selectByKeys.all(JSON.stringify(keys))) {
      const rows = found.get(row.key);
      if (rows) rows.push(row);
      else found.set(row.key, [row]);
    }
    return found;
  }

  private addExample(text: string): void {
    if (this.examples.length < maxNamedFeatures) this.examples.push(text);
  }
}
