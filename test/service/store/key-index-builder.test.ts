import { expect, test } from "vitest";
import { KeyIndexBuilder } from "../../../src/service/store/key-index-builder.js";

test("a field whose index build always stops early, because others evict it, does not block a request forever", async () => {
  const keys = new KeyIndexBuilder({ maxWaitMs: 0, isExclusive: true }, async () => null);
  let asked = 0;
  const ask = async () => {
    if (++asked === 1000) throw new Error("it is still asking");
    return { kind: "reading-keys", read: 10, total: 100 } as const;
  };
  await expect(keys.write({ map: "a", remoteField: "ref" }, ask)).rejects.toMatchObject({
    code: "reading-keys",
    statusCode: 503,
  });
  await keys.close();
});

test("builds of several indexes take turns, so that a write never waits for more than one batch", async () => {
  const order: string[] = [];
  let atWork = 0;
  let most = 0;
  const left = new Map([
    ["a", 3],
    ["b", 3],
  ]);
  const indexNextBatch = async (map: string) => {
    order.push(map);
    most = Math.max(most, ++atWork);
    await new Promise((resolve) => setTimeout(resolve, 5));
    atWork--;
    const rest = left.get(map)! - 1;
    left.set(map, rest);
    return rest === 0 ? null : { read: 4 - rest, total: 4 };
  };
  const keys = new KeyIndexBuilder({ maxWaitMs: 10_000, isExclusive: true }, indexNextBatch);
  const write = (map: string) =>
    keys.write({ map, remoteField: "ref" }, async () =>
      left.get(map) === 0 ? ({ kind: "done" } as const) : ({ kind: "reading-keys", read: 1, total: 4 } as const),
    );
  await Promise.all([write("a"), write("b")]);
  expect(most).toBe(1);
  expect(order).toEqual(["a", "b", "a", "b", "a", "b"]);
  await keys.close();
});
