/** Errors of plans, guards, map state and map locks: part of the registry in src/errors.ts. */
import { formatCount } from "../format-count.js";
import { defineError, type ErrorDefinition } from "./define-error.js";

type MapDetails = { readonly service: string; readonly map: string };
type Reasons = readonly { readonly reason: string }[];

export type GuardDetails = MapDetails & { readonly tripped: Reasons };

/** Puts a single reason on the same line, and several on separate lines. */
const joinReasons = (sentences: readonly string[]): string =>
  sentences.length === 1 ? ` ${sentences[0]!}` : sentences.map((sentence) => `\n  - ${sentence}`).join("");

export const syncPlanErrors = {
  "plan-invalid": defineError<{ plan: string; line: number; reason: string }>(
    "input",
    (e) => `${e.plan}, line ${e.line}: not a complete plan: ${e.reason}; create a new plan with geoferry plan`,
  ),
  "plan-version": defineError<{ plan: string; version: number; known: number }>(
    "input",
    (e) =>
      `${e.plan}: the plan has version ${e.version}, but this geoferry supports version ${e.known}; create a new plan with geoferry plan`,
  ),
  "plan-stale": defineError<{ plan: string; changes: readonly string[] }>(
    "conflict",
    (e) =>
      `${e.plan}: the plan is out of date; nothing was sent; create a new plan with geoferry plan:${joinReasons(e.changes)}`,
  ),
  /** `plan`: the saved plan that was to be applied. `hasWritten`: an earlier attempt of the run changed the map. */
  "guard-sync": defineError<GuardDetails & { plan?: string; hasWritten?: boolean }>("guard", (e) => {
    const reasons = joinReasons(e.tripped.map(({ reason }) => reason));
    return e.plan === undefined
      ? `map ${e.map} of ${e.service}: nothing ${e.hasWritten ? "more " : ""}was sent:${reasons}`
      : `${e.plan}: nothing was sent to map ${e.map} of ${e.service}; the options below are for geoferry plan: create a new plan with them:${reasons}`;
  }),
  /** `kept`: which feature of each key `--delete-different` keeps. */
  "duplicates-differ": defineError<
    MapDetails & { field: string; keys: number; kept: "first" | "last"; examples: readonly string[] }
  >(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: ${formatCount(e.keys, "value")} of "${e.field}" ${e.keys === 1 ? "is" : "are"} on several differing features, which were not deleted: ${e.examples.join("; ")}${e.keys > e.examples.length ? "; …" : ""}; --delete-different also deletes those, keeping the ${e.kept} of each`,
  ),
  "filters-delete": defineError<MapDetails & { filters: readonly string[] }>(
    "usage",
    (e) =>
      `map ${e.map} of ${e.service}: a full sync would delete the features that ${e.filters.join(" and ")} ${e.filters.length === 1 ? "excludes" : "exclude"} from the input; to delete them, add --delete-excluded; to sync only a part of the map, use --scope property=value; to delete nothing, use --mode incremental`,
  ),
  /** `holder`: "process 12 on host, since …"; null if unknown. */
  "map-locked": defineError<MapDetails & { holder: string | null }>(
    "locked",
    (e) =>
      `map ${e.map} of ${e.service}: another run holds the lock${e.holder === null ? "" : ` (${e.holder})`}; try again when it has finished`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
