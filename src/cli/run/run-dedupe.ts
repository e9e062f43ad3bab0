/** `geoferry dedupe`: deletes duplicate features of a map. */

import { createError, type GeoferryError } from "../../errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import {
  type DedupeHooks,
  type DedupePlan,
  type DedupeRequest,
  type Duplicates,
  deduplicate,
  planDedupe,
} from "../../sync/diff/dedupe.js";
import { checkGuards } from "../../sync/plan/guards.js";
import { isEmptyPlan } from "../../sync/plan/plan.js";
import type { DedupeArguments } from "../commands/dedupe.js";
import { exitStatus } from "../exit.js";
import { dedupeRequestOf, mapIdOf } from "../options/sync-options.js";
import { plainText } from "../output/plan-text.js";
import { printNotice } from "../output/print.js";
import type { ProgressDisplay } from "../output/progress.js";
import { renderError } from "../output/render.js";
import { renderCounts } from "../output/sync-report.js";
import { mayDelete, reportApplied } from "./run-sync.js";
import { openReadingSession, openSession } from "./sync-session.js";

/** Keys that are listed. */
const maxShownKeys = 20;
/** Keys that an error names. */
const maxNamedKeys = 3;

/** @returns the exit status @throws guard-sync, duplicates-differ … */
export async function runDedupe(args: DedupeArguments): Promise<number> {
  const request = dedupeRequestOf(args);
  const map = { given: mapIdOf(args.map) };
  if (args.dryRun) {
    await using session = await openReadingSession(args, map);
    const reporter = new DedupeReporter(request, args, session.display);
    const found = await planDedupe(request, session.run, (duplicates) => reporter.onDuplicates(duplicates));
    reporter.onPlan(found);
    checkGuards(found.plan);
    const left = reporter.errorOf(found);
    if (left) throw left;
    return 0;
  }
  await using session = await openSession(args, map);
  const { run, display } = session;
  const reporter = new DedupeReporter(request, args, display);
  const { found, applied } = await deduplicate(request, run, reporter);
  display.clear();
  const id = found.plan.header.map;
  const status = applied ? reportApplied(applied, id, run, args) : 0;
  const left = reporter.errorOf(found);
  // The user declined, or the run was stopped.
  if (left === null || status !== 0 || (applied === null && !isEmptyPlan(found.plan.counts))) return status;
  renderError(left, args, { map: id });
  return exitStatus[left.kind];
}

/** Reports duplicates and the plan before they are deleted. */
class DedupeReporter implements DedupeHooks {
  private readonly lines: string[] = [];
  private readonly examples: string[] = [];

  constructor(
    private readonly request: DedupeRequest,
    private readonly args: DedupeArguments,
    private readonly display: ProgressDisplay,
  ) {}

  onDuplicates(duplicates: Duplicates): void {
    if (this.args.json) record({ type: "duplicates", ...duplicates });
    if (this.lines.length < maxShownKeys) this.lines.push(duplicatesLine(duplicates));
    const isLeft = duplicates.stay.length > 1;
    if (isLeft && this.examples.length < maxNamedKeys) this.examples.push(differenceOf(duplicates));
  }

  onPlan({ plan, snapshot, duplicateKeys, differingKeys, remainingKeys }: DedupePlan): void {
    const { args, request } = this;
    const { remoteField, keep, orderBy, deleteDifferent } = request;
    const { service, map } = plan.header;
    const { features } = snapshot;
    this.display.clear();
    if (args.json) {
      const rule = { field: remoteField, keep, orderBy, deleteDifferent };
      record({
        type: "keys",
        map,
        ...rule,
        features,
        repeated: duplicateKeys,
        differing: differingKeys,
        left: remainingKeys,
      });
    }
    printNotice(args, `map ${map} of ${service}: ${formatCount(features, "feature")}`);
    if (duplicateKeys === 0)
      printNotice(args, `nothing to do: no two features have the same "${escapeControlCharacters(remoteField)}"`);
    else {
      printNotice(args, `  ${describeKeys(request, duplicateKeys, differingKeys)}`);
      for (const line of this.lines) printNotice(args, `  ${line}`);
      const more = duplicateKeys - this.lines.length;
      if (more > 0) printNotice(args, `  … ${groupDigits(more)} more (--json lists all)`);
    }
    renderCounts(plan, args);
  }

  confirm({ plan }: DedupePlan): Promise<boolean> {
    return mayDelete(plan, this.args);
  }

  /** The error if some keys still have several features. */
  errorOf({ plan: { header }, remainingKeys }: DedupePlan): GeoferryError | null {
    if (remainingKeys === 0) return null;
    const { service, map } = header;
    const { remoteField: field, keep: kept } = this.request;
    return createError("duplicates-differ", {
      service,
      map,
      field,
      keys: remainingKeys,
      kept,
      examples: this.examples,
    });
  }
}

function describeKeys({ remoteField, keep, orderBy }: DedupeRequest, keys: number, differing: number): string {
  const all = `${formatCount(keys, "value")} of "${escapeControlCharacters(remoteField)}" ${keys === 1 ? "has" : "have"} several features`;
  const others = differing === 0 ? "which are equal" : `${groupDigits(differing)} with features that differ`;
  return `${all}, ${others}; the ${keep} feature by ${orderBy === null ? "id" : `"${escapeControlCharacters(orderBy)}"`} is kept`;
}

const record = (value: object): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

const words = ({ differ }: Duplicates): string =>
  differ.map((path) => plainText(path.replace(/^properties\./, ""))).join(", ");

const named = (ids: readonly string[]): string => ids.map(plainText).join(", ");

const differenceOf = (duplicates: Duplicates): string =>
  `${plainText(JSON.stringify(duplicates.key))} on ${named(duplicates.stay)} (${words(duplicates)})`;

function duplicatesLine(duplicates: Duplicates): string {
  const { key, stay, go, differ } = duplicates;
  const name = plainText(String(key));
  const kept = `keep ${named(stay)}`;
  const deleted = `delete ${named(go)}`;
  if (differ.length === 0) return `- ${name}: ${kept}; ${deleted}, which ${go.length === 1 ? "is" : "are"} equal`;
  const difference = `they differ in ${words(duplicates)}`;
  return go.length === 0 ? `· ${name}: ${kept}: ${difference}` : `- ${name}: ${kept}; ${deleted}: ${difference}`;
}
