import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DigestSample } from "../../src/statistics/sketches/digest-sample.js";
import { quantileRankError } from "../../src/statistics/sketches/quantiles.js";
import { DigestSampleTwin } from "./twins/digest-sample.js";
import { QuantileSketch } from "./twins/quantile-sketch.js";

describe("a sample of digests", () => {
  /** Any two words; the multiplier is odd, so that all are different. */
  const digest = (n: number): [number, number] => [Math.imul(n + 1, 0x9e3779b1), Math.imul(n + 1, 0x85ebca6b)];

  test("finds a repetition between parts that did not look for any", () => {
    const [whole, part] = [new DigestSample(1 << 20, false), new DigestSample(1 << 20, false)];
    for (let n = 0; n < 20_000; n++) whole.add(...digest(n));
    for (let n = 20_000; n < 40_000; n++) part.add(...digest(n));
    whole.merge(part.toState());
    expect(whole).toMatchObject({ distinct: 40_000, hasRepeated: false, isExact: true });
    part.add(...digest(7));
    const { lists, ...state } = part.toState();
    whole.merge({ ...state, lists: lists.slice(-1) });
    expect(whole.hasRepeated).toBe(true);
  });

  test("halves the sample like one that looks at each digest, whenever digests are compared", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(5000), { maxLength: 3000 }), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(16, 100, 3000),
        (parts, maxDigests) => {
          const whole = new DigestSample(maxDigests, true);
          parts.forEach((numbers, p) => {
            const part = new DigestSample(maxDigests, true);
            for (const n of numbers) (p % 2 === 0 ? part : whole).add(...digest(n));
            if (p % 4 === 0) expect(part.distinct).toBeLessThanOrEqual(maxDigests);
            whole.merge(part.toState());
          });
          const twin = new DigestSampleTwin(maxDigests);
          for (const n of parts.flat()) twin.add(...digest(n));
          expect([whole.distinct, whole.repetitions, whole.isExact]).toEqual([
            twin.counts.size,
            twin.repetitions,
            twin.level === 0,
          ]);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("counts every repetition in any order of parts", () => {
    const parts = Array.from({ length: 3 }, () => new DigestSample(1 << 20, true));
    for (let n = 0; n < 90_000; n++) parts[n % 3]!.add(...digest(n % 60_000));
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
    ]) {
      const whole = new DigestSample(1 << 20, true);
      for (const part of order) whole.merge(parts[part]!.toState());
      expect(whole).toMatchObject({ repetitions: 30_000, isExact: true });
    }
  });
});

test("a sketch of quantiles takes columns as it takes values", () => {
  const values = Float64Array.from({ length: 100_000 }, (_, k) => (k * 7919) % 100_000);
  const presence = new Uint8Array(values.length).fill(1);
  values[5] = Number.POSITIVE_INFINITY;
  presence[6] = 0;
  const [column, single] = [new QuantileSketch(), new QuantileSketch()];
  for (let from = 0; from < values.length; from += 1000) column.addAll(values, presence, from, from + 1000);
  for (const [k, value] of values.entries()) if (k !== 5 && k !== 6) single.add(value);
  expect(column.weighted()).toEqual(single.weighted());
  const weighted = column.weighted().sort(([a], [b]) => a - b);
  let below = 0;
  for (const [value, weight] of weighted) {
    below += weight;
    expect(Math.abs(below / 100_000 - value / 100_000)).toBeLessThan(quantileRankError);
  }
});
