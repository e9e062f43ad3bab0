/** What stops the application of a plan: part of the registry in src/errors.ts. */
import { formatCount } from "../format-count.js";
import { type DuplicateKeyField, dedupeCommand } from "./dedupe-command.js";
import { defineError, type ErrorDefinition } from "./define-error.js";

type MapDetails = { readonly service: string; readonly map: string };

export const syncApplyErrors = {
  "map-changed": defineError<MapDetails>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service} was changed by somebody else since it was read; what was done before stays and nothing is lost: run it again, and it goes on from what the map is now`,
  ),
  "map-contended": defineError<MapDetails & { tries: number }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: another writer keeps changing it: in each of ${e.tries} attempts it was changed between reading and writing; what was done before stays and nothing is lost: run it again when the other writer has finished, or with a larger --conflict-retries`,
  ),
  "duplicates-created": defineError<MapDetails & DuplicateKeyField & { keys: number; examples: readonly string[] }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: ${formatCount(e.keys, "value")} of "${e.field}" that this run created ${e.keys === 1 ? "is" : "are"} on features of another writer, too, which differ or cannot be deleted: ${e.examples.join("; ")}${e.keys > e.examples.length ? "; …" : ""}; nothing is lost: ${dedupeCommand(e)} shows what they differ in, and with --delete-different deletes all but one of each; then run it again`,
  ),
  "duplicates-lost": defineError<MapDetails & { count: number; backup: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: ${formatCount(e.count, "feature")} that this run kept ${e.count === 1 ? "was" : "were"} deleted by another writer at the same time, so that nothing is left of what they say; geoferry restore ${e.backup} puts back what this run deleted`,
  ),
  "write-refused": defineError<MapDetails & { status: number; reason: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service takes none of the features (it answers ${e.status}): ${e.reason}; correct that, then run it again`,
  ),
  "update-unsupported": defineError<MapDetails & { status: number }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service has no PATCH to update features with (it answers ${e.status}); --update-with delete-create deletes and creates them instead, which gives them new ids`,
  ),
  "update-not-applied": defineError<MapDetails & { id: string; what: string }>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: the service says that feature ${e.id} is updated, but its ${e.what} is as before; --update-with delete-create deletes and creates features instead, which gives them new ids`,
  ),
  "recreate-by-id": defineError<MapDetails>(
    "usage",
    (e) =>
      `map ${e.map} of ${e.service}: --update-with delete-create gives features new ids, by which --match id could not find them again; match them by a property with --remote-field`,
  ),
  "recreations-open": defineError<MapDetails>(
    "conflict",
    (e) =>
      `map ${e.map} of ${e.service}: an earlier run was cut off while it deleted and created features, and has to be finished first; geoferry push of the same source does that`,
  ),
  "batches-not-accepted": defineError<MapDetails & { tries: number }>(
    "unavailable",
    (e) =>
      `map ${e.map} of ${e.service}: requests broke off ${e.tries} times in a row, and the map shows that none of them was carried out; run it again later, and it goes on from there`,
  ),
  "outcome-unknown": defineError<MapDetails & { features: number; rejects: string }>(
    "unknown-outcome",
    (e) =>
      `map ${e.map} of ${e.service}: it is unknown whether it has ${e.features === 1 ? "1 feature" : `${e.features} features`}, as the service gave no answer and nothing identifies them; they are in ${e.rejects}: look which of them the map lacks, and push those`,
  ),
  "backup-failed": defineError<{ backup: string; reason: string }>(
    "output",
    (e) =>
      `${e.backup}: cannot be written: ${e.reason}; a run is recorded there first, so that it can be undone, so nothing was sent; --backup names another file or folder`,
  ),
  "backup-invalid": defineError<{ backup: string; line: number; reason: string }>(
    "input",
    (e) =>
      `${e.backup}, line ${e.line}: not a whole backup of geoferry: ${e.reason}; the summary of the run that made it names the file`,
  ),
  "sync-interrupted": defineError<MapDetails>(
    "interrupted",
    (e) =>
      `interrupted; what was sent to map ${e.map} of ${e.service} until then stays: run it again, and it goes on from there`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
