/** What came of comparing an input with a map, and of writing to it: in words for people, as records for programs. */
import { formatCount, groupDigits } from "../../format-count.js";
import type { ApplyReport, WithheldReason } from "../../sync/apply/apply-context.js";
import { listBackups } from "../../sync/journal/list-backups.js";
import type { OpenPlan, PlanCounts, PlanHeader } from "../../sync/plan/plan.js";
import type { PreparedSync, UnchangedSync } from "../../sync/plan/prepare-sync.js";
import type { CommonArguments } from "../command.js";
import type { SessionArguments } from "../run/sync-session.js";
import { renderGaps, renderLosses } from "./render.js";
import { restoreCommand } from "./restore-command.js";

const isQuiet = ({ quiet, json }: CommonArguments): boolean => quiet === true || json === true;

/** What stands behind a word of `describeCounts`. */
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
  if (keyChoice === null) return "nothing is matched: everything is created";
  if (keyChoice.key.by === "id") return "features are matched by the ids of the service";
  const how = {
    asked: "as asked",
    remembered: "as before",
    chosen:
      keyChoice.runnersUp.length > 0
        ? `chosen; ${keyChoice.runnersUp.map((name) => `"${name}"`).join(", ")} would do as well`
        : "chosen: no other property would do",
  };
  return `features are matched by "${keyChoice.key.name}" (${how[keyChoice.how]})`;
};

/** What was read, how it was matched, and what a person should know of it. */
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
  renderGaps(source.gaps, args);
  const rejected = source.rejects.count;
  if (rejected > 0 && !isQuiet(args))
    say(`  ${formatCount(rejected, "feature")} rejected, with the reasons in ${rejects}`);
}

/** Neither side has changed. */
export function renderUnchanged({ source }: UnchangedSync, map: string, args: CommonArguments): void {
  const counts = { create: 0, update: 0, delete: 0, same: source.features };
  if (args.json) record({ type: "plan", map, unchanged: true, counts });
  else if (!args.quiet) say(`map ${map}: nothing to do: neither the input nor the map has changed since the last run`);
}

/** The counts of a plan. */
export function renderCounts({ header: { map, mode, put }, counts }: OpenPlan, args: CommonArguments): void {
  if (args.json) record({ type: "plan", map, mode, put, counts });
  else if (!args.quiet) say(`plan for map ${map}: ${describeCounts(counts)}`);
}

const whyWithheld: Readonly<Record<WithheldReason, string>> = {
  failed: "since other features failed",
  unknown: "since nobody knows what became of other features",
  changed: "since they say something else by now",
  stopped: "since it was stopped before",
};

/** Another writer was faster: what was done until then, and that the run goes on. */
export function renderOvertaken(map: string, report: ApplyReport, args: CommonArguments): void {
  const { created, updated, deleted } = report;
  if (args.json) record({ type: "overtaken", map, created, updated, deleted });
  else if (!args.quiet)
    say(
      `map ${map}: another writer changed it meanwhile (until then created ${groupDigits(created)}, updated ${groupDigits(updated)}, deleted ${groupDigits(deleted)}); reading it again`,
    );
}

/** What was written. */
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
    say(
      `  ${formatCount(twins, "feature")} removed again: another writer created the same at the same time, and each is on the map once`,
    );
  for (const notice of notices) say(`  note ${notice}`);
  for (const [n, one] of [...listBackups(report)].reverse().entries())
    say(`  ${n === 0 ? "to undo this" : "and then"}: ${restoreCommand(one, args)}`);
  for (const { action, key, id, reason } of refused)
    say(`  refused to ${action} ${key ?? id ?? "a feature"}: ${reason}`);
  if (failed > 0)
    say(
      `  ${formatCount(failed, "feature")} failed${rejects ? `, with the reasons in ${rejects}, which can be pushed again` : ""}`,
    );
  if (withheld) say(`  ${formatCount(withheld.deletes, "feature")} not deleted, ${whyWithheld[withheld.why]}`);
}

const record = (value: object): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

const say = (sentence: string): void => {
  process.stderr.write(`${sentence}\n`);
};
