import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { PageWriter } from "../../../../plugins/geopackage/sqlite/page-writer.js";
import { TemporaryFolder } from "../../../../src/testing/index.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const pageSize = 4096;

/** A page that says its number all over. */
function page(number: number): Buffer {
  const bytes = Buffer.alloc(pageSize);
  for (let at = 0; at < pageSize; at += 4) bytes.writeUInt32BE(number, at);
  return bytes;
}

describe("pages that are written while others are made", () => {
  // More than are synced at once, and more than may be under way.
  it.each([1, 255, 256, 257, 9000])("stand in their places: %i of them", async (count) => {
    const path = scratch.path(`${count}.db`);
    writeFileSync(path, Buffer.concat([page(1), page(2)]));
    const writer = new PageWriter(path, pageSize, 2);
    for (let n = 0; n < count; n++) {
      expect(writer.append(page(n + 3))).toBe(n + 3);
      if (n % 1000 === 999) await new Promise((resolve) => setImmediate(resolve));
    }
    writer.replace(2, page(77));
    await writer.close();
    const bytes = readFileSync(path);
    expect(bytes.length).toBe((count + 2) * pageSize);
    // The number of pages is said at byte 28 of the first (The SQLite Database File Format, 1.3).
    expect(bytes.readUInt32BE(28)).toBe(count + 2);
    const wrong: number[] = [];
    for (let n = 2; n <= count + 2; n++) {
      const expected = page(n === 2 ? 77 : n);
      if (!bytes.subarray((n - 1) * pageSize, n * pageSize).equals(expected)) wrong.push(n);
    }
    expect(wrong).toEqual([]);
  });

  it.skipIf(!existsSync("/dev/full")).each([1, 600, 3000])(
    "fail with the system's words: %i of them",
    async (count) => {
      const writer = new PageWriter("/dev/full", pageSize, 0);
      const writing = async () => {
        for (let n = 0; n < count; n++) {
          writer.append(page(n));
          if (n % 300 === 299) await new Promise((resolve) => setImmediate(resolve));
        }
        await writer.close();
      };
      await expect(writing()).rejects.toMatchObject({ code: "ENOSPC" });
    },
  );
});
