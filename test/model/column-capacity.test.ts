import { expect, test } from "vitest";
import { columnBuilder, fieldTypes, initialRowCapacity, valueAt } from "../../src/model/index.js";

test("builders of very many columns allocate memory only for their values", () => {
  const count = 80_000;
  const before = process.memoryUsage().arrayBuffers;
  const builders = Array.from({ length: count }, (_, n) =>
    columnBuilder(fieldTypes[n % 10]!, initialRowCapacity(count)),
  );
  // With room for 1024 rows each, as few columns have, it would be more than a gigabyte.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50e6);
  expect(builders).toHaveLength(count);
});

test("a few columns have initial capacity for a batch", () => {
  expect([1, 100, 256].map(initialRowCapacity)).toEqual([1024, 1024, 1024]);
});

test.each(fieldTypes)("a builder of %s grows beyond its initial capacity", (type) => {
  for (const rows of [0, 1, 3]) {
    const builder = columnBuilder(type, rows);
    for (let row = 0; row < 5; row++) builder.pushNull();
    expect(valueAt(builder.finish(), 4)).toBeNull();
  }
});
