import fc from "fast-check";
import type { Dataset } from "../../../src/model/index.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { prefetchedBatches, readBatches } from "../../support/read-layers.js";

/** Batches, notices, losses and rejects of reading a file, to compare two ways of reading. */
export async function readOutcome(
  open: (context: RecordingContext) => Promise<Dataset>,
  skipErrors: boolean,
  isFetched = false,
): Promise<unknown> {
  const context = new RecordingContext(skipErrors);
  const layers: unknown[] = [];
  let error: unknown = null;
  try {
    await using dataset = await open(context);
    for (const layer of dataset.layers) {
      const features: unknown[] = [];
      const { name, fields, featureCount, geometryTypes, extent } = layer;
      layers.push({
        name,
        fields,
        featureCount,
        geometryTypes,
        extent,
        summary: await layer.summary?.({ unchangedExtent: null, isLimited: false, needsExtent: false }),
        features,
      });
      for await (const batch of isFetched ? prefetchedBatches(layer) : readBatches(layer, true)) {
        for (const [row, feature] of [...batch.features()].entries()) {
          features.push({ ...feature, record: batch.recordNumbers?.[row] ?? batch.firstRecord + row });
        }
      }
    }
  } catch (thrown) {
    const { code, message, details } = thrown as { code: string; message: string; details: unknown };
    error = { code, message, details };
  }
  const { losses, notices, rejects, skippedRanges, records } = context;
  return { layers, error, losses, notices, rejects, gaps: skippedRanges, records };
}

/** Texts as elements have them, mostly plain ones. */
export const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom("park", "São Paulo", "12", "3.5", "true", "2020/02/13", "2024-05-06", "0") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "",
      " ",
      " a  b ",
      "\n\t7\n",
      "a\r\nb",
      '"',
      "'",
      ">",
      "]]>",
      "-0",
      "1e9",
      "\u00a0x\u00a0",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "a &amp; b",
      "a & b",
      "&#32;x",
      "&none;",
      "<![CDATA[ <b> ]]>",
      "x<!-- y -->z",
      "<?p i?>",
      "<i>x</i>",
      "\u0001",
      "\ufffd",
      "x".repeat(100),
      "<",
      "</name>",
    ),
  },
);

/** How the bytes come: in pieces of any size, those before the first cut small. */
export const chunkSizes: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 100, max: 500 }),
  fc.integer({ min: 2000, max: 20_000 }),
  fc.constant(1 << 16),
  fc.constant(1 << 20),
  fc.constant(1 << 20),
);

/** One of them, the first one mostly. */
export const weighted = (usual: string, ...others: string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 25, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...others) });

/** Changes one byte of a text, which is mostly left as it is: damage. */
export const corrupted = (text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(text, fc.option(fc.tuple(fc.nat(), fc.constantFrom(0, 60, 62, 38, 255, 34, 10, 47)), { freq: 4 }))
    .map(([whole, change]) => {
      const bytes = Buffer.from(whole);
      if (change) bytes[change[0] % bytes.length] = change[1];
      return bytes;
    });
