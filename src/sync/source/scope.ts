/**
 * Limits both sides of a synchronization to features with one value of a property, so that several jobs can share a
 * map.
 */

import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { Properties } from "../../remote/wire.js";
import { readRowBatches } from "../diff/row-batches.js";
import type { SyncRequest } from "../request.js";

type Scope = SyncRequest["scope"];

/**
 * Whether a feature is in the scope. Values are compared as text, so `--scope year=2024` also matches the number;
 * nested values match no scope.
 */
export function isInScope({ properties }: { readonly properties: Properties | null }, scope: Scope): boolean {
  if (scope === null) return true;
  const value = properties && Object.hasOwn(properties, scope.property) ? properties[scope.property] : null;
  return value !== null && value !== undefined && typeof value !== "object" && String(value) === scope.value;
}

/** Maximum property names listed in the error for a missing scope property. */
const maxListedNames = 12;

/** Counts source features out of the scope. */
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
   * Rejects a source in which no feature has the scope property, which is probably a mistake.
   * @param features number of source features in the scope
   * @throws scope-field-missing
   */
  check(source: string, features: number): void {
    if (this.scope === null || features > 0 || this.count === 0 || this.hasScopeField) return;
    throw createError("scope-field-missing", { source, ...this.scope, features: this.count, fields: [...this.names] });
  }
}

/**
 * Excludes map features out of the scope from the comparison, since another job's features may have the same keys.
 * @returns number of excluded features
 * @throws interrupted
 */
export async function removeOutOfScope(workspace: Workspace, scope: Scope, signal?: AbortSignal): Promise<number> {
  const remove = workspace.database.prepare("DELETE FROM map WHERE seq = ?");
  return forEachOutOfScope(workspace, scope, ({ seq }) => remove.run(seq), signal);
}

/**
 * Clears the keys of map features out of the scope, which stay known by id: a feature with the same key belongs to
 * another job. @throws interrupted
 */
export async function clearKeysOutOfScope(workspace: Workspace, scope: Scope, signal?: AbortSignal): Promise<void> {
  await forEachOutOfScope(workspace, scope, ({ seq }) => workspace.map.setKey(seq, null), signal);
}

async function forEachOutOfScope(
  workspace: Workspace,
  scope: Scope,
  action: (row: KeyedRow) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (scope === null) return 0;
  const { map } = workspace;
  const isOutside = (row: KeyedRow) =>
    !isInScope(JSON.parse(map.textOf(row)) as { properties: Properties | null }, scope);
  let count = 0;
  for await (const rows of readRowBatches(map, signal)) {
    const outside = rows.filter(isOutside);
    workspace.transaction(() => outside.forEach(action));
    count += outside.length;
  }
  return count;
}
