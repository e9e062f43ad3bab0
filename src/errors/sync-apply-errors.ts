/** Errors while applying a plan: part of the registry in src/errors.ts. */
import { formatCount } from "../format-count.js";
import { type DuplicateKeyField, formatDedupeCommand } from "./dedupe-command.js";
import { defineError, type ErrorDefinition } from "./define-error.js";

export type MapDetails = { readonly service: string; readonly map: string };

export type BackupFailure = { readonly backup: string; readonly reason: string; readonly hasWritten?: boolean };

const fewDecimalsAdvice = (decimals: number): string =>
  `the service keeps only ${formatCount(decimals, "decimal")} of coordinates; if that is enough, run the command with --precision ${decimals}, which sends and compares as many`;

export const syncApplyErrors = {
  "map-changed": defineError<MapDetails & { plan?: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: another client changed the map after ${e.plan === undefined ? "it was read" : `${e.plan} was made`}; completed changes remain on the map; ${e.plan === undefined ? "run the command again to continue from the current state" : "make a new plan from the current state with geoferry plan -o, and apply that"}`,
  ),
  "map-contended": defineError<MapDetails & { tries: number }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: another writer keeps changing the map: it changed between reading and writing in each of ${e.tries} attempts; completed changes remain on the map; run the command again when the other writer has finished, or increase --conflict-retries`,
  ),
  "condition-refused": defineError<MapDetails & { tries: number; tag: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: in each of ${e.tries} attempts the service refused to write (HTTP 412), although the map still has the entity tag ${e.tag} that If-Match names: the service answers from a copy that lags behind, or does not compare entity tags as RFC 9110, 13.1.1 requires; nothing was written; run the command again later, and if the error persists, report it to the operator of the service`,
  ),
  "duplicates-created": defineError<MapDetails & DuplicateKeyField & { keys: number; examples: readonly string[] }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: another writer created features with ${formatCount(e.keys, "value")} of "${e.field}" that this run created, too; the features differ or cannot be deleted: ${e.examples.join("; ")}${e.keys > e.examples.length ? "; …" : ""}; no data is lost: ${formatDedupeCommand(e)} shows the differences, and with --delete-different deletes all but one feature of each value; then run the command again`,
  ),
  "duplicates-lost": defineError<MapDetails & { count: number; backup: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: another writer deleted ${formatCount(e.count, "feature")} that this run kept while it deleted the duplicates, so no copy is left; geoferry restore ${e.backup} restores what this run deleted`,
  ),
  /** `status`: null if the response names the rejected features. */
  "write-refused": defineError<MapDetails & { status: number | null; reason: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service rejects every feature${e.status === null ? "" : ` (HTTP ${e.status})`}: ${e.reason}; fix the cause, then run the command again`,
  ),
  "update-unsupported": defineError<MapDetails & { status: number }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service does not support PATCH for updates (HTTP ${e.status}); --update-with delete-create deletes and recreates features instead, which gives them new ids`,
  ),
  /** `decimals`: of coordinates, if the service keeps so few that this explains the error; null if not. */
  "update-not-applied": defineError<MapDetails & { id: string; what: string; decimals: number | null }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service reported feature ${e.id} as updated, but its ${e.what} is unchanged; ${e.decimals === null ? "if the map shows the change later, run the command again with a longer --settle-time; if not, --update-with delete-create deletes and recreates features instead, which gives them new ids" : fewDecimalsAdvice(e.decimals)}`,
  ),
  /** `decimals`: as for update-not-applied. */
  "writes-not-kept": defineError<
    MapDetails & {
      created: number;
      updated: number;
      lost: number;
      examples: readonly string[];
      decimals: number | null;
    }
  >("conflict", (e) => {
    const parts = [
      e.created > 0 ? `${formatCount(e.created, "feature")} as created` : null,
      e.updated > 0 ? `${formatCount(e.updated, "feature")} as updated` : null,
      e.lost > 0 ? `${formatCount(e.lost, "unchanged feature")} as stored` : null,
    ].filter((part) => part !== null);
    const total = e.created + e.updated + e.lost;
    const list = e.examples.length > 0 ? `: ${e.examples.join("; ")}${total > e.examples.length ? "; …" : ""}` : "";
    return `map ${e.map} of ${e.service}: the service reported ${parts.join(" and ")}, but the map does not show them as sent${list}; nothing more was written; ${e.decimals === null ? "run the command again: it reads the map and sends what is missing, but creates no feature again for the next 45 minutes that the service reported as created, since the map may show it late; if the error persists and no other client writes to the map, the service does not store what it accepts: report it to its operator" : fewDecimalsAdvice(e.decimals)}`;
  }),
  /** `until`: ISO 8601, UTC. `path`: of the record. */
  "creates-not-shown": defineError<MapDetails & { features: number; id: string; until: string; path: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: an earlier run created ${formatCount(e.features, "feature")} that the map still does not show, such as ${e.id}; nothing was sent, since that could create them twice: the service may answer from a copy that lags behind; run the command again later: it continues as soon as the map shows them, or after ${e.until}; if they are lost or were deleted, delete ${e.path} to continue now`,
  ),
  "creates-not-matched": defineError<MapDetails & { features: number; id: string; path: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: ${formatCount(e.features, "feature")} that an earlier run created, such as ${e.id}, cannot be matched with the input, since the map shows their values in another format; nothing was sent, since that would create duplicates: match features by a property with --remote-field, or give the features of the input the ids of the map (geoferry pull); to create them once more, delete ${e.path}`,
  ),
  "deletes-not-applied": defineError<MapDetails & { features: number; id: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service reported ${formatCount(e.features, "feature")} as deleted that the map still has, such as ${e.id}; others may be missing instead: geoferry verify compares the map with a source; run the command again to delete them; if the error persists, the service does not delete what it reports as deleted: report it to its operator`,
  ),
  "recreate-by-id": defineError<MapDetails>(
    "usage",
    (e) =>
      `map ${e.map} of ${e.service}: --update-with delete-create gives features new ids, so --match id could not find them again; match features by a property with --remote-field`,
  ),
  "recreations-open": defineError<MapDetails>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: an earlier run was interrupted while it recreated features and must be finished first; run geoferry push with the same source`,
  ),
  /** `reason`: why the last of them had no conclusive response, if that is known. */
  "batches-not-accepted": defineError<MapDetails & { tries: number; reason: string | null }>(
    "unavailable",
    (e) =>
      `map ${e.map} of ${e.service}: requests failed ${e.tries} times in a row${e.reason === null ? "" : ` (the last: ${e.reason})`}, and the map shows that none of them was applied; run the command again later to resume`,
  ),
  "outcome-unknown": defineError<MapDetails & { features: number; rejects: string }>(
    "unknown-outcome",
    (e) =>
      `map ${e.map} of ${e.service}: the outcome is unknown for ${e.features === 1 ? "1 feature" : `${e.features} features`}: the service sent no conclusive response, and no key identifies the features; they are in ${e.rejects}: check which of them are missing from the map, and push those`,
  ),
  /** `hasWritten`: an earlier attempt of the run changed the map. */
  "backup-failed": defineError<BackupFailure>(
    "output",
    (e) =>
      `${e.backup}: cannot write the backup: ${e.reason}; nothing ${e.hasWritten ? "more " : ""}was sent, since a run is recorded before it changes the map; choose another file or folder with --backup`,
  ),
  /** `isUnderWay`: requests were recorded before. */
  "journal-failed": defineError<{ journal: string; reason: string; isUnderWay: boolean }>(
    "output",
    (e) =>
      `${e.journal}: the record of the run cannot be written: ${e.reason}; ${e.isUnderWay ? "nothing more was sent, but completed changes remain on the map; when this is mended, run the command again to continue from its current state" : "nothing was sent, since requests are recorded first"}`,
  ),
  "backup-invalid": defineError<{ backup: string; line: number; reason: string }>(
    "input",
    (e) =>
      `${e.backup}, line ${e.line}: not a backup as geoferry wrote it: ${e.reason}; the summary of the run that wrote the backup shows its path`,
  ),
  /** `isPlan`: a saved plan was applied, which no longer fits the map. */
  "sync-interrupted": defineError<MapDetails & { isPlan?: boolean }>(
    "interrupted",
    (e) =>
      `interrupted; changes sent to map ${e.map} of ${e.service} so far remain; ${e.isPlan ? "make a new plan of what is left with geoferry plan, and apply it" : "run the command again to resume"}`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
