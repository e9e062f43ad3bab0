/**
 * How many generated scenarios a test plays: as many as GEOFERRY_TEST_RUNS says, on every kind of store; else few, and
 * fewer on a store that takes longer.
 */
export function scenarioRuns(usual: number, store: "SQLite" | "PostgreSQL" = "SQLite"): number {
  const asked = process.env.GEOFERRY_TEST_RUNS;
  if (asked) return Number(asked);
  return store === "SQLite" ? usual : Math.ceil(usual * 0.4);
}
