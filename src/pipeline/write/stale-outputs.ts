/** What an earlier run of another outcome left beside the outputs: one file where there are now several, or several. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { OutputSet } from "../../io/output/output-set.js";
import type { PathPlan } from "../plan/path-plan.js";
import { type ChosenWriter, splitExtension, withSuffix } from "../plan/plan-outputs.js";
import type { ReportBuilder } from "../report.js";

/** So many names are told. */
const maxListedNames = 5;

/** Files beside the output that are called as its parts are: by a family of geometries, and by a layer where these are. */
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
 * Where the output is split, the file of the very name goes that `--overwrite` spoke of. Parts that only look as if they
 * were of an earlier run are named, and stay: they may be anybody's.
 * @param written the paths of the outputs
 * @returns the file that goes, or null
 */
export function removeStaleOutput(
  plan: PathPlan,
  writer: ChosenWriter,
  written: readonly string[],
  outputs: OutputSet,
  gathered: ReportBuilder,
): string | null {
  if (written.includes("-") || written.length === 0) return null;
  const split = !written.includes(plan.outputName);
  const goes = split && plan.mayReplace && outputs.remove(plan.outputName, writer.format.companionExtensions);
  // An output that was there is the whole of the run before it.
  if (!split && (plan.outputExisted || !plan.mayReplace)) return null;
  const beside = findStaleParts(plan, writer, written).filter((path) => !plan.overlaps(path));
  if (beside.length > 0) {
    const names = `${beside.slice(0, maxListedNames).join(", ")}${beside.length > maxListedNames ? " …" : ""}`;
    const example = `${names} was there before and is no part of what is written; remove it if an earlier run made it`;
    gathered.notices.add("leftover-parts", basename(plan.outputName), undefined, beside.length, example);
  }
  return goes ? plan.outputName : null;
}
