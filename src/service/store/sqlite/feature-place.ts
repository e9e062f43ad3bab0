/**
 * SQL expression for the `seq` in a place. SQLite drivers bind numbers as REAL; `|`, unlike `+`, converts them to
 * integers, so that places beyond 2^53 stay exact.
 */
export const seqFromPlaceSql = "place & 0xFFFFFFFFFF";
