import { expect, test } from "vitest";
import { readInteger } from "../../../../plugins/geopackage/sqlite/values.js";

/** Big-endian twos-complement numbers (SQLite's file format, 2.1) at the edges of each width, as Buffer writes them. */
test.each([1, 2, 3, 4, 6])("whole numbers of %i bytes are read, to the least and the greatest", (width) => {
  const half = 2 ** (8 * width - 1);
  const serial = width === 6 ? 5 : width;
  for (const value of [-half, -half + 1, -129, -128, -1, 0, 1, 127, 128, 255, 256, half - 1]) {
    if (value < -half || value >= half) continue;
    const bytes = Buffer.alloc(width + 2, 0xaa);
    bytes.writeIntBE(value, 1, width);
    expect(readInteger(bytes, 1, serial)).toBe(value);
  }
});
