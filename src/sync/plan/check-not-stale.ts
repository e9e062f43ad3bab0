/** Whether a plan still fits: what it was made from must be what is there now. */

import { createError } from "../../errors.js";
import { formatCount } from "../../format-count.js";
import type { SourceFileDigest } from "../source/source-file-digests.js";
import { normalizeServiceUrl } from "../state/state-folder.js";
import type { OpenPlan } from "./plan.js";

/** What is there when a plan is about to be applied. */
export interface CurrentState {
  readonly service: string;
  /** Taken with the rounding that `header.settings.precision` gives. */
  readonly snapshot: { readonly fingerprint: string; readonly features: number };
  /** `sourceFiles` of the plan's inputs. */
  readonly files: readonly SourceFileDigest[];
}

/** @throws plan-stale that says all that has changed since the plan was made */
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
  const known = new Set(then.map(({ path }) => path));
  const changes = then.flatMap(({ path, size, sha256 }) => {
    const file = states.get(path);
    if (!file) return [`${path} is not there any more`];
    if (file.sha256 === sha256) return [];
    const sizes = file.size === size ? "" : ` (${formatCount(size, "byte")}, now ${formatCount(file.size, "byte")})`;
    return [`${path} was changed${sizes}`];
  });
  const added = now.filter(({ path }) => !known.has(path)).map(({ path }) => `${path} was not there`);
  return [...changes, ...added];
}

function describeServiceChange(then: string, now: string): string[] {
  return normalizeServiceUrl(then) === normalizeServiceUrl(now)
    ? []
    : [`it is for ${then}, and the service is now ${now}`];
}

/** An entity tag says less: it may change where the content does not. */
function describeMapChange({ map, snapshot: then }: OpenPlan["header"], now: CurrentState["snapshot"]): string[] {
  if (then.fingerprint === now.fingerprint) return [];
  const sizes =
    then.features === now.features
      ? ""
      : ` (${formatCount(then.features, "feature")}, now ${formatCount(now.features, "feature")})`;
  return [`map ${map} was changed${sizes}`];
}
