/** The least and greatest values of pages (parquet.thrift, ColumnOrder TYPE_ORDER). */
import { describe, expect, it } from "vitest";
import { boundsOf } from "../../../plugins/geoparquet/write/statistics.js";

const longs = (...values: bigint[]) => new Uint8Array(BigInt64Array.from(values).buffer);
const doubles = (...values: number[]) => new Uint8Array(Float64Array.from(values).buffer);
const texts = (...values: string[]) =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.from(value);
      return Buffer.concat([Buffer.from(Uint32Array.of(bytes.length).buffer), bytes]);
    }),
  );
const longAt = (bytes: Uint8Array | null) => Buffer.from(bytes!).readBigInt64LE();
const doubleAt = (bytes: Uint8Array | null) => Buffer.from(bytes!).readDoubleLE();
const textAt = (bytes: Uint8Array | null) => Buffer.from(bytes!).toString();

describe("bounds", () => {
  const cases: [values: bigint[], least: bigint, greatest: bigint][] = [
    [[5n, -1n, 3n], -1n, 5n],
    [[-1n, -(2n ** 32n), -(2n ** 32n) - 1n], -(2n ** 32n) - 1n, -1n],
    // The lower halves are unsigned: 2³² − 1 is more than 1, and −1 has the greatest lower half.
    [[2n ** 32n - 1n, 1n, 2n ** 31n], 1n, 2n ** 32n - 1n],
    [[2n ** 53n + 1n, 2n ** 53n, 2n ** 53n + 2n], 2n ** 53n, 2n ** 53n + 2n],
    [[-(2n ** 63n), 2n ** 63n - 1n, 0n], -(2n ** 63n), 2n ** 63n - 1n],
  ];
  it.each(cases)("of the integers %s", (values, least, greatest) => {
    const found = boundsOf("int64", longs(...values));
    expect([longAt(found.least), longAt(found.greatest)]).toEqual([least, greatest]);
  });

  it("of numbers leave out NaN, and zeros have the sign that includes the other", () => {
    const found = boundsOf("double", doubles(Number.NaN, 0, -0, Number.NaN));
    expect([doubleAt(found.least), doubleAt(found.greatest)]).toEqual([-0, 0]);
    const infinite = boundsOf("double", doubles(Infinity, Number.NaN));
    expect([doubleAt(infinite.least), doubleAt(infinite.greatest)]).toEqual([Infinity, Infinity]);
    expect(boundsOf("double", doubles(Number.NaN)).least).toBeNull();
  });

  it("of texts are those of their bytes", () => {
    const found = boundsOf("text", texts("Straße", "Strasse", "Stra", "Straße 1", "Stra\u{1f600}"));
    expect([textAt(found.least), textAt(found.greatest)]).toEqual(["Stra", "Stra\u{1f600}"]);
    const ends = boundsOf("text", texts("a", "", "ab"));
    expect([textAt(ends.least), textAt(ends.greatest)]).toEqual(["", "ab"]);
  });
});
