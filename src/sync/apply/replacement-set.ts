import { canonicalFeature, type Rounding } from "../../canonical/canonical-feature.js";
import { createError } from "../../errors.js";
import { parseExactFeature } from "../../remote/exact-properties.js";
import { maxFeaturesPerRequest, type WireFailure, type WireFeature } from "../../remote/wire.js";
import type { PlanAction, PlannedFeature } from "../plan/plan.js";
import type { ApplyRun } from "./apply-run.js";
import type { MapReread } from "./map-reread.js";
import { combinedReason, matchFailures } from "./match-failures.js";

/** A feature of the new map content. */
export interface ReplacementFeature {
  readonly action: Exclude<PlanAction, { readonly action: "delete" }>;
  readonly feature: PlannedFeature;
  /** Null if the service assigns one. */
  readonly id: string | null;
}

const canonicalText = (feature: Pick<PlannedFeature, "geometry" | "properties">, rounding: Rounding): string =>
  canonicalFeature(feature, rounding);

/** The complete new content of a map for one PUT: created, updated and kept features; at most a thousand. */
export class ReplacementSet {
  private constructor(
    private readonly run: ApplyRun,
    readonly features: readonly ReplacementFeature[],
  ) {}

  /** @returns null if there are more */
  static async create(run: ApplyRun): Promise<ReplacementSet | null> {
    const named: ReplacementFeature[] = [];
    for await (const action of run.plan.actions(["create", "update", "keep"])) {
      if (action.action === "delete") continue;
      const feature = "feature" in action ? action.feature : undefined;
      const id = "id" in action ? action.id : (feature?.id ?? null);
      if (!feature)
        throw createError("internal", { reason: `the plan lacks the content of ${id}, which a PUT must include` });
      if (named.push({ action, feature, id }) > maxFeaturesPerRequest) return null;
    }
    return new ReplacementSet(run, named);
  }

  /** Whether the map has exactly these features. Ids may be new, and decimals as few as the map shows. */
  matches(reading: MapReread): boolean {
    const { map } = reading.workspace;
    if (reading.snapshot.features !== this.features.length) return false;
    const rounding = this.getRounding(reading);
    const remaining = new Map<string, number>();
    for (const { feature } of this.features) {
      const text = canonicalText(feature, rounding);
      remaining.set(text, (remaining.get(text) ?? 0) + 1);
    }
    for (const row of map.rows()) {
      const text = canonicalText(parseExactFeature(map.textOf(row)) as WireFeature, rounding);
      const count = remaining.get(text) ?? 0;
      if (count === 0) return false;
      remaining.set(text, count - 1);
    }
    return true;
  }

  /**
   * Counts applied changes and records rejected ones.
   * @param failed null if everything was applied
   */
  async recordResults(reading: MapReread, failed: readonly WireFailure[] | null): Promise<void> {
    const missed = failed === null ? [] : this.findMissing(reading);
    const reasons = matchFailures(failed ?? [], missed);
    const missedIndexes = new Set(missed.map(({ index }) => index));
    for (const [index, { action, feature }] of this.features.entries()) {
      if (action.action === "keep") continue;
      if (!missedIndexes.has(index)) {
        this.run.counts[action.action === "create" ? "created" : "updated"] += 1;
        continue;
      }
      const { message, path } = reasons.get(index) ?? { message: combinedReason(failed ?? []), path: null };
      await this.run.recordRefusal({ ...action, feature }, { code: "refused", reason: message, path });
    }
    for await (const action of this.run.plan.actions(["delete"])) {
      if (action.action !== "delete") continue;
      if (reading.findById(action.id)) this.run.recordDeleteRefusal(action.id, action.key, "the service kept it");
      else this.run.counts.deleted += 1;
    }
  }

  /** Indexes of features that the map does not have as sent. */
  private findMissing(reading: MapReread): { readonly index: number; readonly id: string | null }[] {
    const rounding = this.getRounding(reading);
    return this.features.flatMap(({ action, feature, id }, index) => {
      const row = action.key === null ? id && reading.findById(id) : reading.findByKey(action.key);
      if (!row) return [{ index, id }];
      const actual = parseExactFeature(reading.workspace.map.textOf(row)) as WireFeature;
      return canonicalText(actual, rounding) === canonicalText(feature, rounding) ? [] : [{ index, id }];
    });
  }

  private getRounding({ snapshot }: MapReread): Rounding {
    const { rounding } = this.run;
    return { ...rounding, degrees: Math.min(rounding.degrees, snapshot.decimals) };
  }
}
