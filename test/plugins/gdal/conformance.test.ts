import { describe, test } from "vitest";
import gdal from "../../../plugins/gdal/index.js";
import type { Format } from "../../../src/plugin/index.js";
import { type CheckOptions, checkFormat } from "../../../src/testing/index.js";
import { hasGdal } from "./support.js";

interface Driver extends Partial<CheckOptions> {
  readonly name: string;
  /** Checks of what the format itself cannot do, which are reported as losses (losses.test.ts). */
  readonly leftOut?: RegExp;
}

/** Of the kit, what says most about a driver: each check is three processes. Options are called as GDAL calls them. */
const chosen =
  /(Point|Polygon)s.*(some-z|empty)|all its types|values|none|any name|0 features|claims|without geometry|several/;

const drivers: readonly Driver[] = [
  // With an index its features have another order.
  { name: "FlatGeobuf", writerOptions: { SPATIAL_INDEX: "no" } },
  // It has several features for one of several points, and does not name its reference systems.
  {
    name: "MapInfo File",
    leftOut: /GeometryCollection|MultiPoint|all its types|3000 features|claims no other/,
    tolerance: 1e-6,
  },
  { name: "GeoJSON", tolerance: 1e-7 },
  { name: "GPKG" },
];

describe.skipIf(!hasGdal)("through GDAL", () => {
  for (const { name, leftOut: own, ...options } of hasGdal ? drivers : []) {
    const [family] = gdal as readonly Format[];
    const format = family!.family!.find(name)!;
    const declare: CheckOptions["test"] = (title, run) => {
      if (chosen.test(title) && !own?.test(title)) test(title, run, 60_000);
    };
    checkFormat(format, { ...options, test: declare, mutations: 2, timeLimit: 30_000 });
  }
});
