import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/property-seed.ts"],
    // What comes out must not depend on the grids that are installed: tests of standard folders name theirs.
    env: { GEOFERRY_STANDARD_GRIDS: "0" },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Many tests drive real servers, browsers and killed processes; CI's machines are shared. A second try is shown as one.
    retry: process.env.CI ? 1 : 0,
  },
});
