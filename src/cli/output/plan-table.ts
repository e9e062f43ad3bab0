/** The output of `geoferry plan`: counts by class, and examples with their old and new values. */
import { groupDigits } from "../../format-count.js";
import { findTrippedGuards, type TrippedGuard } from "../../sync/plan/guards.js";
import { isEmptyPlan, type OpenPlan, type PlanAction, type PlanCounts, type PlanHeader } from "../../sync/plan/plan.js";
import type { CommonArguments } from "../command.js";
import {
  listChanges,
  matchWords,
  nameOf,
  type PlanClass,
  planClass,
  planClasses,
  putWords,
  shownClasses,
  type ValueChange,
} from "./plan-text.js";

/** Per class. */
const maxExamples = 3;
/** Per feature. */
const maxChanges = 5;
const withExamples: readonly PlanClass[] = ["create", "update", "delete", "unmanaged", "protected"];

type Examples = ReadonlyMap<PlanClass, readonly PlanAction[]>;

/** Prints a plan and the guards that it trips: on stderr, or with `--json` on stdout. */
export function renderPlan(plan: OpenPlan, args: CommonArguments): Promise<void> {
  return render(plan, findTrippedGuards(plan), args);
}

/** Prints a plan without guards, which the caller reports as an error. */
export function renderDryRun(plan: OpenPlan, args: CommonArguments): Promise<void> {
  return render(plan, [], args);
}

/** Prints the differences between a map and a source. */
export function renderDifferences(plan: OpenPlan, args: CommonArguments): Promise<void> {
  return render({ ...plan, header: { ...plan.header, put: false } }, [], args, differenceLabels);
}

/**
 * Whether a map differs from a source: features of the map without a key count, since the source has none of them, and so
 * do those whose source feature was rejected.
 */
export const differsFromSource = (counts: PlanCounts): boolean =>
  !isEmptyPlan(counts) || counts.unmanaged + counts.protected > 0;

/** Title and descriptions of the table. */
interface TableLabels {
  readonly title: (header: PlanHeader, counts: PlanCounts) => string;
  readonly meanings: Readonly<Partial<Record<PlanClass, string>>>;
}

const planLabels: TableLabels = { title: ({ mode }) => mode, meanings: {} };
const differenceLabels: TableLabels = {
  title: (_, counts) => (differsFromSource(counts) ? "differences" : "no differences"),
  meanings: {
    create: "missing on the map",
    update: "different",
    delete: "only on the map",
    unmanaged: "on the map without a key",
    protected: "only on the map; their source feature was rejected",
  },
};

async function render(
  plan: OpenPlan,
  tripped: readonly TrippedGuard[],
  args: CommonArguments,
  words: TableLabels = planLabels,
): Promise<void> {
  const examples = await examplesOf(plan);
  const records = () => planRecords(plan, examples, tripped).map((record) => `${JSON.stringify(record)}\n`);
  if (args.json) process.stdout.write(records().join(""));
  else if (!args.quiet) process.stderr.write(planText(plan, examples, tripped, words));
}

/** The first actions of each class; reads the plan only until all are found. */
export async function examplesOf(plan: OpenPlan): Promise<Examples> {
  const wanted = new Map<PlanClass, number>();
  for (const { name, count } of planClasses)
    if (withExamples.includes(name)) wanted.set(name, Math.min(maxExamples, plan.counts[count]));
  const found = new Map<PlanClass, PlanAction[]>();
  let missing = [...wanted.values()].reduce((sum, number) => sum + number, 0);
  if (missing === 0) return found;
  for await (const action of plan.actions()) {
    const name = planClass(action);
    const examples = found.get(name) ?? [];
    if (examples.length >= (wanted.get(name) ?? 0)) continue;
    found.set(name, [...examples, action]);
    if (--missing === 0) break;
  }
  return found;
}

export function planText(
  plan: OpenPlan,
  examples: Examples,
  tripped: readonly TrippedGuard[] = findTrippedGuards(plan),
  words: TableLabels = planLabels,
): string {
  const { header, counts } = plan;
  let text = `${words.title(header, counts)}, ${matchWords(header)}:\n`;
  const rows = shownClasses(counts);
  const width = Math.max(...rows.map(({ count }) => groupDigits(counts[count]).length));
  for (const { name, count, means } of rows) {
    text += `  ${name.padEnd(11)} ${groupDigits(counts[count]).padStart(width)}  ${words.meanings[name] ?? means}\n`;
    const shown = examples.get(name) ?? [];
    for (const action of shown) text += `      ${exampleLine(action)}\n`;
    const more = counts[count] - shown.length;
    if (shown.length > 0 && more > 0) text += `      … ${groupDigits(more)} more\n`;
  }
  const put = putWords(header, counts);
  if (put !== null) text += `${put}\n`;
  for (const { reason } of tripped) text += `  guard: ${reason}\n`;
  return text;
}

const marks: Readonly<Partial<Record<PlanClass, string>>> = { create: "+", update: "~", delete: "-" };

function exampleLine(action: PlanAction): string {
  const name = `${marks[planClass(action)] ?? "·"} ${nameOf(action)}`;
  if (action.action !== "update") return name;
  const changes = listChanges(action);
  const shown = changes.slice(0, maxChanges).map(changeWords).join(", ");
  const more = changes.length - maxChanges;
  return `${name}: ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

const changeWords = ({ name, before, after }: ValueChange): string =>
  `${name} ${before ?? "nothing"} → ${after ?? "nothing"}`;

type PlanRecord =
  | ({ readonly type: "plan" } & Readonly<Record<string, unknown>>)
  | ({ readonly type: "example"; readonly class: PlanClass } & Readonly<Record<string, unknown>>)
  | { readonly type: "guard"; readonly guard: TrippedGuard["guard"]; readonly reason: string };

/** JSON records of the counts, the examples and the tripped guards. */
export function planRecords(
  plan: OpenPlan,
  examples: Examples,
  tripped: readonly TrippedGuard[] = findTrippedGuards(plan),
): PlanRecord[] {
  const { header, counts } = plan;
  const { service, map, mode, key, put, source } = header;
  const summary = { type: "plan", service, map, mode, key, put, features: source.features, counts } as const;
  const shown = [...examples].flatMap(([name, actions]) =>
    actions.map((action) => ({
      type: "example" as const,
      class: name,
      key: action.key,
      ...(action.action === "create" ? {} : { id: action.id }),
      ...(action.action === "update" ? { changes: listChanges(action) } : {}),
    })),
  );
  return [summary, ...shown, ...tripped.map((guard) => ({ type: "guard" as const, ...guard }))];
}
