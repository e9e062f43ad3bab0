/** The sketches of `src/statistics` against counts that the tests know, at the accuracy that they promise. */
import { describe, expect, it } from "vitest";
import { BytesBuilder, NumberBuilder } from "../../src/model/column.js";
import { reportField } from "../../src/statistics/field-report.js";
import { limitsFor } from "../../src/statistics/field-state.js";
import { FieldStatistics } from "../../src/statistics/field-statistics.js";
import { hashed } from "../../src/statistics/hash.js";
import { DigestSample } from "../../src/statistics/sketches/digest-sample.js";
import { distinctStandardError, estimateDistinct } from "../../src/statistics/sketches/hyper-log-log.js";
import { quantileRankError } from "../../src/statistics/sketches/quantiles.js";
import { hashBytes } from "./twins/hash-value.js";
import { HyperLogLog } from "./twins/hyper-log-log.js";
import { QuantileSketch } from "./twins/quantile-sketch.js";

const million = 1_000_000;
/** The numbers from 0 to a million in another order: 7919 and a million have no common divisor. */
const shuffled = (k: number): number => (k * 7919) % million;

/** Bytes of all arrays in plain data. */
function sizeOf(data: unknown): number {
  if (ArrayBuffer.isView(data)) return data.byteLength;
  if (typeof data !== "object" || data === null) return 8;
  return Object.values(data).reduce((sum: number, one) => sum + sizeOf(one), 0);
}

describe("HyperLogLog", () => {
  it.each([100, 10_000, million])(
    "estimates %i distinct texts, each added twice, within three standard errors",
    (count) => {
      const sketch = new HyperLogLog();
      for (let k = 0; k < 2 * count; k++) {
        const bytes = Buffer.from(`value ${k % count}`);
        hashBytes(bytes, 0, bytes.length);
        sketch.add(hashed.low, hashed.high);
      }
      expect(distinctStandardError).toBeCloseTo(0.008125, 6);
      expect(Math.abs(estimateDistinct(sketch.registers) / count - 1)).toBeLessThan(3 * distinctStandardError);
    },
  );

  it("estimates the union of two sketches", () => {
    const [one, other] = [new HyperLogLog(), new HyperLogLog()];
    for (let k = 0; k < 300_000; k++) {
      const bytes = Buffer.from(String(k));
      hashBytes(bytes, 0, bytes.length);
      (k < 200_000 ? one : other).add(hashed.low, hashed.high);
      if (k < 100_000) other.add(hashed.low, hashed.high);
    }
    one.merge(other.registers);
    expect(Math.abs(estimateDistinct(one.registers) / 300_000 - 1)).toBeLessThan(3 * distinctStandardError);
  });
});

describe("QuantileSketch", () => {
  it("has the quantiles of a million numbers within its rank error, in a few thousand numbers, also merged", () => {
    const [whole, first, second] = [new QuantileSketch(), new QuantileSketch(), new QuantileSketch()];
    for (let k = 0; k < million; k++) {
      whole.add(shuffled(k));
      (k < 400_000 ? first : second).add(shuffled(k));
    }
    first.merge(second.toState());
    for (const sketch of [whole, first]) {
      const weighted = sketch.weighted().sort(([a], [b]) => a - b);
      expect(weighted.length).toBeLessThan(4000);
      expect(weighted.reduce((sum, [, weight]) => sum + weight, 0)).toBe(million);
      let below = 0;
      for (const [value, weight] of weighted) {
        below += weight;
        // The rank of a value is the value itself.
        expect(Math.abs(below - value) / million).toBeLessThan(2 * quantileRankError);
      }
    }
  });
});

describe("DigestSample", () => {
  it("counts repetitions exactly up to its size, then within 5 % from a sample", () => {
    const [exact, sampled] = [new DigestSample(2 ** 20, true), new DigestSample(20_000, true)];
    // A tenth of 200,000 things occurs a second time.
    for (let k = 0; k < 220_000; k++) {
      const bytes = Buffer.from(`thing ${k % 200_000}`);
      hashBytes(bytes, 0, bytes.length);
      exact.add(hashed.low, hashed.high);
      sampled.add(hashed.low, hashed.high);
    }
    expect([exact.isExact, exact.repetitions]).toEqual([true, 20_000]);
    expect(sampled.isExact).toBe(false);
    expect(sampled.distinct).toBeLessThanOrEqual(20_000);
    expect(Math.abs(sampled.repetitions / 20_000 - 1)).toBeLessThan(0.05);
  });
});

describe("FieldStatistics with many distinct values", () => {
  function collect(from: number, to: number, value: (k: number) => number) {
    const statistics = new FieldStatistics(limitsFor(10));
    const builder = new NumberBuilder("int32");
    for (let k = from; k < to; k++) builder.push(value(k));
    statistics.add(builder.finish(), to - from);
    return statistics;
  }
  const field = { name: "n", type: "int32" } as const;

  it("knows exactly that 300,000 different numbers are a key, and that one repetition is none", () => {
    const unique = reportField(field, collect(0, 300_000, shuffled).toState(), 300_000);
    expect(unique).toMatchObject({ key: "yes", distinct: { count: 300_000, exact: true } });
    const repeated = reportField(field, collect(0, 300_000, (k) => shuffled(k % 299_999)).toState(), 300_000);
    expect(repeated.key).toBe("no");
    expect(repeated.distinct.exact).toBe(false);
    expect(reportField(field, collect(0, 300_000, shuffled).toState(), 300_001)).toMatchObject({ key: "no", nulls: 1 });
  });

  it("a repetition across two merged parts is found", () => {
    const merged = collect(0, 100_000, shuffled);
    merged.merge(collect(99_999, 200_000, shuffled).toState());
    expect(reportField(field, merged.toState(), 200_001).key).toBe("no");
  });

  it("calls a key of more values than are compared probable", () => {
    const report = reportField(field, collect(0, million, shuffled).toState(), million);
    // Ten fields share 2^23 digests.
    expect(report.key).toBe("probable");
    expect(Math.abs(report.distinct.count / million - 1)).toBeLessThan(3 * distinctStandardError);
  });

  it("finds frequent values among many, with bounds that hold", () => {
    // −1 and −2 are 10 % and 5 % of the numbers; the others occur once.
    const value = (k: number) => (k % 10 === 0 ? -1 : k % 20 === 5 ? -2 : k);
    const { frequent } = reportField(field, collect(0, 200_000, value).toState(), 200_000);
    expect(frequent.exact).toBe(false);
    expect(frequent.values.map((one) => one.value)).toEqual([-1, -2]);
    for (const [found, count] of [
      [frequent.values[0]!, 20_000],
      [frequent.values[1]!, 10_000],
    ] as const) {
      expect(found.count).toBeLessThanOrEqual(count);
      expect(found.count + frequent.countError).toBeGreaterThanOrEqual(count);
    }
  });

  it("takes bounded memory for long texts that are all different", () => {
    const limits = limitsFor(100);
    const statistics = new FieldStatistics(limits);
    for (let batch = 0; batch < 50; batch++) {
      const builder = new BytesBuilder("text");
      for (let k = 0; k < 1000; k++) builder.push(`${batch * 1000 + k} ${"x".repeat(2000)}`);
      statistics.add(builder.finish(), 1000);
    }
    // 100 MB of text. Sketches take 16 KiB and some thousand numbers, digests 16 bytes or less for each slot.
    expect(sizeOf(statistics.toState())).toBeLessThan(limits.keyBytes + 4 * 16 * limits.digests);
  });
});
