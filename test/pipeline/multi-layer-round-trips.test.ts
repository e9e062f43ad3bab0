/**
 * Round trips of datasets of several layers: a file with layers goes to another format, into one file or a file for each
 * layer, and back. Layers come back under the names that the reports say, and lose what these say.
 *
 * `ROUND_TRIPS=500` looks longer, `ROUND_TRIPS_SEED=7` elsewhere.
 */
import fc from "fast-check";
import { describe, it } from "vitest";
import { builtins } from "../../plugins/index.js";
import type { Format } from "../../src/plugin/format.js";
import { layersRoundTrip } from "../support/formats/dataset-round-trip.js";
import { generatedLayer } from "../support/formats/generated-layers.js";

const numRuns = Number(process.env.ROUND_TRIPS ?? 4);
const firstSeed = Number(process.env.ROUND_TRIPS_SEED ?? 1);
// What goes through GDAL has tests of its own.
const hasOwnTests = ({ id }: Format) => id.startsWith("gdal:");
const formats = builtins
  .flatMap((builtin) => builtin.formats)
  .filter((format) => format.reader && format.writer && !format.addresses && !hasOwnTests(format));
const several = formats.filter(({ id }) => ["geopackage", "kml", "gpx", "topojson"].includes(id));
const pairs = several
  .flatMap((a) => formats.filter((b) => b !== a).map((b) => [a.id, b.id, a, b] as const))
  // Each pair has layers of its own, the same in every run.
  .map((pair, index) => [...pair, firstSeed + index] as const);

const names = fc.uniqueArray(
  fc.constantFrom(
    "roads",
    "Straßen",
    "two words",
    "a.b",
    "x/y",
    "1",
    "gpkg_things",
    " edge ",
    "道路",
    "<&'\">",
    "end.",
  ),
  { minLength: 1, maxLength: 4 },
);
const dataset = names.chain((all) => fc.tuple(...all.map((name) => generatedLayer.map((layer) => ({ name, layer })))));

describe.each(pairs)("layers of %s → %s → back", (_a, _b, a, b, seed) => {
  it("layers read back differ only as reported", { timeout: 60_000 + numRuns * 2000 }, async () => {
    await fc.assert(
      fc.asyncProperty(dataset, (layers) => layersRoundTrip(a, b, layers)),
      { numRuns, seed },
    );
  });
});
