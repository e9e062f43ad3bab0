/** The kernel that counts values beside its twins in TypeScript. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { GeometryBuilder } from "../../src/model/geometry-builder.js";
import type { CountTableState } from "../../src/statistics/field-state.js";
import { GeometryStatistics } from "../../src/statistics/geometry-statistics.js";
import { hashed } from "../../src/statistics/hash.js";
import { type CountTable, ValueCounter } from "../../src/statistics/value-counter.js";
import { Tag, valueOfBytes } from "../../src/statistics/value-reader.js";
import { type Counted, CountTableTwin } from "./twins/count-table.js";
import { hashValue } from "./twins/hash-value.js";
import { HyperLogLog } from "./twins/hyper-log-log.js";
import { QuantileSketch } from "./twins/quantile-sketch.js";

interface Value {
  readonly tag: number;
  readonly bytes: Uint8Array;
  readonly isPresent: boolean;
}

const word = fc.oneof(fc.constantFrom(0, 1, -1, Number.NaN, 1e300), fc.integer({ min: 0, max: 40 }), fc.double());
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom("", "a", "a\0", "abcdefgh", "abcdefghi", "x".repeat(300), `${"x".repeat(300)}y`, "z".repeat(1100)),
);
const value: fc.Arbitrary<Value> = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom(Tag.boolean, Tag.number, Tag.integer), word).map(([tag, number]) => ({
        tag: tag as number,
        bytes: new Uint8Array(Float64Array.of(number).buffer),
      })),
      fc.tuple(fc.constantFrom(Tag.text, Tag.binary, Tag.json), text).map(([tag, chars]) => ({
        tag: tag as number,
        bytes: new Uint8Array(Buffer.from(chars)),
      })),
    ),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([one, chance]) => ({ ...one, isPresent: chance > 0 }));
const batches = fc.array(fc.array(value, { maxLength: 120 }), { maxLength: 8 });

function write(counter: ValueCounter, values: readonly Value[], counts?: Float64Array): void {
  const size = values.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const rows = counter.reserveTexts(Tag.text, values.length, size);
  rows.ends[0] = 0;
  values.forEach(({ tag, bytes, isPresent }, n) => {
    rows.tags[n] = tag;
    rows.presence[n] = isPresent ? 1 : 2;
    rows.bytes.set(bytes, rows.ends[n]!);
    rows.ends[n + 1] = rows.ends[n]! + bytes.length;
  });
  if (counts) rows.counts.set(counts);
  counter.hash(values.length);
}

function toCounted({ tag, bytes }: Value): Counted {
  hashValue(tag, bytes);
  return { tag, bytes, low: hashed.low, high: hashed.high, count: 1 };
}

/** The entries of a state. */
const entriesOf = ({ size, tags, hashes, counts, ends, bytes }: CountTableState): Counted[] =>
  Array.from({ length: size }, (_, k) => ({
    tag: tags[k]!,
    bytes: bytes.slice(k === 0 ? 0 : ends[k - 1]!, ends[k]),
    low: hashes[2 * k]!,
    high: hashes[2 * k + 1]!,
    count: counts[k]!,
  }));

const limits = fc.record({
  distinct: fc.constantFrom(3, 30, 5000),
  keyBytes: fc.constantFrom(60, 2 ** 20),
  digests: fc.constant(1),
});

test("a table has the entries, counts, error and registers of its twin, also when it is full", () => {
  fc.assert(
    fc.property(batches, limits, (given, { distinct, keyBytes, digests }) => {
      const counter = new ValueCounter();
      const table: CountTable = counter.createTable({ distinct, keyBytes, digests });
      const [twin, sketch] = [new CountTableTwin(distinct, keyBytes), new HyperLogLog()];
      let isSketched = false;
      for (const values of given) {
        write(counter, values);
        let first = 0;
        if (!isSketched) {
          first = table.count(values.length);
          if (table.isFull) {
            isSketched = true;
            table.startSketch();
            table.purge();
          }
        }
        if (isSketched) table.sketch(first, values.length);
        for (const one of values.filter(({ isPresent }) => isPresent).map(toCounted)) {
          sketch.add(one.low, one.high);
          if (twin.error > 0 && one.bytes.length > 1024) continue;
          twin.add(one);
          if (twin.isFull) twin.purge();
        }
      }
      const { state } = table;
      expect(entriesOf(state)).toEqual(twin.entries);
      expect([state.error, isSketched]).toEqual([twin.error, twin.error > 0]);
      if (isSketched) expect(table.registers).toEqual(sketch.registers);
      counter.release();
    }),
    { numRuns: 80 },
  );
});

test("counts of many values, their median and merged registers are those of the twins", () => {
  const [counter, sketch] = [new ValueCounter(), new HyperLogLog()];
  const table = counter.createTable({ distinct: 1000, keyBytes: 2 ** 20, digests: 1 });
  const twin = new CountTableTwin(1000, 2 ** 20);
  const values = Array.from({ length: 1500 }, (_, k) => ({
    tag: Tag.text,
    bytes: Buffer.from(`v${k}`),
    isPresent: true,
  }));
  const counts = Float64Array.from(values, (_, k) => 1 + ((k * 7919) % 97));
  write(counter, values, counts);
  const first = table.count(values.length);
  table.startSketch();
  table.purge();
  table.sketch(first, values.length);
  values.map(toCounted).forEach((one, k) => {
    sketch.add(one.low, one.high);
    twin.add({ ...one, count: counts[k]! });
    if (twin.isFull) twin.purge();
  });
  const { state } = table;
  expect(entriesOf(state).map(({ count }) => count)).toEqual(twin.entries.map(({ count }) => count));
  expect(state.error).toBe(twin.error);
  const other = new HyperLogLog();
  for (let k = 0; k < 100_000; k++) other.add(Math.imul(k, 0x9e3779b1), Math.imul(k, 0x85ebca6b));
  table.mergeRegisters(other.registers);
  sketch.merge(other.registers);
  expect(table.registers).toEqual(sketch.registers);
});

test("the first, last and longest texts are those of a comparison of their first 256 bytes", () => {
  const start = ({ bytes }: Value) => bytes.subarray(0, 256);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), (given) => {
      const counter = new ValueCounter();
      const values = given.map((one) => ({ ...one, tag: Tag.text }));
      const table = counter.createTable({ distinct: 10_000, keyBytes: 2 ** 20, digests: 1 });
      write(counter, values);
      table.count(values.length);
      const present = values.flatMap(({ isPresent }, row) => (isPresent ? [row] : []));
      const pick = (isBetter: (row: number, than: number) => boolean) =>
        present.reduce((best, row) => (isBetter(row, best) ? row : best), present[0]!);
      const order = (a: number, b: number) => Buffer.compare(start(values[a]!), start(values[b]!));
      const expected = [
        pick((a, b) => order(a, b) < 0),
        pick((a, b) => order(a, b) > 0),
        pick((a, b) => values[a]!.bytes.length > values[b]!.bytes.length),
      ];
      expect(counter.extremeTexts(values.length)).toEqual(present.length === 0 ? [] : expected);
      counter.release();
    }),
    { numRuns: 300 },
  );
});

test("points alone have the digests of points among other geometries", () => {
  const coordinates = [
    [1, 2],
    [-0, 0],
    [0, -0],
    [1e300, -180.5],
    [1, 2],
  ] as const;
  const collect = (isMixed: boolean) => {
    const builder = new GeometryBuilder();
    for (const [x, y] of coordinates) builder.addPoint(x, y);
    if (isMixed) builder.addNull();
    const statistics = new GeometryStatistics(null, new ValueCounter());
    statistics.add(builder.finish());
    return statistics;
  };
  const [alone, mixed] = [collect(false), collect(true)];
  expect(alone.report()).toEqual(mixed.report());
  expect(alone.report()).toMatchObject({ vertices: 5, parts: 5, duplicates: { count: 2, exact: true } });
  alone.merge(mixed.toState());
  expect(alone.report().duplicates.count).toBe(7);
});

const number = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e308, 5e-324),
  fc.integer({ min: -40, max: 40 }),
  fc.double(),
);

test("sums, least and greatest numbers are those of JavaScript", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(number, fc.constantFrom(0, 1, 1, 1, 2)), { maxLength: 60 }),
      number,
      (rows, before) => {
        const counter = new ValueCounter();
        const { numbers, presence } = counter.reserveNumbers(Tag.number, rows.length);
        numbers.set(rows.map(([value]) => value));
        presence.set(rows.map(([, present]) => present));
        const present = rows.flatMap(([value, isPresent]) => (isPresent === 1 ? [value] : []));
        const finite = present.filter(Number.isFinite);
        let [sum, lost] = [before, 0];
        for (const value of finite) {
          const next = sum + value;
          lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
          sum = next;
        }
        expect(counter.countPresent(rows.length)).toBe(present.length);
        expect(counter.addNumbers(rows.length, before, 0)).toEqual({
          sum,
          lost,
          least: Math.min(...finite) + 0,
          greatest: Math.max(...finite) + 0,
          finite: finite.length,
          notFinite: present.length - finite.length,
        });
        // −0 has become 0.
        expect([...counter.rows.numbers.subarray(0, rows.length)]).toEqual(rows.map(([value]) => value + 0));
        counter.release();
      },
    ),
    { numRuns: 300 },
  );
});

test("sketches of quantiles hold the numbers of their twins, also after merging", () => {
  const part = fc.record({
    seed: fc.nat(1_000_000),
    count: fc.constantFrom(0, 1, 7, 600, 5000, 40_000),
    times: fc.constantFrom(1, 1, 2, 5, 1000),
    values: fc.constantFrom(3, 1000, 2 ** 30),
  });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const counter = new ValueCounter();
      const create = () => {
        const table = counter.createTable({ distinct: 10, keyBytes: 100, digests: 1 });
        table.startQuantiles();
        return table;
      };
      const [whole, wholeTwin] = [create(), new QuantileSketch()];
      for (const { seed, count, times, values } of parts) {
        const [table, twin] = [create(), new QuantileSketch()];
        const given = Float64Array.from({ length: count }, (_, k) => (Math.imul(k + seed, 0x9e3779b1) >>> 2) % values);
        const presence = Uint8Array.from(given, (_, k) => (k % 11 === 3 ? 2 : 1));
        if (count > 5) given[5] = Number.NaN;
        const rows = counter.reserveNumbers(Tag.number, count);
        rows.numbers.set(given);
        rows.presence.set(presence);
        const first = count >> 3;
        table.addQuantiles(first, count);
        twin.addAll(given, presence, first, count);
        const singles = Math.min(first, 50);
        counter.rows.counts.fill(times, 0, singles);
        table.addQuantileRows(0, singles);
        for (let k = 0; k < singles; k++)
          if (presence[k] === 1 && Number.isFinite(given[k])) twin.add(given[k]!, times);
        // The order within a level is free until the level is compacted.
        const sorted = (levels: readonly Float64Array[]) => levels.map((level) => level.slice().sort());
        expect(sorted(table.quantiles.levels)).toEqual(sorted(twin.toState().levels));
        whole.mergeQuantiles(twin.toState());
        wholeTwin.merge(twin.toState());
        expect(sorted(whole.quantiles.levels)).toEqual(sorted(wholeTwin.toState().levels));
      }
      counter.release();
    }),
    { numRuns: 40 },
  );
});

test("sketches of quantiles take the numbers among the values of a table and of rows", () => {
  fc.assert(
    fc.property(batches, (all) => {
      const counter = new ValueCounter();
      const table = counter.createTable({ distinct: 1e5, keyBytes: 1e7, digests: 1 });
      const twin = new QuantileSketch();
      const [last = [], ...before] = all;
      const counted = new CountTableTwin(1e5, 1e7);
      for (const values of before) {
        write(counter, values);
        table.count(values.length);
        for (const value of values) if (value.isPresent) counted.add(toCounted(value));
      }
      expect(table.hasRepeated).toBe(counted.entries.some(({ count }) => count > 1));
      expect([...table.hashes]).toEqual(counted.entries.flatMap(({ low, high }) => [low, high]));
      table.startQuantiles();
      const add = ({ tag, bytes, count }: Counted) => {
        const number = numberOf(tag, bytes);
        if (Number.isFinite(number)) twin.add(number, count);
      };
      counted.entries.forEach(add);
      write(counter, last);
      table.addQuantileRows(0, last.length);
      for (const value of last) if (value.isPresent) add(toCounted(value));
      expect(table.quantiles.levels).toEqual(twin.toState().levels);
      counter.release();
    }),
    { numRuns: 200 },
  );
});

const numberOf = (tag: number, bytes: Uint8Array): number =>
  tag === Tag.number || tag === Tag.integer ? Number(valueOfBytes(tag, bytes, 0, 8)) : Number.NaN;
