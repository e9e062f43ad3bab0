/**
 * Number of generated scenarios per test: GEOFERRY_TEST_RUNS for every store; by default few, and fewer on a slower
 * store.
 */
export function scenarioRuns(usual: number, store: "SQLite" | "PostgreSQL" = "SQLite"): number {
  const asked = process.env.GEOFERRY_TEST_RUNS;
  if (asked) return Number(asked);
  return store === "SQLite" ? usual : Math.ceil(usual * 0.4);
}
