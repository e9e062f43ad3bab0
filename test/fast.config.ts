import { defineConfig } from "vitest/config";
import config from "../vitest.config.js";

/** `npm run test:fast`: formats, geometry, reference systems and the model, without servers, browsers or other programs. */
export default defineConfig({
  test: {
    ...config.test,
    projects: undefined,
    root: `${import.meta.dirname}/..`,
    include: ["test/{crs,io,library,model,plugin,plugins,stages}/**/*.test.ts", "test/*.test.ts"],
    exclude: [
      "test/plugins/{gdal,postgis}/**",
      "test/plugins/conformance.test.ts",
      "test/io/s3/**",
      "test/package.test.ts",
      // Each takes more than eight seconds.
      "test/crs/{definitions/wkt,operations/transform}.test.ts",
      "test/io/output/*-kill.test.ts",
      "test/plugins/csv/splits.test.ts",
      "test/plugins/geojson/{generated,scan/schema-scan}.test.ts",
      "test/plugins/shapefile/damage.test.ts",
    ],
  },
});
