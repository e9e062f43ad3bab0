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
