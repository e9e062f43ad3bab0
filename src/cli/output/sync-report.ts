/** Reports syncs: text on stderr, or with `--json` records on stdout. */
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import type { ApplyReport, WithheldReason } from "../../sync/apply/apply-context.js";
import { listBackups } from "../../sync/journal/list-backups.js";
import type { OpenPlan, PlanCounts, PlanHeader } from "../../sync/plan/plan.js";
import type { PreparedSync, UnchangedSync } from "../../sync/plan/prepare-sync.js";
import type { CommonArguments } from "../command.js";
import type { SessionArguments } from "../run/sync-session.js";
import { renderLosses, renderSkippedRanges } from "./render.js";
import { formatRestoreCommand } from "./restore-command.js";

const isQuiet = ({ quiet, json }: CommonArguments): boolean => quiet === true || json === true;

/** Labels of `describeCounts`. */
const classes: readonly (readonly [keyof PlanCounts, string])[] = [
  ["create", "create"],
  ["update", "update"],
  ["delete", "delete"],
  ["same", "same"],
  ["onlyOnMap", "only on the map"],
  ["unmanaged", "without a key"],
  ["protected", "kept for a rejected feature"],
];

/** "create 20, update 5, delete 10, same 2,965" */
export function describeCounts(counts: PlanCounts): string {
  const shown = classes.filter(
    ([name]) => name === "create" || name === "update" || name === "delete" || counts[name] > 0,
  );
  return shown.map(([name, word]) => `${word} ${groupDigits(counts[name])}`).join(", ");
}

const describeKey = ({ keyChoice }: PreparedSync): string => {
  if (keyChoice === null) return "features are not matched: all are created";
  if (keyChoice.key.by === "id") return "features are matched by the ids of the service";
  const how = {
    asked: "as specified",
    remembered: "as in the last run",
    chosen:
      keyChoice.runnersUp.length > 0
        ? `chosen automatically; ${keyChoice.runnersUp.map((name) => `"${name}"`).join(", ")} would also be possible`
        : "chosen automatically; no other property is possible",
  };
  return `features are matched by "${keyChoice.key.name}" (${how[keyChoice.how]})`;
};

/** Reports source, map, key and findings of a comparison. */
export function renderPrepared(found: PreparedSync, args: CommonArguments): void {
  const { source, snapshot, notices, rejects } = found;
  const { inputs, service, map } = { ...found.plan.header, inputs: source.inputs.join(", ") };
  if (args.json) {
    const { keyChoice, keyReport } = found;
    record({
      type: "source",
      inputs: source.inputs,
      read: source.readCount,
      features: source.features,
      rejected: source.rejects.count,
      rejects,
    });
    record({ type: "map", service, map, features: snapshot.features, etag: snapshot.etag });
    if (keyChoice)
      record({
        type: "key",
        ...keyChoice.key,
        how: keyChoice.how,
        runnersUp: keyChoice.runnersUp,
        matches: keyReport?.matches,
      });
  }
  if (!isQuiet(args)) {
    const left = source.outOfScope > 0 ? `, ${groupDigits(source.outOfScope)} out of scope` : "";
    say(`${inputs}: ${formatCount(source.features, "feature")}${left}`);
    say(`map ${map} of ${service}: ${formatCount(snapshot.features, "feature")}`);
    say(`  ${describeKey(found)}`);
  }
  renderLosses([...source.notices, ...notices], source.losses, args);
  renderSkippedRanges(source.gaps, args);
  const rejected = source.rejects.count;
  if (rejected > 0 && !isQuiet(args))
    say(`  ${formatCount(rejected, "feature")} rejected, with the reasons in ${rejects}`);
}

export function renderUnchanged({ source }: UnchangedSync, map: string, args: CommonArguments): void {
  const counts = { create: 0, update: 0, delete: 0, same: source.features };
  if (args.json) record({ type: "plan", map, unchanged: true, counts });
  else if (!args.quiet) say(`map ${map}: nothing to do: neither the input nor the map has changed since the last run`);
}

export function renderCounts({ header: { map, mode, put }, counts }: OpenPlan, args: CommonArguments): void {
  if (args.json) record({ type: "plan", map, mode, put, counts });
  else if (!args.quiet) say(`plan for map ${map}: ${describeCounts(counts)}`);
}

const whyWithheld: Readonly<Record<WithheldReason, string>> = {
  failed: "because other features failed",
  unknown: "because the outcome of other requests is unknown",
  changed: "because another writer has changed them",
  stopped: "because the run was stopped first",
};

/** Reports that another writer changed the map, what this run had written, and that it continues. */
export function renderConflict(map: string, report: ApplyReport, args: CommonArguments): void {
  const { created, updated, deleted } = report;
  if (args.json) record({ type: "conflict", map, created, updated, deleted });
  else if (!args.quiet)
    say(
      `map ${map}: another writer changed it during the run (so far created ${groupDigits(created)}, updated ${groupDigits(updated)}, deleted ${groupDigits(deleted)}); reading it again`,
    );
}

export function renderApplied(
  { map }: Pick<PlanHeader, "map">,
  report: ApplyReport,
  sent: Readonly<Record<string, number>>,
  args: SessionArguments & CommonArguments,
): void {
  const { created, updated, deleted, failed, unknown, withheld, backup, rejects, refused, notices, put } = report;
  const { twins = 0 } = report;
  if (args.json) {
    const { earlierBackups = [] } = report;
    for (const one of refused) record({ type: "refused", ...one });
    record({
      type: "summary",
      map,
      created,
      updated,
      deleted,
      ...(twins > 0 && { twins }),
      failed,
      unknown,
      withheld,
      put,
      backup,
      ...(earlierBackups.length > 0 && { earlierBackups }),
      rejects,
      requests: sent,
    });
    return;
  }
  if (args.quiet) return;
  say(`map ${map}: created ${groupDigits(created)}, updated ${groupDigits(updated)}, deleted ${groupDigits(deleted)}`);
  if (twins > 0)
    say(`  ${formatCount(twins, "duplicate")} removed: another writer created the same features at the same time`);
  for (const notice of notices) say(`  note ${notice}`);
  for (const [n, one] of [...listBackups(report)].reverse().entries())
    say(`  ${n === 0 ? "to undo this" : "and then"}: ${formatRestoreCommand(one, args)}`);
  for (const { action, key, id, reason } of refused)
    say(`  refused to ${action} ${key ?? id ?? "a feature"}: ${reason}`);
  if (failed > 0)
    say(
      `  ${formatCount(failed, "feature")} failed${rejects ? `; ${rejects} contains them with the reasons, and can be pushed again` : ""}`,
    );
  if (withheld) say(`  ${formatCount(withheld.deletes, "feature")} not deleted, ${whyWithheld[withheld.why]}`);
}

const record = (value: object): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

const say = (sentence: string): void => {
  process.stderr.write(`${escapeControlCharacters(sentence)}\n`);
};
