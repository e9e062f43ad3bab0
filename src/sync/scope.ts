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
  if (scope === null) return 0;
  const { map, database } = workspace;
  const remove = database.prepare("DELETE FROM map WHERE seq = ?");
  let removed = 0;
  for await (const rows of rowBatches(map, signal)) {
    const parsed = (row: KeyedRow) => JSON.parse(map.textOf(row)) as { properties: Properties | null };
    const outside = rows.filter((row) => !isInScope(parsed(row), scope));
    workspace.together(() => {
      for (const { seq } of outside) remove.run(seq);
    });
    removed += outside.length;
  }
  return removed;
}
