/**
 * Sketches for quantiles: Z. Karnin, K. Lang, E. Liberty, "Optimal Quantile Approximation in Streams", FOCS 2016. A level h
 * holds values that stand for 2^h values each. A full level is sorted, and every other value, from a random one of the
 * first two, moves up. The random numbers come from the sketch, so that a result can be repeated.
 */
import { allocate, enlarge } from "./memory.js";
import { isFiniteNumber } from "./numbers.js";
import { sortNumbers } from "./sort.js";

/** Capacity of the highest level, and the least of any other. */
const topCapacity: u32 = 1024;
const minCapacity: u32 = 8;
/** Capacity of the lowest level: it is sorted less often, with many values at once. */
const inputCapacity: u32 = 512;
/** Each level below the highest has two thirds of the capacity of the one above; below so many, the least. */
const largeLevels: u32 = 12;
const firstRandom: u32 = 0x2545f491;
const minRoom: u32 = 16;
/** More than 2^40 values are not counted. */
const maxLevels: usize = 40;

/** Values of one weight. */
@unmanaged
class Level {
  values: usize;
  room: u32;
  length: u32;
  isSorted: bool;
}

@unmanaged
class Sketch {
  count: u32;
  random: u32;
  /** Values in all levels, and how many they may be. */
  held: u32;
  room: u32;
}

/** @returns a sketch, as which the other functions take it */
export function createSketch(): usize {
  const size = offsetof<Sketch>() + maxLevels * offsetof<Level>();
  const at = allocate(size);
  memory.fill(at, 0, size);
  sketchAt(at).random = firstRandom;
  return at;
}

function sketchAt(at: usize): Sketch {
  return changetype<Sketch>(at);
}

export function levelsOf(sketch: usize): u32 {
  return sketchAt(sketch).count;
}

function levelAt(sketch: Sketch, level: u32): Level {
  return changetype<Level>(changetype<usize>(sketch) + offsetof<Sketch>() + <usize>level * offsetof<Level>());
}

export function valuesOfLevel(sketch: usize, level: u32): usize {
  return levelAt(sketchAt(sketch), level).values;
}
export function lengthOfLevel(sketch: usize, level: u32): u32 {
  return levelAt(sketchAt(sketch), level).length;
}

function capacityOf(sketch: Sketch, level: u32): u32 {
  const below = sketch.count - 1 - level;
  let capacity = minCapacity;
  if (below < largeLevels) {
    let powerOfThree: u32 = 1;
    for (let n: u32 = 0; n < below; n++) powerOfThree *= 3;
    capacity = max<u32>(capacity, ((topCapacity << below) + powerOfThree - 1) / powerOfThree);
  }
  return level === 0 ? max<u32>(inputCapacity, capacity) : capacity;
}

function addLevel(sketch: Sketch): void {
  const level = levelAt(sketch, sketch.count++);
  level.values = allocate(8 * minRoom);
  level.room = minRoom;
  level.length = 0;
  level.isSorted = true;
  sketch.room = 0;
  for (let n: u32 = 0; n < sketch.count; n++) sketch.room += capacityOf(sketch, n);
}

function reserve(level: Level, more: u32): void {
  const wanted = level.length + more;
  if (wanted <= level.room) return;
  level.room = max<u32>(wanted, 2 * level.room);
  level.values = enlarge(level.values, 8 * <usize>level.length, 8 * <usize>level.room);
}

function push(sketch: Sketch, index: u32, value: f64): void {
  while (sketch.count <= index) addLevel(sketch);
  const level = levelAt(sketch, index);
  if (level.length === level.room) reserve(level, 1);
  store<f64>(level.values + 8 * <usize>level.length, value);
  level.length++;
  level.isSorted = false;
  sketch.held++;
}

export function compactSketch(sketch: usize): void {
  compact(sketchAt(sketch));
}

function compact(sketch: Sketch): void {
  while (sketch.held > sketch.room) compactLevel(sketch);
}

/** Adds a finite value that occurs so many times. */
export function addToSketch(at: usize, value: f64, times: f64): void {
  const sketch = sketchAt(at);
  let left = <u64>times;
  for (let level: u32 = 0; left > 0; left >>= 1, level++) if ((left & 1) === 1) push(sketch, level, value);
  compact(sketch);
}

/** Adds the finite ones of the numbers `first … count` that are present. */
export function addNumbersToSketch(at: usize, numbers: usize, presence: usize, first: u32, count: u32): void {
  const sketch = sketchAt(at);
  for (let row = first; row < count; row++) {
    const value = load<f64>(numbers + 8 * <usize>row);
    if (load<u8>(presence + row) !== 1 || !isFiniteNumber(value)) continue;
    push(sketch, 0, value);
    compact(sketch);
  }
}

/** Adds values to a level; `compactSketch` must follow. */
export function addToLevel(at: usize, level: u32, values: usize, count: u32): void {
  const sketch = sketchAt(at);
  for (let n: u32 = 0; n < count; n++) push(sketch, level, load<f64>(values + 8 * <usize>n));
}

/** Compacts the lowest level above its capacity. */
function compactLevel(sketch: Sketch): void {
  let index: u32 = 0;
  while (levelAt(sketch, index).length <= capacityOf(sketch, index)) index++;
  const level = levelAt(sketch, index);
  const length = level.length;
  if (!level.isSorted) sortNumbers(level.values, length);
  // With an odd number, one value stays: the least.
  const kept = length & 1;
  level.length = kept;
  level.isSorted = true;
  sketch.held -= length - kept;
  moveUp(sketch, index + 1, level.values, kept + nextBit(sketch), length);
}

function nextBit(sketch: Sketch): u32 {
  let word = sketch.random;
  word ^= word << 13;
  word ^= word >>> 17;
  word ^= word << 5;
  sketch.random = word;
  return word & 1;
}

/** Moves every other one of the sorted values `first … length` to a level. */
function moveUp(sketch: Sketch, index: u32, sorted: usize, first: u32, length: u32): void {
  if (index === sketch.count) addLevel(sketch);
  const level = levelAt(sketch, index);
  const count = (length - first + 1) >> 1;
  reserve(level, count);
  const values = level.values;
  let own = values + 8 * <usize>level.length;
  level.length += count;
  sketch.held += count;
  let to = values + 8 * <usize>level.length;
  let from = sorted + 8 * <usize>(first + 2 * count);
  // Sorted values are merged from behind, others appended.
  for (let left = count; left > 0; ) {
    to -= 8;
    const value = load<f64>(from - 16);
    if (level.isSorted && own > values && load<f64>(own - 8) > value) {
      own -= 8;
      store<f64>(to, load<f64>(own));
    } else {
      store<f64>(to, value);
      from -= 16;
      left--;
    }
  }
}
