/** Both sides of a synchronisation limited to the features with one value of a property, so that jobs can share a map. */
import type { KeyedRow } from "../remote/feature-side.js";
import type { Properties } from "../remote/wire.js";
import type { Workspace } from "../remote/workspace.js";
import type { SyncRequest } from "./request.js";
import { rowBatches } from "./row-batches.js";

type Scope = SyncRequest["scope"];

/**
 * Whether a feature has the value that a synchronisation is limited to. Values are compared as text: `--scope year=2024`
 * means the number as well; a nested value is in no scope.
 */
export function isInScope({ properties }: { readonly properties: Properties | null }, scope: Scope): boolean {
  if (scope === null) return true;
  const value = properties && Object.hasOwn(properties, scope.property) ? properties[scope.property] : null;
  return value !== null && value !== undefined && typeof value !== "object" && String(value) === scope.value;
}

/**
 * Takes the features of the map that are out of the scope out of the comparison: another job's features may have the
 * same keys. @returns how many @throws interrupted
 */
export async function limitMap(workspace: Workspace, scope: Scope, signal?: AbortSignal): Promise<number> {
  const remove = workspace.database.prepare("DELETE FROM map WHERE seq = ?");
  return forEachOutside(workspace, scope, ({ seq }) => remove.run(seq), signal);
}

/**
 * Features of the map that are out of the scope stay, and are known by their ids alone: one with the key of a feature
 * in the scope is another job's. @throws interrupted
 */
export async function limitKeys(workspace: Workspace, scope: Scope, signal?: AbortSignal): Promise<void> {
  await forEachOutside(workspace, scope, ({ seq }) => workspace.map.setKey(seq, null), signal);
}

async function forEachOutside(
  workspace: Workspace,
  scope: Scope,
  act: (row: KeyedRow) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (scope === null) return 0;
  const { map } = workspace;
  const isOutside = (row: KeyedRow) =>
    !isInScope(JSON.parse(map.textOf(row)) as { properties: Properties | null }, scope);
  let met = 0;
  for await (const rows of rowBatches(map, signal)) {
    const outside = rows.filter(isOutside);
    workspace.together(() => outside.forEach(act));
    met += outside.length;
  }
  return met;
}
