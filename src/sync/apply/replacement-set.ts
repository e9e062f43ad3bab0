import { createError } from "../../errors.js";
import { canonicalFeature, type Rounding } from "../../remote/snapshot/canonical-feature.js";
import { maxFeaturesPerRequest, type WireFailure, type WireFeature } from "../../remote/wire.js";
import type { PlanAction, PlannedFeature } from "../plan/plan.js";
import type { ApplyRun } from "./apply-run.js";
import type { MapReread } from "./map-reread.js";
import { combinedReason, matchFailures } from "./match-failures.js";

/** A feature that the map shall have. */
export interface ReplacementFeature {
  readonly action: Exclude<PlanAction, { readonly action: "delete" }>;
  readonly feature: PlannedFeature;
  /** Null where the service gives one. */
  readonly id: string | null;
}

const canonicalText = (feature: Pick<PlannedFeature, "geometry" | "properties">, rounding: Rounding): string =>
  canonicalFeature(feature, rounding);

/** All that a map shall have by one PUT: what is created, what is changed, and what stays; at most a thousand. */
export class ReplacementSet {
  private constructor(
    private readonly run: ApplyRun,
    readonly features: readonly ReplacementFeature[],
  ) {}

  /** @returns null where it is more */
  static async create(run: ApplyRun): Promise<ReplacementSet | null> {
    const named: ReplacementFeature[] = [];
    for await (const action of run.plan.actions(["create", "update", "keep"])) {
      if (action.action === "delete") continue;
      const feature = "feature" in action ? action.feature : undefined;
      const id = "id" in action ? action.id : (feature?.id ?? null);
      if (!feature)
        throw createError("internal", { reason: `the plan lacks the contents of ${id}, which a PUT has to name` });
      if (named.push({ action, feature, id }) > maxFeaturesPerRequest) return null;
    }
    return new ReplacementSet(run, named);
  }

  /** Whether the map has these features and no others; ids may be new ones, and decimals as few as the map shows. */
  matches(reading: MapReread): boolean {
    const { map } = reading.workspace;
    if (reading.snapshot.features !== this.features.length) return false;
    const rounding = this.getRounding(reading);
    const left = new Map<string, number>();
    for (const { feature } of this.features) {
      const text = canonicalText(feature, rounding);
      left.set(text, (left.get(text) ?? 0) + 1);
    }
    for (const row of map.rows()) {
      const text = canonicalText(JSON.parse(map.textOf(row)) as WireFeature, rounding);
      const count = left.get(text) ?? 0;
      if (count === 0) return false;
      left.set(text, count - 1);
    }
    return true;
  }

  /**
   * Counts what was carried out, and tells what was not.
   * @param failed null where everything was
   */
  async recordResults(reading: MapReread, failed: readonly WireFailure[] | null): Promise<void> {
    const missed = failed === null ? [] : this.findMissing(reading);
    const reasons = matchFailures(failed ?? [], missed);
    const places = new Set(missed.map(({ index }) => index));
    for (const [place, { action, feature }] of this.features.entries()) {
      if (action.action === "keep") continue;
      if (!places.has(place)) {
        this.run.counts[action.action === "create" ? "created" : "updated"] += 1;
        continue;
      }
      const { message, path } = reasons.get(place) ?? { message: combinedReason(failed ?? []), path: null };
      await this.run.recordRefusal({ ...action, feature }, { code: "refused", reason: message, path });
    }
    for await (const action of this.run.plan.actions(["delete"])) {
      if (action.action !== "delete") continue;
      if (reading.findById(action.id)) this.run.recordDeleteRefusal(action.id, action.key, "the service kept it");
      else this.run.counts.deleted += 1;
    }
  }

  /** Places of what the map does not have as it was sent. */
  private findMissing(reading: MapReread): { readonly index: number; readonly id: string | null }[] {
    const rounding = this.getRounding(reading);
    return this.features.flatMap(({ action, feature, id }, index) => {
      const row = action.key === null ? id && reading.findById(id) : reading.findByKey(action.key);
      if (!row) return [{ index, id }];
      const is = JSON.parse(reading.workspace.map.textOf(row)) as WireFeature;
      return canonicalText(is, rounding) === canonicalText(feature, rounding) ? [] : [{ index, id }];
    });
  }

  private getRounding({ snapshot }: MapReread): Rounding {
    const { rounding } = this.run;
    return { ...rounding, degrees: Math.min(rounding.degrees, snapshot.decimals) };
  }
}
