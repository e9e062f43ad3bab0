/** Checks that source, service and map are unchanged since the plan was made. */

import { isAbsolute } from "node:path";
import { createError } from "../../errors.js";
import { formatCount } from "../../format-count.js";
import type { SourceFileDigest } from "../source/source-file-digests.js";
import { normalizeServiceUrl } from "../state/state-folder.js";
import type { OpenPlan } from "./plan.js";

/** The state at the time a plan is applied. */
export interface CurrentState {
  readonly service: string;
  /** Read with the rounding of `header.settings.precision`. */
  readonly snapshot: { readonly fingerprint: string; readonly features: number };
  /** `readSourceFileDigests` of the plan's inputs. */
  readonly files: readonly SourceFileDigest[];
}

/** @throws plan-stale with all changes since the plan was made */
export function checkNotStale({ path, header }: Pick<OpenPlan, "path" | "header">, now: CurrentState): void {
  const changes = [
    ...describeFileChanges(header.source.files, now.files),
    ...describeServiceChange(header.service, now.service),
    ...describeMapChange(header, now.snapshot),
  ];
  if (changes.length > 0) throw createError("plan-stale", { plan: path, changes });
}

function describeFileChanges(then: readonly SourceFileDigest[], now: readonly SourceFileDigest[]): string[] {
  const states = new Map(now.map((file) => [file.path, file]));
  const plannedPaths = new Set(then.map(({ path }) => path));
  const changes = then.flatMap(({ path, size, sha256 }) => {
    const file = states.get(path);
    if (!file)
      return [
        isAbsolute(path)
          ? `${path} no longer exists`
          : `${path} is not in ${process.cwd()}; if it was not deleted, apply the plan in the folder where it was made`,
      ];
    if (file.sha256 === sha256) return [];
    const sizes = file.size === size ? "" : ` (${formatCount(size, "byte")}, now ${formatCount(file.size, "byte")})`;
    return [`${path} has changed${sizes}`];
  });
  const added = now.filter(({ path }) => !plannedPaths.has(path)).map(({ path }) => `${path} is new`);
  return [...changes, ...added];
}

function describeServiceChange(then: string, now: string): string[] {
  return normalizeServiceUrl(then) === normalizeServiceUrl(now)
    ? []
    : [`the plan is for ${then}, but the service is now ${now}`];
}

/** Compares fingerprints, since an entity tag may change without a change of content. */
function describeMapChange({ map, snapshot: then }: OpenPlan["header"], now: CurrentState["snapshot"]): string[] {
  if (then.fingerprint === now.fingerprint) return [];
  const sizes =
    then.features === now.features
      ? ""
      : ` (${formatCount(then.features, "feature")}, now ${formatCount(now.features, "feature")})`;
  return [`map ${map} has changed${sizes}`];
}
