import type { Database } from "./database.js";

/**
 * Number of deleted key rows that starts a vacuum. Autovacuum checks once a minute; in that time, one client can have
 * hundreds of fields evicted, each with the keys of a whole map.
 */
const vacuumThreshold = 20_000;

/**
 * Frees the space of deleted key rows in the background, one vacuum at a time: PostgreSQL keeps deleted rows until
 * their table is vacuumed (Routine Vacuuming, "Recovering Disk Space").
 */
export class KeyVacuum {
  private removed = 0;
  private running = false;

  constructor(private readonly db: Pick<Database, "vacuum">) {}

  /** Call it after the commit of a transaction that deleted rows. */
  add(rows: number): void {
    this.removed += rows;
    if (this.removed < vacuumThreshold || this.running) return;
    this.running = true;
    this.removed = 0;
    this.db
      .vacuum("feature_keys")
      // Autovacuum will follow.
      .catch(() => undefined)
      .finally(() => {
        this.running = false;
        this.add(0);
      });
  }
}
