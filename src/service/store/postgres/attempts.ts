import { sha256 } from "../../identifiers/sha256.js";
import type { AccountStore } from "../contract.js";
import { byteaArray } from "./arrays.js";
import type { Database } from "./database.js";

/** Names are user input of any length and characters, so they are hashed. */
const digestNames = (names: readonly string[]): Buffer => byteaArray(names.map(sha256));

/**
 * Starts a new window after the last one ended, or if its end is too far in the future because the clock was set back.
 * Names are counted in a fixed order, so that concurrent attempts cannot deadlock.
 */
export async function recordFailedAttempt(
  db: Database,
  { names, now, window }: Parameters<AccountStore["countAttempt"]>[0],
): Promise<{ count: number; until: number }> {
  const counted = await db.rows<{ count: number; until: number }>(
    `INSERT INTO attempts AS a (name_digest, count, until)
    SELECT name, count(*), $2::bigint + $3::bigint FROM unnest($1::bytea[]) AS name GROUP BY name ORDER BY name
    ON CONFLICT (name_digest) DO UPDATE SET
      count = CASE WHEN a.until > $2::bigint AND a.until <= $2::bigint + $3::bigint THEN a.count + excluded.count ELSE excluded.count END,
      until = CASE WHEN a.until > $2::bigint AND a.until <= $2::bigint + $3::bigint THEN a.until ELSE excluded.until END
    RETURNING count, until`,
    digestNames(names),
    now,
    window,
  );
  return counted.sort((a, b) => b.count - a.count || b.until - a.until)[0] ?? { count: 0, until: now };
}

export async function clearFailedAttempts(db: Database, names: readonly string[]): Promise<void> {
  await db.run("DELETE FROM attempts WHERE name_digest = ANY($1::bytea[])", digestNames(names));
}
