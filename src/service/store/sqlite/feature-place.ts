/**
 * SQL for the `seq` in a place. SQLite's drivers hand numbers over as REAL: `|`, unlike `+`, makes integers of them
 * first, and a place beyond 2^53 stays exact.
 */
export const seqFromPlaceSql = "place & 0xFFFFFFFFFF";
