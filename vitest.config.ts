import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests whose files may share a worker process and the modules it has loaded, which saves a second of each file. */
const sharing = [
  "test/{cli,compare,conformance,crs,io,library,model,pipeline,plugin,remote,sqlite,stages,statistics}/**/*.test.ts",
  "test/{support,testing,tracing,view}/**/*.test.ts",
  "test/plugins/!(gdal|postgis)/**/*.test.ts",
  "test/*.test.ts",
];

/** Of these, files that replace modules or their parts. */
const replacing = [
  "test/io/input/folder-listing.test.ts",
  "test/pipeline/{buffer-reuse,execute/workers,grids/fetch-grids}.test.ts",
  "test/plugins/**/templates.test.ts",
  "test/plugins/**/feature-template.test.ts",
];

/** Folders whose tests start other processes and take longest. */
const slowFolders = ["e2e", "jobs", "sync", "service", "plugins/gdal", "plugins/ogc"].map((name) => `/test/${name}/`);

/** Runs slow files first, so that at the end no worker waits for the other. */
class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = slowFolders.findIndex((folder) => moduleId.includes(folder));
      return found < 0 ? slowFolders.length : found;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "alone", include: ["test/**/*.test.ts"], exclude: sharing } },
      { extends: true, test: { name: "replacing", include: replacing } },
      { extends: true, test: { name: "sharing", include: sharing, exclude: replacing, isolate: false } },
    ],
    setupFiles: ["test/property-seed.ts"],
    // Results must not depend on installed grids; tests of the standard folders set their own.
    env: { GEOFERRY_STANDARD_GRIDS: "0" },
    // For what hangs: a test of seconds takes a minute on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
    sequence: { sequencer: SlowFilesFirst },
  },
});
