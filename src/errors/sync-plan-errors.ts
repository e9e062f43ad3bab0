/** What stops a plan, its guards, the state of a map or its lock: part of the registry in src/errors.ts. */
import { formatCount } from "../format-count.js";
import { defineError, type ErrorDefinition } from "./define-error.js";

type MapDetails = { readonly service: string; readonly map: string };
type Reasons = readonly { readonly reason: string }[];

/** One of several is a line of its own. */
const joinReasons = (sentences: readonly string[]): string =>
  sentences.length === 1 ? ` ${sentences[0]!}` : sentences.map((sentence) => `\n  - ${sentence}`).join("");

export const syncPlanErrors = {
  "plan-invalid": defineError<{ plan: string; line: number; reason: string }>(
    "input",
    (e) => `${e.plan}, line ${e.line}: not a whole plan: ${e.reason}; make a new one with geoferry plan`,
  ),
  "plan-version": defineError<{ plan: string; version: number; known: number }>(
    "input",
    (e) =>
      `${e.plan}: a plan of version ${e.version}, and this geoferry knows version ${e.known}; make a new one with geoferry plan`,
  ),
  "plan-stale": defineError<{ plan: string; changes: readonly string[] }>(
    "conflict",
    (e) =>
      `${e.plan}: the plan no longer fits, and nothing was sent; make a new one with geoferry plan:${joinReasons(e.changes)}`,
  ),
  "guard-sync": defineError<MapDetails & { tripped: Reasons }>(
    "guard",
    (e) => `map ${e.map} of ${e.service}: nothing was sent:${joinReasons(e.tripped.map(({ reason }) => reason))}`,
  ),
  /** `kept`: which one stays of each key where all others go. */
  "duplicates-differ": defineError<
    MapDetails & { field: string; keys: number; kept: "first" | "last"; examples: readonly string[] }
  >(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: ${formatCount(e.keys, "value")} of "${e.field}" ${e.keys === 1 ? "is" : "are"} on several features that differ, and these stay: ${e.examples.join("; ")}${e.keys > e.examples.length ? "; …" : ""}; --delete-different deletes all but the ${e.kept} of each, too`,
  ),
  "filters-delete": defineError<MapDetails & { filters: readonly string[] }>(
    "usage",
    (e) =>
      `map ${e.map} of ${e.service}: a full synchronisation would delete what ${e.filters.join(" and ")} ${e.filters.length === 1 ? "leaves" : "leave"} out of the input; say --delete-excluded where that is meant, --scope property=value to look at a part of both sides, or --mode incremental, which deletes nothing`,
  ),
  /** `holder`: process 12 on host, since a time; null where that cannot be told. */
  "map-locked": defineError<MapDetails & { holder: string | null }>(
    "locked",
    (e) =>
      `map ${e.map} of ${e.service}: another run is at work on it${e.holder === null ? "" : ` (${e.holder})`}; try again when it has finished`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
