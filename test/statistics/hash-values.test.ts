import { describe, expect, test } from "vitest";
import { addWord, endHash, hashBytes, hashed, hashValues, startHash } from "../../src/statistics/hash.js";
import { DigestSample } from "../../src/statistics/sketches/digest-sample.js";
import { QuantileSketch, quantileRankError } from "../../src/statistics/sketches/quantile-sketch.js";

describe("hashes of a column", () => {
  test("are those of its texts", () => {
    const texts = ["", "a", "abc", "abcd", "Zürich", "a longer text of many words"].map((text) => Buffer.from(text));
    const ends = new Uint32Array(texts.length + 1);
    texts.forEach((text, n) => {
      ends[n + 1] = ends[n]! + text.length;
    });
    const hashes = new Int32Array(2 * texts.length);
    hashValues(Buffer.concat(texts), ends, texts.length, null, hashes);
    texts.forEach((text, n) => {
      hashBytes(text, 0, text.length);
      expect([...hashes.subarray(2 * n, 2 * n + 2)]).toEqual([hashed.low, hashed.high]);
    });
  });

  test("are those of its numbers", () => {
    const numbers = Float64Array.of(0, 1.5, -2e300, Number.NaN);
    const words = new Int32Array(numbers.buffer);
    const hashes = new Int32Array(2 * numbers.length);
    hashValues(new Uint8Array(numbers.buffer), Uint32Array.of(0, 8, 16, 24, 32), numbers.length, 1, hashes);
    for (let n = 0; n < numbers.length; n++) {
      startHash(1);
      addWord(words[2 * n]!);
      addWord(words[2 * n + 1]!);
      endHash();
      expect([...hashes.subarray(2 * n, 2 * n + 2)]).toEqual([hashed.low, hashed.high]);
    }
  });
});

describe("a sample of digests", () => {
  /** Any two words; the multiplier is odd, so that all are different. */
  const digest = (n: number): [number, number] => [Math.imul(n + 1, 0x9e3779b1), Math.imul(n + 1, 0x85ebca6b)];

  test("finds a repetition between parts that did not look for any", () => {
    const [whole, part] = [new DigestSample(1 << 20, false), new DigestSample(1 << 20, false)];
    for (let n = 0; n < 20_000; n++) whole.add(...digest(n));
    for (let n = 20_000; n < 40_000; n++) part.add(...digest(n));
    expect(part.toState()).toMatchObject({ used: 0, repeated: 0 });
    whole.merge(part.toState());
    expect(whole.state).toMatchObject({ used: 40_000, repeated: 0, level: 0 });
    part.add(...digest(7));
    whole.merge({ ...part.toState(), pending: part.toState().pending.slice(-2) });
    expect(whole.hasFoundRepeated).toBe(true);
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
