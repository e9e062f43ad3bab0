/** A plan in a file of this very process, which it has written or checked: nothing is checked again. */
import type { OpenPlan, PlanAction, PlanCounts, PlanHeader } from "./plan.js";
import { planOrder } from "./plan.js";
import { type PlannedCreate, WrittenCreate } from "./plan-creates.js";
import { spooledLines } from "./spooled-lines.js";

type Kind = PlanAction["action"];

export const writtenPlan = (path: string, header: PlanHeader, counts: PlanCounts): OpenPlan => ({
  path,
  header,
  counts,
  actions: (kinds = planOrder) => actionsOf(path, new Set(kinds)),
  creates: () => createsIn(path),
});

/** Only lines of the kinds that are asked for are parsed. */
async function* actionsOf(path: string, wanted: ReadonlySet<Kind>): AsyncGenerator<PlanAction> {
  const last = Math.max(...[...wanted].map((kind) => planOrder.indexOf(kind)));
  for await (const lines of spooledLines(path)) {
    for (const { text } of lines) {
      const kind = kindOf(text);
      if (kind === null) continue;
      if (planOrder.indexOf(kind) > last) return;
      if (wanted.has(kind)) yield JSON.parse(text) as PlanAction;
    }
  }
}

/** Whether a line begins as `PlanWriter` writes an action of this kind. */
export const isWrittenAs = (kind: Kind, line: string): boolean => line.startsWith(`{"action":"${kind}",`);

async function* createsIn(path: string): AsyncGenerator<readonly PlannedCreate[]> {
  let ordinal = 0;
  for await (const lines of spooledLines(path)) {
    // They stand before all others.
    const creates = lines.filter(({ text }) => isWrittenAs("create", text));
    if (creates.length > 0) yield creates.map(({ text }) => new WrittenCreate(text, ordinal++));
    else if (ordinal > 0) return;
  }
}

/** Of a line as `PlanWriter` writes it; null of the header and the end. */
const kindOf = (line: string): Kind | null => planOrder.find((kind) => isWrittenAs(kind, line)) ?? null;
