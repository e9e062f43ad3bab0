/** Reads a plan file that this process has written or validated, without checking it again. */

import { readTextLines } from "../../io/input/text-lines.js";
import { parseAction } from "./parse-action.js";
import type { OpenPlan, PlanAction, PlanCounts, PlanHeader } from "./plan.js";
import { actionOrder } from "./plan.js";
import { CreateLine, type PlannedCreate } from "./plan-creates.js";

type ActionKind = PlanAction["action"];

export const openWrittenPlan = (path: string, header: PlanHeader, counts: PlanCounts): OpenPlan => ({
  path,
  header,
  counts,
  actions: (kinds = actionOrder) => readActions(path, new Set(kinds)),
  creates: () => readCreateLines(path),
});

/** Parses only lines of the requested kinds. */
async function* readActions(path: string, requestedKinds: ReadonlySet<ActionKind>): AsyncGenerator<PlanAction> {
  const last = Math.max(...[...requestedKinds].map((kind) => actionOrder.indexOf(kind)));
  for await (const lines of readTextLines(path)) {
    for (const { text } of lines) {
      const kind = lineKind(text);
      if (kind === null) continue;
      if (actionOrder.indexOf(kind) > last) return;
      if (requestedKinds.has(kind)) yield parseAction(text);
    }
  }
}

/** Whether a line starts as `PlanWriter` writes an action of this kind. */
export const isLineOfKind = (kind: ActionKind, line: string): boolean => line.startsWith(`{"action":"${kind}",`);

async function* readCreateLines(path: string): AsyncGenerator<readonly PlannedCreate[]> {
  let ordinal = 0;
  for await (const lines of readTextLines(path)) {
    // Creates precede all other actions.
    const creates = lines.filter(({ text }) => isLineOfKind("create", text));
    if (creates.length > 0) yield creates.map(({ text }) => new CreateLine(text, ordinal++));
    else if (ordinal > 0) return;
  }
}

/** The kind of a line written by `PlanWriter`; null for the header and the end. */
const lineKind = (line: string): ActionKind | null => actionOrder.find((kind) => isLineOfKind(kind, line)) ?? null;
