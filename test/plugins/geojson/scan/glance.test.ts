import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { GeoJsonDataset } from "../../../../plugins/geojson/reader.js";
import { SplitFinder } from "../../../../plugins/geojson/scan/split-finder.js";
import { FileSource } from "../../../../src/io/input/source.js";
import type { Batch, Layer, Split } from "../../../../src/model/index.js";
import { RecordingContext, TemporaryFolder } from "../../../support/read-layers.js";
import { collectionOf, features, outputStyles, validFeatures } from "../generated-features.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
afterEach(() => vi.restoreAllMocks());

/** What comes of an attempt: JSON of the features of each batch, the splits, and how it ended. */
interface Outcome {
  readonly batches: string[];
  readonly splits: Split[];
  ending: string;
}

async function attempt(work: (outcome: Outcome) => Promise<void>): Promise<Outcome> {
  const outcome: Outcome = { batches: [], splits: [], ending: "" };
  try {
    await work(outcome);
  } catch (error) {
    outcome.ending = `${error} ${JSON.stringify((error as { details?: unknown }).details)}`;
  }
  return outcome;
}

const textOf = (batch: Batch) => JSON.stringify([batch.fields, ...batch.features()]);

async function bySplits(layer: Layer, outcome: Outcome): Promise<void> {
  for await (const split of layer.splits!()) {
    outcome.splits.push(split);
    for await (const batch of layer.batches(split)) outcome.batches.push(textOf(batch as Batch));
  }
}

/** A first look and the reading after it, beside two readings without. */
async function compared(text: string | Uint8Array, splitSize: number, skipErrors: boolean): Promise<void> {
  const path = scratch.path("places.geojson");
  // White space makes it a file that is not looked through when it is opened.
  writeFileSync(path, Buffer.concat([Buffer.alloc(1 << 20, " "), Buffer.from(text)]));
  const opened = async (context: RecordingContext) => {
    const dataset = await GeoJsonDataset.open(FileSource.at(path), { fid: undefined }, context, splitSize);
    return { dataset, layer: dataset.layers[0]! };
  };
  const looking = new RecordingContext(skipErrors);
  const plain = new RecordingContext(skipErrors);
  const found = await attempt(async (outcome) => {
    const { dataset, layer } = await opened(looking);
    await using _ = dataset;
    for await (const { batch } of layer.scanBatches!()) outcome.batches.push(textOf(batch));
    expect([looking.rejects, looking.losses]).toEqual([[], []]);
    for await (const split of layer.splits!()) outcome.splits.push(split);
  });
  const expected = await attempt(async (outcome) => {
    const { dataset, layer } = await opened(plain);
    await using _ = dataset;
    await bySplits(layer, outcome);
  });
  if (expected.ending !== "") expected.splits.length = found.splits.length = 0;
  expect(found).toEqual(expected);
}

describe("the fast first pass", () => {
  test("the fast first pass finds the batches and splits that counting brackets finds", async () => {
    const walked = vi.spyOn(SplitFinder.prototype, "hasPassed");
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(features, validFeatures),
        fc.constantFrom(1, 150, 700, 3000),
        fc.boolean(),
        async (list, splitSize, skip) => {
          await compared(collectionOf(list), splitSize, skip);
        },
      ),
      { numRuns: 120 },
    );
    const used = walked.mock.results.filter(({ value }) => value === true).length;
    expect(used).toBeGreaterThan(150);
  });

  test("the fast first pass skips values that are not objects, and reports damage with its place", async () => {
    const one = outputStyles[0]!('{"name":"a]}"}', "Point", "[1,2]", "");
    for (const odd of ["7", '"]"', "[]", "[[1],{}]", "null", "{}", "{", "]", "}", '{"type":"FeatureCollection"}', ""]) {
      for (const splitSize of [1, 120, 250]) await compared(collectionOf([one, one, odd, one, one]), splitSize, false);
    }
  });

  test("the fast first pass continues after features larger than its look-ahead", async () => {
    const long = outputStyles[0]!(`{"name":"${"x".repeat(200_000)}"}`, "Point", "[1,2]", "");
    const short = outputStyles[0]!('{"name":"x"}', "Point", "[1,2]", "");
    await compared(collectionOf([short, long, short, short, long, long, long, long, short]), 100, false);
  });

  test("the fast first pass finds several lists of features", async () => {
    const list = collectionOf([
      outputStyles[0]!("{}", "Point", "[1,2]", ""),
      outputStyles[1]!("{}", "Point", "[1,2]", "1"),
    ]);
    await compared(`${list}\n${list}`, 100, false);
    await compared(list.slice(list.indexOf("[")), 100, false);
  });
});
