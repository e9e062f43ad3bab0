import { Problem } from "../../http/problems.js";
import type { PaginationCursor, PaginationCursorStore } from "../contract.js";
import { cursorOverlapMs } from "../pagination-cursors.js";
import type { Database } from "./database.js";
import { sqlStateOf } from "./failures.js";
import { uuidParameter } from "./uuid-parameter.js";

const pageFilterSql = (page: string): string =>
  `FROM page_ends WHERE credential = $1 AND map = $2 AND size = $3 AND page = ${page}`;

/** The furthest end among sessions with the token. */
const furthestCursorSql = (page: string, condition: string): string =>
  `(SELECT number ${pageFilterSql(page)} AND token = $5 AND ${condition} ORDER BY seq DESC LIMIT 1)`;

const saveCursorSql = `
  WITH gone AS (
    DELETE FROM page_ends WHERE number = ANY (ARRAY(
      ${furthestCursorSql("$4::bigint - 2", "true")}
      UNION ALL ${furthestCursorSql("$4::bigint - 1", "$6::bigint IS NULL")}
      UNION ALL (SELECT number ${pageFilterSql("1")} AND token = $5 AND $4::bigint = 1 AND at <= $9::bigint - ${cursorOverlapMs})
    ))
  )
  INSERT INTO page_ends (credential, map, size, page, token, seq, version, exact, at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE $6::bigint IS NOT NULL`;

/**
 * Cursors in a table, since another process may serve the next page. While the table cannot be written, as on a full disk
 * or a standby, pages are counted from the start, so that reads still work.
 */
export function paginationCursorStore(db: Database): PaginationCursorStore {
  return {
    findCursors: async ({ session, page, since }) =>
      (await whileWritable(
        db.rows<PaginationCursor>(
          `SELECT token, seq AS after, version, exact AS "isExact", at ${pageFilterSql("$4")} AND at > $5`,
          uuidParameter(session.credential),
          uuidParameter(session.map),
          session.size,
          page,
          since,
        ),
      )) ?? [],
    async saveCursor({ session, page, end, now }) {
      await whileWritable(
        db.run(
          saveCursorSql,
          uuidParameter(session.credential),
          uuidParameter(session.map),
          session.size,
          page,
          session.token,
          end?.after ?? null,
          end?.version ?? null,
          end?.isExact ?? null,
          end?.at ?? now,
        ),
      );
    },
  };
}

/**
 * Read-only transaction, full disk, and unlogged table during recovery, which is "feature not supported" (PostgreSQL,
 * appendix A).
 */
const unwritableStates = /^(25006|53100|0A000)$/;

/** Returns null if the database cannot be written. */
async function whileWritable<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    const cause = error instanceof Problem ? error.cause : error;
    if (unwritableStates.test(sqlStateOf(cause))) return null;
    throw error;
  }
}
