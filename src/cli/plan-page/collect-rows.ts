import { mayHaveLongIntegers, parseExactly, stringifyExactly } from "../../model/exact-json.js";
import type { Properties } from "../../remote/wire.js";
import type { OpenPlan, PlanAction } from "../../sync/plan/plan.js";
import { nameOf, planClass } from "../output/plan-text.js";
import { type DrawnClass, drawnClasses, type PageRow } from "./page-data.js";

/** Limits of a page, in features and characters of JSON, that keep it responsive. */
export const defaultLimits = { rows: 10_000, characters: 48 * 2 ** 20 } as const;

export interface PageRows {
  readonly rows: readonly PageRow<DrawnClass>[];
  /** The action of each row. */
  readonly actions: readonly PlanAction[];
  /** By class, the number of features that the page omits. */
  readonly remaining: Readonly<Record<DrawnClass, number>>;
}

/** Collects features of each class, up to the limits. */
export async function collectRows(
  plan: OpenPlan,
  limits: { rows: number; characters: number } = defaultLimits,
): Promise<PageRows> {
  const remaining = Object.fromEntries(drawnClasses.map((name) => [name, plan.counts[name]])) as Record<
    DrawnClass,
    number
  >;
  const allowance = allocateRows(drawnClasses, remaining, limits.rows);
  const rows: PageRow<DrawnClass>[] = [];
  const actions: PlanAction[] = [];
  let characters = 0;
  for await (const action of plan.actions()) {
    const row = toPageRow(action);
    if (row === null || allowance[row.class] === 0) continue;
    characters += JSON.stringify(row).length;
    if (characters > limits.characters) break;
    allowance[row.class] -= 1;
    remaining[row.class] -= 1;
    rows.push(row);
    actions.push(action);
  }
  return { rows, actions, remaining };
}

/** Small classes are complete; the others share the remaining rows. */
export function allocateRows<C extends string>(
  classes: readonly C[],
  counts: Readonly<Record<C, number>>,
  rows: number,
): Record<C, number> {
  const allowance: Record<C, number> = { ...counts };
  let free = rows;
  [...classes]
    .sort((one, other) => counts[one] - counts[other])
    .forEach((name, at) => {
      allowance[name] = Math.min(counts[name], Math.floor(free / (classes.length - at)));
      free -= allowance[name];
    });
  return allowance;
}

function toPageRow(action: PlanAction): PageRow<DrawnClass> | null {
  const name = planClass(action);
  if (!isDrawn(name)) return null;
  const before = action.action === "update" || action.action === "delete" ? action.before : null;
  const after = action.action === "delete" ? null : action.feature;
  if (action.action === "keep")
    return after
      ? { class: name, name: nameOf(action), before: pickDrawnMembers(after), after: pickDrawnMembers(after) }
      : null;
  return {
    class: name,
    name: nameOf(action),
    before: before && pickDrawnMembers(before),
    after: after ? pickDrawnMembers(after) : null,
  };
}

const isDrawn = (name: string): name is DrawnClass => (drawnClasses as readonly string[]).includes(name);

const pickDrawnMembers = ({ geometry, properties }: NonNullable<PageRow["after"]>) => ({
  geometry,
  properties: withTexts(properties),
});

/** Long integers become texts: the script of the page would round them. */
function withTexts(properties: Properties): Properties {
  const json = stringifyExactly(properties);
  return mayHaveLongIntegers(json) ? (parseExactly(json) as Properties) : properties;
}
