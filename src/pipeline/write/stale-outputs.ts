/** Files of an earlier run with other parts: one file that is now several, or several that are now one. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { OutputSet } from "../../io/output/output-set.js";
import type { PathPlan } from "../plan/path-plan.js";
import { type ChosenWriter, splitExtension, withSuffix } from "../plan/plan-outputs.js";
import type { ReportBuilder } from "../report.js";

/** Maximum number of names in a message. */
const maxListedNames = 5;

/** Files beside the output that have the name of a part: of a geometry family, or of a layer if layers have files. */
function findStaleParts(plan: PathPlan, { format, capabilities }: ChosenWriter, written: readonly string[]): string[] {
  const folder = dirname(plan.outputName);
  const names = readdirSync(folder);
  const [stem, extension] = splitExtension(basename(plan.outputName), format);
  const families = (capabilities.families ?? []).map((family) =>
    withSuffix(basename(plan.outputName), `_${family.suffix}`, format),
  );
  const ofLayer = (name: string) => name.startsWith(`${stem}-`) && name.endsWith(extension);
  const byLayer = written.some((path) => ofLayer(basename(path)));
  return names
    .filter((name) => families.includes(name) || (byLayer && ofLayer(name)))
    .map((name) => join(folder, name))
    .sort();
}

/**
 * If the output is split into parts, removes the existing file that `--overwrite` allows to replace. Files that may be
 * parts of an earlier run are reported and kept, since they may be the user's own.
 * @param written the paths of the outputs
 * @returns the removed file, or null
 */
export function removeStaleOutput(
  plan: PathPlan,
  writer: ChosenWriter,
  written: readonly string[],
  outputs: OutputSet,
  reportBuilder: ReportBuilder,
): string | null {
  if (written.includes("-") || written.length === 0) return null;
  const isSplit = !written.includes(plan.outputName);
  const isRemoved = isSplit && plan.mayReplace && outputs.remove(plan.outputName, writer.format.companionExtensions);
  // An output that existed was the complete output of the earlier run.
  if (!isSplit && (plan.outputExisted || !plan.mayReplace)) return null;
  const beside = findStaleParts(plan, writer, written).filter((path) => !plan.overlaps(path));
  if (beside.length > 0) {
    const names = `${beside.slice(0, maxListedNames).join(", ")}${beside.length > maxListedNames ? " …" : ""}`;
    const example = `${names} existed before and is not part of the output; remove it if an earlier run wrote it`;
    reportBuilder.notices.add("leftover-parts", basename(plan.outputName), undefined, beside.length, example);
  }
  return isRemoved ? plan.outputName : null;
}
