/** Features in requests: by count and bytes, in halves where those are too many, and never a part of a whole. */
import { describe, expect, test } from "vitest";
import { BatchLimits, batches, sendInParts } from "../../src/remote/batches.js";
import { completeSet } from "../../src/remote/complete-set.js";
import type { WriteOutcome } from "../../src/remote/map-client.js";

const asIs = (text: string) => text;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("batches", () => {
  test("have a thousand features", async () => {
    const texts = Array.from({ length: 2001 }, (_, i) => String(i));
    const found = await all(batches(texts, asIs));
    expect(found.map(({ length }) => length)).toEqual([1000, 1000, 1]);
    expect(found.flat()).toEqual(texts);
  });

  test("are within a number of bytes, of which a letter may have several", async () => {
    // With the comma behind it: 4, 4, 5 and 5 bytes.
    const found = await all(batches(["abc", "def", "ää", "ghij"], asIs, new BatchLimits(1000, 10)));
    expect(found).toEqual([
      ["abc", "def"],
      ["ää", "ghij"],
    ]);
  });

  test("have one feature where it is larger than that", async () => {
    const found = await all(batches(["a", "b".repeat(20), "c"], asIs, new BatchLimits(1000, 10)));
    expect(found.map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  test("of nothing there are none", async () => {
    expect(await all(batches([], asIs))).toEqual([]);
  });
});

describe("a batch that is too large", () => {
  const answered: WriteOutcome = {
    kind: "answered",
    success: [],
    failed: [],
    deleted: null,
    etag: null,
    replayed: false,
  };
  const tooLarge: WriteOutcome = { kind: "too-large", reason: "413" };
  const takes =
    (bytes: number) =>
    async (items: readonly string[]): Promise<WriteOutcome> =>
      items.join(",").length > bytes ? tooLarge : answered;

  test("is sent in halves, in order, and those that follow are smaller", async () => {
    const limits = new BatchLimits(1000, 100);
    const texts = ["aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd", "eeeeeee"];
    const parts = await all(sendInParts(texts, asIs, limits, takes(20)));
    expect(parts.map(({ items }) => items.length)).toEqual([2, 1, 2]);
    expect(parts.flatMap(({ items }) => items)).toEqual(texts);
    // 40 bytes were too large, and then 24.
    expect(limits.bytes).toBe(12);
  });

  test("of one feature is given back", async () => {
    const parts = await all(sendInParts(["a", "b".repeat(30)], asIs, new BatchLimits(), takes(20)));
    expect(parts.map(({ outcome }) => outcome.kind)).toEqual(["answered", "too-large"]);
  });

  test("is sent once where something else is wrong", async () => {
    let times = 0;
    const send = async (): Promise<WriteOutcome> => {
      times++;
      return { kind: "in-doubt", reason: "cut" };
    };
    expect(await all(sendInParts(["a", "b"], asIs, new BatchLimits(), send))).toHaveLength(1);
    expect(times).toBe(1);
  });
});

describe("a complete set", () => {
  const reader = (texts: readonly string[], missing = 0) => ({ texts: () => texts, missing });

  test("has all that its reader has", async () => {
    expect(await completeSet(reader(["a", "b"]), "ref")).toEqual({ features: ["a", "b"], remoteField: "ref" });
    expect(await completeSet(reader(Array.from({ length: 1000 }, () => "a")), null)).not.toBeNull();
    expect(await completeSet(reader([]), null)).toEqual({ features: [], remoteField: null });
  });

  test("is not made of more than a request can have", async () => {
    expect(await completeSet(reader(Array.from({ length: 1001 }, () => "a")), "ref")).toBeNull();
    expect(await completeSet(reader(["aaaa", "aaaa"]), "ref", 9)).toBeNull();
  });

  test("is not made where a feature is missing", async () => {
    expect(await completeSet(reader(["a"], 1), "ref")).toBeNull();
  });

  test("is not made of a reading that breaks off", async () => {
    const broken = {
      *texts() {
        yield "a";
        throw new Error("the disk is gone");
      },
      missing: 0,
    };
    await expect(completeSet(broken, "ref")).rejects.toThrow("the disk is gone");
  });
});
