import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "../connection/connection.js";

/** How often, and at what interval, a transaction that still runs is asked for again. */
const maxQuestions = 40;
const intervalMs = 250;

/** The number of the current transaction, as text: it has 64 bits (PostgreSQL, 9.27). */
export async function transactionNumber({ client }: Connection): Promise<string> {
  const { rows } = await client.query<{ number: string }>("SELECT txid_current()::text AS number");
  return rows[0]!.number;
}

/**
 * Asks on another connection whether a transaction was committed (`txid_status`, PostgreSQL 10 and later). The server may
 * still be at work on it, or may not have noticed the broken connection.
 * @returns null if the server does not know the transaction, or does not answer
 */
export async function wasCommitted(number: string, open: () => Promise<Connection>): Promise<boolean | null> {
  try {
    const connection = await open();
    try {
      for (let asked = 0; asked < maxQuestions; asked++) {
        const { rows } = await connection.client.query<{ status: string | null }>(
          "SELECT txid_status($1::text::bigint) AS status",
          [number],
        );
        const { status } = rows[0]!;
        if (status === "committed") return true;
        if (status === "aborted") return false;
        if (status === null) return null;
        await sleep(intervalMs);
      }
    } finally {
      await connection.close();
    }
  } catch {
    // The database cannot be reached, or is older.
  }
  return null;
}
