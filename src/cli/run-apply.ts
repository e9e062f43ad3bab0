/** `geoferry apply`: a plan that was made before is carried out. */
import { Spool } from "../io/spool.js";
import { applyLater } from "../sync/apply-later.js";
import { isEmptyPlan } from "../sync/plan.js";
import { openPlan } from "../sync/plan-reader.js";
import { checkRejectsPath } from "../sync/rejects-path.js";
import type { ApplyArguments } from "./commands/apply.js";
import { mayDelete, tellApplied } from "./run-sync.js";
import { tell } from "./say.js";
import { renderCounts } from "./sync-report.js";
import { openSession } from "./sync-session.js";

/** @returns the exit status @throws plan-invalid, plan-version, plan-stale, guard-sync … */
export async function runApply(args: ApplyArguments): Promise<number> {
  await using spool = new Spool();
  const plan = await openPlan(args.plan, spool);
  const { header, counts } = plan;
  const rejects = args.rejects ?? `${args.plan}.rejects.geojsonl`;
  await checkRejectsPath(rejects);
  await using session = await openSession({ url: header.service, ...args }, { id: header.map });
  const { run, display } = session;
  const confirm = () => {
    display.clear();
    renderCounts(plan, args);
    return mayDelete(plan, args);
  };
  const report = await applyLater(plan, rejects, run, confirm);
  display.clear();
  if (report) return tellApplied(report, header.map, run, args);
  if (isEmptyPlan(counts)) tell(args, `${args.plan}: nothing to do`);
  return 0;
}
