import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/property-seed.ts"],
    // Results must not depend on installed grids; tests of the standard folders set their own.
    env: { GEOFERRY_STANDARD_GRIDS: "0" },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
