/** Whether a plan still fits: what it was made from must be what is there now. */
import { counted } from "../counted.js";
import { fault } from "../errors.js";
import type { OpenPlan } from "./plan.js";
import type { SourceFileState } from "./source-files.js";
import { plainAddress } from "./state-folder.js";

/** What is there when a plan is about to be applied. */
export interface Now {
  readonly service: string;
  /** Taken with the rounding that `header.settings.precision` gives. */
  readonly snapshot: { readonly fingerprint: string; readonly features: number };
  /** `sourceFiles` of the plan's inputs. */
  readonly files: readonly SourceFileState[];
}

/** @throws plan-stale that says all that has changed since the plan was made */
export function checkFresh({ path, header }: Pick<OpenPlan, "path" | "header">, now: Now): void {
  const changes = [
    ...changedFiles(header.source.files, now.files),
    ...changedService(header.service, now.service),
    ...changedMap(header, now.snapshot),
  ];
  if (changes.length > 0) throw fault("plan-stale", { plan: path, changes });
}

function changedFiles(then: readonly SourceFileState[], now: readonly SourceFileState[]): string[] {
  const states = new Map(now.map((file) => [file.path, file]));
  const known = new Set(then.map(({ path }) => path));
  const changes = then.flatMap(({ path, size, sha256 }) => {
    const file = states.get(path);
    if (!file) return [`${path} is not there any more`];
    if (file.sha256 === sha256) return [];
    const sizes = file.size === size ? "" : ` (${counted(size, "byte")}, now ${counted(file.size, "byte")})`;
    return [`${path} was changed${sizes}`];
  });
  const added = now.filter(({ path }) => !known.has(path)).map(({ path }) => `${path} was not there`);
  return [...changes, ...added];
}

function changedService(then: string, now: string): string[] {
  return plainAddress(then) === plainAddress(now) ? [] : [`it is for ${then}, and the service is now ${now}`];
}

/** An entity tag says less: it may change where the content does not. */
function changedMap({ map, snapshot: then }: OpenPlan["header"], now: Now["snapshot"]): string[] {
  if (then.fingerprint === now.fingerprint) return [];
  const sizes =
    then.features === now.features
      ? ""
      : ` (${counted(then.features, "feature")}, now ${counted(now.features, "feature")})`;
  return [`map ${map} was changed${sizes}`];
}
