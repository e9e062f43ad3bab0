import type { Batch } from "../../model/batch.js";
import type { SpooledLayer } from "../spool/spooled-side.js";
import { createRowKeyReader, keyColumn, type MatchKey } from "./row-key.js";

export interface KeyStats {
  /** Features without a key. */
  readonly missing: number;
  /** Features whose key an earlier feature has. */
  readonly duplicates: number;
  /** A key that several features have. */
  readonly example: string | null;
}

/** Hashes that are sorted in memory at a time: 8 bytes each. */
const defaultPartRows = 2 ** 22;

/** Counts missing and duplicate keys of a layer, in bounded memory. */
export function countKeys(layer: SpooledLayer, key: MatchKey, partRows = defaultPartRows): KeyStats {
  const parts = Math.max(1, Math.ceil(layer.rows / partRows));
  let missing = 0;
  let duplicates = 0;
  let example: string | null = null;
  for (let part = 0; part < parts; part++) {
    const hashes = new HashList(Math.min(layer.rows, Math.ceil(partRows * 1.1)));
    missing = 0;
    for (let at = 0; at < layer.batches.length; at++) missing += addHashes(layer.batchAt(at), key, hashes, part, parts);
    const repeated = hashes.countRepeated();
    duplicates += repeated.count;
    if (repeated.count > 0) example ??= findKey(layer, key, repeated.first!);
  }
  return { missing, duplicates, example };
}

/** @returns the number of rows without a key */
function addHashes(batch: Batch, key: MatchKey, hashes: HashList, part: number, parts: number): number {
  const read = createRowKeyReader(batch, key);
  let missing = 0;
  for (let row = 0; row < batch.length; row++) {
    const text = read(row);
    if (text === null) missing++;
    else hashes.add(text, part, parts);
  }
  return missing;
}

function findKey(layer: SpooledLayer, key: MatchKey, wanted: bigint): string | null {
  const one = new HashList(1);
  for (let at = 0; at < layer.batches.length; at++) {
    const batch = layer.batchAt(at);
    const read = createRowKeyReader(batch, key);
    for (let row = 0; row < batch.length; row++) {
      const text = read(row);
      if (text !== null && one.hash(text) === wanted) return text;
    }
  }
  return null;
}

/** Whether a quick look at the first features rules out the key. */
export function hasEarlyDuplicates(layer: SpooledLayer, key: MatchKey): boolean {
  if (layer.batches.length === 0) return false;
  const batch = layer.batchAt(0);
  if (keyColumn(batch, key) === null) return true;
  const read = createRowKeyReader(batch, key);
  const seen = new Set<string>();
  for (let row = 0; row < batch.length; row++) {
    const text = read(row);
    if (text === null || seen.has(text)) return true;
    seen.add(text);
  }
  return false;
}

/** 64-bit hashes of texts: two of FNV-1a, with different factors, over UTF-16 code units. */
class HashList {
  private words: Uint32Array<ArrayBuffer>;
  private count = 0;
  private high = 0;
  private low = 0;

  constructor(capacity: number) {
    this.words = new Uint32Array(2 * Math.max(1, capacity));
  }

  private compute(text: string): void {
    let high = 0x811c9dc5;
    let low = 0x9e3779b9;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      high = Math.imul(high ^ unit, 0x01000193);
      low = Math.imul(low ^ unit, 0x85ebca6b);
      low ^= low >>> 13;
    }
    this.high = (high ^ (high >>> 15)) >>> 0;
    this.low = (low ^ (low >>> 16)) >>> 0;
  }

  hash(text: string): bigint {
    this.compute(text);
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  add(text: string, part: number, parts: number): void {
    this.compute(text);
    if (parts > 1 && this.low % parts !== part) return;
    if (2 * this.count === this.words.length) {
      const grown = new Uint32Array(2 * this.words.length);
      grown.set(this.words);
      this.words = grown;
    }
    this.words[2 * this.count] = this.low;
    this.words[2 * this.count + 1] = this.high;
    this.count++;
  }

  /** Little-endian, as on all platforms of Node. */
  countRepeated(): { readonly count: number; readonly first: bigint | null } {
    const sorted = new BigUint64Array(this.words.buffer, 0, this.count).sort();
    let count = 0;
    let first: bigint | null = null;
    for (let i = 1; i < sorted.length; i++) {
      if (sorted[i] !== sorted[i - 1]) continue;
      count++;
      first ??= sorted[i]!;
    }
    return { count, first };
  }
}
