/**
 * Round trips: a generated layer is written as format A, converted to B and back to A, and compared with the first A as
 * A's own reader has it. What differs must be in one of the two reports, and what is in a report must differ.
 *
 * `ROUND_TRIPS=2000` looks longer (layers for each pair of formats), `ROUND_TRIPS_SEED=7` elsewhere.
 */
import fc from "fast-check";
import { describe, it } from "vitest";
import { builtins } from "../../plugins/index.js";
import type { Format } from "../../src/plugin/format.js";
import { generatedLayer, wideLayer } from "../support/formats/generated-layers.js";
import { roundTrip } from "../support/formats/round-trip.js";

const firstSeed = Number(process.env.ROUND_TRIPS_SEED ?? 1);
// What goes through GDAL has tests of its own.
const hasOwnTests = ({ id }: Format) => id.startsWith("gdal:");
const formats = builtins
  .flatMap((builtin) => builtin.formats)
  .filter((format) => format.reader && format.writer && !format.addresses && !hasOwnTests(format));
const pairs = formats
  .flatMap((a) => formats.filter((b) => b !== a).map((b) => [a.id, b.id, a, b] as const))
  // Each pair has layers of its own, the same in every run.
  .map((pair, index) => [...pair, firstSeed + index] as const);
/** The time that all of them take does not grow with the number of formats. */
const numRuns = Number(process.env.ROUND_TRIPS ?? Math.max(3, Math.round(500 / pairs.length)));
const timeout = 60_000 + numRuns * 1000;

describe.each(pairs)("%s → %s → back", (_a, _b, a, b, seed) => {
  it("a round trip changes exactly what the reports state", { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(generatedLayer, (layer) => roundTrip(a, b, layer)),
      { numRuns, seed },
    );
  });

  it("a round trip of 300 fields changes exactly what the reports state", { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(wideLayer, (layer) => roundTrip(a, b, layer)),
      { numRuns: Math.ceil(numRuns / 20), seed, endOnFailure: true },
    );
  });
});
