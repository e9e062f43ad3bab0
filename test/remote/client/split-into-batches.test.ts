/** Features in requests: by count and bytes, and never a part of a whole. */
import { describe, expect, test } from "vitest";
import { readCompleteSet } from "../../../src/remote/client/complete-set.js";
import { splitIntoBatches } from "../../../src/remote/client/split-into-batches.js";

const asIs = (text: string) => text;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("batches", () => {
  test("have a thousand features", async () => {
    const texts = Array.from({ length: 2001 }, (_, i) => String(i));
    const found = await all(splitIntoBatches([texts.slice(0, 700), [], texts.slice(700)], asIs));
    expect(found.map(({ length }) => length)).toEqual([1000, 1000, 1]);
    expect(found.flat()).toEqual(texts);
  });

  test("are within a number of bytes, of which a letter may have several", async () => {
    // With the comma behind it: 4, 4, 5 and 5 bytes.
    const found = await all(splitIntoBatches([["abc", "def", "ää"], ["ghij"]], asIs, { count: 1000, bytes: 10 }));
    expect(found).toEqual([
      ["abc", "def"],
      ["ää", "ghij"],
    ]);
  });

  test("have one feature where it is larger than that", async () => {
    const found = await all(splitIntoBatches([["a", "b".repeat(20), "c"]], asIs, { count: 1000, bytes: 10 }));
    expect(found.map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  test("of nothing there are none", async () => {
    expect(await all(splitIntoBatches([], asIs))).toEqual([]);
  });
});

describe("a complete set", () => {
  const reader = (texts: readonly string[], missingCount = 0) => ({ texts: () => texts, missingCount });

  test("has all that its reader has", async () => {
    expect(await readCompleteSet(reader(["a", "b"]), "ref")).toEqual({ features: ["a", "b"], remoteField: "ref" });
    expect(await readCompleteSet(reader(Array.from({ length: 1000 }, () => "a")), null)).not.toBeNull();
    expect(await readCompleteSet(reader([]), null)).toEqual({ features: [], remoteField: null });
  });

  test("is not made of more than a request can have", async () => {
    expect(await readCompleteSet(reader(Array.from({ length: 1001 }, () => "a")), "ref")).toBeNull();
    expect(await readCompleteSet(reader(["aaaa", "aaaa"]), "ref", 9)).toBeNull();
  });

  test("is not made where a feature is missing", async () => {
    expect(await readCompleteSet(reader(["a"], 1), "ref")).toBeNull();
  });

  test("is not made of a reading that breaks off", async () => {
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
