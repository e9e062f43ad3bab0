/** Both sides of a synchronisation limited to the features with one value of a property, so that jobs can share a map. */
import { createError } from "../../errors.js";
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { Properties } from "../../remote/wire.js";
import { readRowBatches } from "../diff/row-batches.js";
import type { SyncRequest } from "../request.js";

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

/** Names that are told of a source without the property of its scope, at most. */
const maxListedNames = 12;

/** What of a source is out of the scope. */
export class OutOfScopeCounter {
  count = 0;
  private hasScopeField = false;
  private readonly names = new Set<string>();

  constructor(private readonly scope: Scope) {}

  add({ properties }: { readonly properties: Properties | null }): void {
    this.count++;
    if (this.hasScopeField) return;
    for (const name in properties) {
      if (name === this.scope?.property) this.hasScopeField = true;
      if (this.names.size < maxListedNames) this.names.add(name);
    }
  }

  /**
   * A source without the property can have nothing in the scope, whatever it has: that is a mistake.
   * @param features of the source that are in the scope @throws scope-field-missing
   */
  check(source: string, features: number): void {
    if (this.scope === null || features > 0 || this.count === 0 || this.hasScopeField) return;
    throw createError("scope-field-missing", { source, ...this.scope, features: this.count, fields: [...this.names] });
  }
}

/**
 * Takes the features of the map that are out of the scope out of the comparison: another job's features may have the
 * same keys. @returns how many @throws interrupted
 */
export async function removeOutOfScope(workspace: Workspace, scope: Scope, signal?: AbortSignal): Promise<number> {
  const remove = workspace.database.prepare("DELETE FROM map WHERE seq = ?");
  return forEachOutOfScope(workspace, scope, ({ seq }) => remove.run(seq), signal);
}

/**
 * Features of the map that are out of the scope stay, and are known by their ids alone: one with the key of a feature
 * in the scope is another job's. @throws interrupted
 */
export async function clearKeysOutOfScope(workspace: Workspace, scope: Scope, signal?: AbortSignal): Promise<void> {
  await forEachOutOfScope(workspace, scope, ({ seq }) => workspace.map.setKey(seq, null), signal);
}

async function forEachOutOfScope(
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
  for await (const rows of readRowBatches(map, signal)) {
    const outside = rows.filter(isOutside);
    workspace.transaction(() => outside.forEach(act));
    met += outside.length;
  }
  return met;
}
