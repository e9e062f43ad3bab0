/** Finds features on a map by the ids that they had at an earlier run. */
import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { isUuid } from "../keys/key-value.js";

/** The id that the last restore of a feature gave it; null if none did. */
export type FindNewId = (id: string) => string | null;

/** UUIDs are the same in any letter case (RFC 9562, 4); other ids are not. */
export const normalizeId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/**
 * The map's features by ids of an earlier run: a feature that was deleted and restored since has another id, possibly
 * several times.
 */
export class CurrentRows {
  private readonly byId;
  private readonly byLowerCaseId;

  constructor(
    { database }: Workspace,
    private readonly findNewId: FindNewId,
  ) {
    database.exec("CREATE INDEX IF NOT EXISTS map_lower_id ON map (lower(id))");
    this.byId = database.prepare<[string], KeyedRow>("SELECT * FROM map WHERE id = ?");
    this.byLowerCaseId = database.prepare<[string], KeyedRow>("SELECT * FROM map WHERE lower(id) = ?");
  }

  find(id: string): KeyedRow | undefined {
    const seen = new Set<string>();
    for (let current: string | null = id; current !== null && !seen.has(current); current = this.findNewId(current)) {
      const row = this.findExactly(current);
      if (row) return row;
      seen.add(current);
    }
    return undefined;
  }

  private findExactly(id: string): KeyedRow | undefined {
    return this.byId.get(id) ?? (isUuid(id) ? this.byLowerCaseId.get(id.toLowerCase()) : undefined);
  }
}
