/** A CSV that is looked through in pieces, here or by other threads, says what it says as a whole. */
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { readerOptions } from "../../../../plugins/csv/options.js";
import reader from "../../../../plugins/csv/reader.js";
import type { TablePlan } from "../../../../plugins/shared/table/plan/plan.js";
import { GeoferryError } from "../../../../src/errors.js";
import { FileSource } from "../../../../src/io/input/source.js";
import { parseOptions } from "../../../../src/plugin/options.js";
import { RecordingContext, TemporaryFolder } from "../../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** What a piece was found to be: taken as it was, or to be looked at again. */
interface Counts {
  taken: number;
  again: number;
}

/** A context with other threads: what goes to them and comes from them is what structured cloning makes of it. */
class Threaded extends RecordingContext {
  constructor(
    skipErrors: boolean,
    private readonly source: FileSource,
    private readonly counts: Counts,
    signal?: AbortSignal,
  ) {
    super(skipErrors, undefined, signal);
  }

  async *scanParts(pieces: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const piece of pieces) {
      const found = await reader.scanPart(this.source, structuredClone(piece), new RecordingContext(this.skipErrors));
      this.counts[found.found ? "taken" : "again"]++;
      yield structuredClone(found);
    }
  }
}

/** The plan of a file, or why there is none. */
async function planOf(path: string, length: number, skipErrors: boolean, counts: Counts | null) {
  const source = FileSource.at(path);
  const context = counts ? new Threaded(skipErrors, source, counts) : new RecordingContext(skipErrors);
  try {
    await using dataset = await reader.open(source, parseOptions("csv", readerOptions, {}), context, length);
    return { plan: dataset.scanResult as TablePlan, notices: context.notices };
  } catch (error) {
    if (!(error instanceof GeoferryError)) throw error;
    return { error: error.message, details: error.details };
  }
}

const whole = 1 << 22;

/** Apart from where it is cut. */
const saidBy = (found: Awaited<ReturnType<typeof planOf>>) =>
  "plan" in found ? { ...found, plan: { ...found.plan, splits: null } } : found;

const cell = fc.oneof(
  fc.constantFrom(
    "",
    "1",
    "-7",
    "2.5",
    "12345678901",
    "true",
    "2020-02-13",
    "park",
    " ",
    '""',
    "007",
    "ä𝕏",
    '"x ""y"""',
  ),
  fc.constantFrom('"a\nb"', '"a\r\nb,c"', '"\n\n1,2,3\n4"', 'stray "quote', '"x" y', "NaN", "2020-02-13T10:00:00Z"),
);
const row = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(cell, cell, fc.integer({ min: -180, max: 180 }), fc.constantFrom("1", "2.25", "")) },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(cell, { maxLength: 6 }) },
);
const text = fc
  .tuple(fc.array(row, { minLength: 4, maxLength: 40 }), fc.constantFrom("\n", "\r\n", "\r"))
  .map(([rows, end]) => ["name,note,lon,lat", ...rows.map((cells) => cells.join(","))].join(end));
const damage = fc.option(
  fc.record({ at: fc.nat({ max: 100 }), bytes: fc.constantFrom('"', "\0", "\xff", "\xe4\xf6") }),
  {
    freq: 3,
  },
);

describe("scan of a CSV in pieces", () => {
  const path = scratch.path("pieces.csv");

  it("a CSV gives the same result in pieces and as a whole, on any thread, damaged or not", async () => {
    const counts = { taken: 0, again: 0 };
    const lengths = fc.integer({ min: 1, max: 60 });
    const property = fc.asyncProperty(text, damage, lengths, fc.boolean(), async (made, spoilt, length, skipErrors) => {
      const bytes = Buffer.from(made);
      if (spoilt) bytes.write(spoilt.bytes, Math.floor((bytes.length * spoilt.at) / 101), "latin1");
      writeFileSync(path, bytes);
      const here = await planOf(path, length, skipErrors, null);
      expect(await planOf(path, length, skipErrors, counts)).toEqual(here);
      if (!spoilt) expect(saidBy(here)).toEqual(saidBy(await planOf(path, whole, skipErrors, null)));
      if (here.plan === undefined) return;
      let end = 0;
      for (const split of here.plan.splits!) {
        expect(split.from).toBe(end);
        expect(split.bytes).toBe(split.to - split.from);
        end = split.to;
      }
      expect(end).toBe(bytes.length);
    });
    await fc.assert(property, { numRuns: 300 });
    expect(counts.taken).toBeGreaterThan(100);
    expect(counts.again).toBeGreaterThan(100);
  });

  it("a CSV is cut at block borders, in sequence", async () => {
    const rows = Array.from({ length: 99 }, (_, n) => `${100 + n},texts`);
    writeFileSync(path, `${["ids,notes", ...rows].join("\n")}\n`);
    // Records of ten bytes, of which two fit into a block.
    const from = Array.from({ length: 50 }, (_, n) => 20 * n);
    for (const counts of [null, { taken: 0, again: 0 }]) {
      const { plan } = await planOf(path, 25, false, counts);
      expect(plan?.splits?.map((split) => split.from)).toEqual(from);
    }
  });

  it("a damaged character at the end of a piece is damage where the rest of the block is UTF-8", async () => {
    // Ten bytes each: four in a block, sixteen in a piece.
    const plain = Buffer.from("1234,text\n");
    const damaged = Buffer.from("12345,ab\xe9\n", "latin1");
    const beyondAscii = Buffer.from("12,äöü\n");
    const rows = Array.from({ length: 60 }, (_, n) => (n === 16 ? damaged : n < 18 ? plain : beyondAscii));
    writeFileSync(path, Buffer.concat([Buffer.from("ids,notes\n"), ...rows]));
    for (const counts of [null, { taken: 0, again: 0 }]) {
      const { plan } = await planOf(path, 45, false, counts);
      expect(plan?.encoding.name).toBe("utf-8");
    }
  });

  it("a scan stops when it is interrupted while other threads continue", async () => {
    writeFileSync(path, ["id,note", ...Array.from({ length: 200 }, (_, n) => `${n},text`)].join("\n"));
    const source = FileSource.at(path);
    const interrupt = new AbortController();
    const counts = { taken: 0, again: 0 };
    const context = new Threaded(false, source, counts, interrupt.signal);
    const { scanParts } = context;
    context.scanParts = async function* (pieces) {
      for await (const found of scanParts.call(context, pieces)) {
        if (counts.taken === 3) interrupt.abort(new Error("interrupted"));
        yield found;
      }
    };
    const opened = reader.open(source, parseOptions("csv", readerOptions, {}), context, 10);
    await expect(opened).rejects.toThrow("interrupted");
    expect(counts.taken).toBe(3);
  });

  it("only pieces with line ends in quotes are scanned again", async () => {
    const rows = Array.from({ length: 200 }, (_, n) =>
      n === 100 ? `${n},"${"\nin,quotes".repeat(9)}"` : `${n},plain text`,
    );
    writeFileSync(path, ["id,note", ...rows].join("\n"));
    const counts = { taken: 0, again: 0 };
    const found = await planOf(path, 10, false, counts);
    expect(found).toMatchObject({ plan: { columns: [{ type: "int32" }, { type: "text" }], features: 200 } });
    expect(counts.again).toBeGreaterThan(0);
    expect(counts.again).toBeLessThan(8);
    expect(counts.taken).toBeGreaterThan(40);
  });
});
