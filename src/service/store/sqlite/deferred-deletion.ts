import type { Connection } from "./connection.js";

/** Rows deleted per transaction, which delays other writes by milliseconds. */
const rowsPerTransaction = 2000;

/**
 * Deletes a batch of the rows of removed maps, so that deleting millions of features does not block writes. Map numbers
 * are never reused, so these rows are unreachable. Returns whether rows remain.
 */
export function deleteRemovedMapRows(db: Connection): boolean {
  const map = db.get<{ number: number }>("SELECT number FROM removed_maps LIMIT 1")?.number;
  if (map === undefined) return false;
  const features = db.run(
    `DELETE FROM features WHERE place IN (
      SELECT place FROM features WHERE place >= ? << 40 AND place < ? << 40 ORDER BY place LIMIT ?
    )`,
    map,
    map + 1,
    rowsPerTransaction,
  );
  if (features > 0) return true;
  const field = db.get<{ number: number }>("SELECT number FROM key_fields WHERE map = ? LIMIT 1", map)?.number;
  if (field !== undefined) {
    const keys = db.run(
      `DELETE FROM feature_keys WHERE field = ? AND seq IN (
        SELECT seq FROM feature_keys WHERE field = ? ORDER BY seq LIMIT ?
      )`,
      field,
      field,
      rowsPerTransaction,
    );
    // Must come last, since another field may reuse the number.
    if (keys === 0) db.run("DELETE FROM key_fields WHERE number = ?", field);
    return true;
  }
  db.run("DELETE FROM bucket_counts WHERE map = ?", map);
  db.run("DELETE FROM removed_maps WHERE number = ?", map);
  return true;
}
