import type { Database } from "./database.js";

/**
 * Rows of keys that are removed before their room is made free. Autovacuum looks once a minute, and in a minute one
 * client can have hundreds of fields dropped, of all features of a map each.
 */
const vacuumThreshold = 20_000;

/**
 * Makes the room of removed keys free for others, in the background and once at a time: PostgreSQL keeps rows that were
 * removed until their table is vacuumed (Routine Vacuuming, "Recovering Disk Space").
 */
export class KeyVacuum {
  private removed = 0;
  private running = false;

  constructor(private readonly db: Pick<Database, "vacuum">) {}

  /** Rows that a transaction removed, after its commit. */
  add(rows: number): void {
    this.removed += rows;
    if (this.removed < vacuumThreshold || this.running) return;
    this.running = true;
    this.removed = 0;
    this.db
      .vacuum("feature_keys")
      // Autovacuum does it later.
      .catch(() => undefined)
      .finally(() => {
        this.running = false;
        this.add(0);
      });
  }
}
