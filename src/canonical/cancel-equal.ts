/** Finds the features that both sides have, by their digests, in bounded memory and without a database. */
import { type DigestList, digestBytes } from "./digest-file.js";

/** A set of rows, one bit each. */
export class RowSet {
  private readonly bits: Uint32Array;
  size = 0;

  constructor(rows: number) {
    this.bits = new Uint32Array(Math.ceil(rows / 32));
  }

  add(row: number): void {
    this.bits[row >>> 5]! |= 1 << (row & 31);
    this.size++;
  }

  has(row: number): boolean {
    return ((this.bits[row >>> 5]! >>> (row & 31)) & 1) === 1;
  }
}

/** Rows of a part that is joined in memory: 40 bytes each. */
const defaultPartRows = 2 ** 21;
const wordsPerDigest = digestBytes / 4;

interface Part {
  readonly rows: Uint32Array;
  readonly words: Uint32Array;
}

/** The rows whose digests belong to a part of all digests. */
function loadPart(layer: DigestList, part: number, parts: number): Part {
  let capacity = parts === 1 ? layer.rows : Math.ceil((layer.rows / parts) * 1.1) + 1024;
  let rows = new Uint32Array(capacity);
  let words = new Uint32Array(capacity * wordsPerDigest);
  let count = 0;
  for (const { firstRow, digests } of layer.digestBlocks()) {
    const block = new Uint32Array(digests.buffer, digests.byteOffset, digests.length / 4);
    for (let at = 0, row = firstRow; at < block.length; at += wordsPerDigest, row++) {
      if (parts > 1 && block[at]! % parts !== part) continue;
      if (count === capacity) {
        // Many equal digests are in one part.
        capacity *= 2;
        rows = growWords(rows, capacity);
        words = growWords(words, capacity * wordsPerDigest);
      }
      rows[count] = row;
      const into = count * wordsPerDigest;
      for (let word = 0; word < wordsPerDigest; word++) words[into + word] = block[at + word]!;
      count++;
    }
  }
  return { rows: rows.subarray(0, count), words: words.subarray(0, count * wordsPerDigest) };
}

function growWords(words: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(length);
  grown.set(words);
  return grown;
}

/** The features of each side that the other side lacks. A feature that occurs more often on one side remains there. */
export interface Remainders {
  readonly old: RowSet;
  readonly new: RowSet;
  /** Number of features on both sides. */
  readonly equal: number;
}

export function cancelEqual(old: DigestList, recent: DigestList, partRows = defaultPartRows): Remainders {
  const remainders = { old: new RowSet(old.rows), new: new RowSet(recent.rows) };
  const parts = Math.max(1, Math.ceil(Math.max(old.rows, recent.rows) / partRows));
  let equal = 0;
  for (let part = 0; part < parts; part++)
    equal += cancelPart(loadPart(old, part, parts), loadPart(recent, part, parts), remainders);
  return { ...remainders, equal };
}

/** Joins by a hash table of chains. Of equal features, the first of both sides are paired. */
function cancelPart(old: Part, recent: Part, remainders: { readonly old: RowSet; readonly new: RowSet }): number {
  const mask = 2 ** Math.max(4, Math.ceil(Math.log2(old.rows.length + 1))) - 1;
  const heads = new Int32Array(mask + 1).fill(-1);
  const next = new Int32Array(old.rows.length);
  // The second word, since the first one selects the part.
  for (let i = old.rows.length - 1; i >= 0; i--) {
    const bucket = old.words[i * wordsPerDigest + 1]! & mask;
    next[i] = heads[bucket]!;
    heads[bucket] = i;
  }
  let equal = 0;
  for (let i = 0; i < recent.rows.length; i++) {
    const at = i * wordsPerDigest;
    const bucket = recent.words[at + 1]! & mask;
    let previous = -1;
    let found = heads[bucket]!;
    while (found >= 0 && !isSameDigest(old.words, found * wordsPerDigest, recent.words, at)) {
      previous = found;
      found = next[found]!;
    }
    if (found < 0) {
      remainders.new.add(recent.rows[i]!);
      continue;
    }
    equal++;
    if (previous < 0) heads[bucket] = next[found]!;
    else next[previous] = next[found]!;
  }
  for (const head of heads) for (let i = head; i >= 0; i = next[i]!) remainders.old.add(old.rows[i]!);
  return equal;
}

function isSameDigest(one: Uint32Array, i: number, other: Uint32Array, k: number): boolean {
  return (
    one[i] === other[k] && one[i + 1] === other[k + 1] && one[i + 2] === other[k + 2] && one[i + 3] === other[k + 3]
  );
}
