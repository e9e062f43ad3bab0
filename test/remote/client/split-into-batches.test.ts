/** Splits features by count and bytes; a complete set is never split. */
import { describe, expect, test } from "vitest";
import { readCompleteSet } from "../../../src/remote/client/complete-set.js";
import { splitIntoBatches } from "../../../src/remote/client/split-into-batches.js";

const asIs = (text: string) => text;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("splitIntoBatches", () => {
  test("splitIntoBatches limits a batch to a thousand features", async () => {
    const texts = Array.from({ length: 2001 }, (_, i) => String(i));
    const found = await all(splitIntoBatches([texts.slice(0, 700), [], texts.slice(700)], asIs));
    expect(found.map(({ length }) => length)).toEqual([1000, 1000, 1]);
    expect(found.flat()).toEqual(texts);
  });

  test("splitIntoBatches limits a batch by bytes rather than characters", async () => {
    // With the comma after each: 4, 4, 5 and 5 bytes.
    const found = await all(splitIntoBatches([["abc", "def", "ää"], ["ghij"]], asIs, { count: 1000, bytes: 10 }));
    expect(found).toEqual([
      ["abc", "def"],
      ["ää", "ghij"],
    ]);
  });

  test("splitIntoBatches sends a feature above the byte limit alone", async () => {
    const found = await all(splitIntoBatches([["a", "b".repeat(20), "c"]], asIs, { count: 1000, bytes: 10 }));
    expect(found.map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  test("splitIntoBatches yields no batches for no features", async () => {
    expect(await all(splitIntoBatches([], asIs))).toEqual([]);
  });
});

describe("readCompleteSet", () => {
  const reader = (texts: readonly string[], missingCount = 0) => ({ texts: () => texts, missingCount });

  test("readCompleteSet contains all features of the reader", async () => {
    expect(await readCompleteSet(reader(["a", "b"]), "ref")).toEqual({ features: ["a", "b"], remoteField: "ref" });
    expect(await readCompleteSet(reader(Array.from({ length: 1000 }, () => "a")), null)).not.toBeNull();
    expect(await readCompleteSet(reader([]), null)).toEqual({ features: [], remoteField: null });
  });

  test("readCompleteSet returns null if the features exceed one request", async () => {
    expect(await readCompleteSet(reader(Array.from({ length: 1001 }, () => "a")), "ref")).toBeNull();
    expect(await readCompleteSet(reader(["aaaa", "aaaa"]), "ref", 9)).toBeNull();
  });

  test("readCompleteSet returns null if a feature is missing", async () => {
    expect(await readCompleteSet(reader(["a"], 1), "ref")).toBeNull();
  });

  test("readCompleteSet throws if reading fails", async () => {
    const broken = {
      *texts() {
        yield "a";
        throw new Error("the disk is gone");
      },
      missingCount: 0,
    };
    await expect(readCompleteSet(broken, "ref")).rejects.toThrow("the disk is gone");
  });
});
