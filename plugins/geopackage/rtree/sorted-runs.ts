import type { ScratchFile } from "../../shared/scratch-file.js";
import type { RtreeEntries } from "./entries.js";
import { entryIndexOf, hilbertPositionOf } from "./hilbert.js";

/** An entry on disk: key, id, box. */
const entryWords = 8;
const entryBytes = 4 * entryWords;
/** An entry after it was assigned to a node: index in its run, node, id. */
const placedEntryWords = 4;
const placedEntryBytes = 4 * placedEntryWords;

/** Read buffer of all runs together, and limits for the buffer of one run. */
const mergeBytes = 1 << 23;
const [minReadEntries, maxReadEntries] = [256, 32_768];

interface SortedRun {
  readonly start: number;
  readonly length: number;
}

/** Adds the next entry in curve order to the tree. @returns its node */
export type AddToNode = (high: number, low: number, boxes: Float32Array, at: number) => number;

/** Reads one run, and overwrites its entries with the nodes they were assigned to. */
class RunCursor {
  /** Curve position of the current entry. */
  place = 0;
  private readonly words: Uint32Array;
  private readonly floats: Float32Array;
  private readonly bytes: Uint8Array;
  /** Entries of the run before the buffer, entries in the buffer, and index of the current one in the buffer. */
  private before = 0;
  private count = 0;
  private at = 0;

  constructor(
    private readonly file: ScratchFile,
    private readonly run: SortedRun,
    /** Tie-break for entries at the same position. */
    readonly order: number,
    maxEntries: number,
  ) {
    this.words = new Uint32Array(entryWords * Math.min(maxEntries, run.length));
    this.floats = new Float32Array(this.words.buffer);
    this.bytes = new Uint8Array(this.words.buffer);
    this.load();
  }

  private load(): boolean {
    this.before += this.count;
    this.count = Math.min(this.words.length / entryWords, this.run.length - this.before);
    this.at = 0;
    if (this.count === 0) return false;
    const { start } = this.run;
    this.file.read(this.bytes.subarray(0, entryBytes * this.count), start + entryBytes * this.before);
    this.place = hilbertPositionOf(this.words, 0);
    return true;
  }

  /** Passes the current entry to `put` and moves to the next. @returns whether there is one */
  take(put: AddToNode): boolean {
    const { words, at } = this;
    const from = entryWords * at;
    const node = put(words[from + 2]!, words[from + 3]!, this.floats, from + 4);
    // Assigned entries are shorter, so they overwrite entries that were already read.
    const to = placedEntryWords * at;
    words[to] = entryIndexOf(words, from / 2);
    words[to + 1] = node;
    words[to + 2] = words[from + 2]!;
    words[to + 3] = words[from + 3]!;
    this.at++;
    if (this.at === this.count) return this.flushBlock();
    this.place = hilbertPositionOf(words, (from + entryWords) / 2);
    return true;
  }

  private flushBlock(): boolean {
    this.file.write(
      this.bytes.subarray(0, placedEntryBytes * this.count),
      this.run.start + placedEntryBytes * this.before,
    );
    return this.load();
  }
}

const isBefore = (a: RunCursor, b: RunCursor): boolean =>
  a.place < b.place || (a.place === b.place && a.order < b.order);

function siftDown(heap: RunCursor[]): void {
  const sinking = heap[0]!;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, sinking)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = sinking;
}

/**
 * External merge sort of R-tree entries: writes sorted runs to disk, merges them in curve order, then restores id order.
 * Memory is constant up to thousands of runs.
 */
export class SortedRuns {
  private readonly runs: SortedRun[] = [];

  constructor(private readonly file: ScratchFile) {}

  /** Writes a run. `keys` must be sorted. */
  add(entries: RtreeEntries, keys: Uint32Array): void {
    const { file } = this;
    const start = file.size;
    const words = new Uint32Array(entryWords * Math.min(maxReadEntries, entries.length));
    const floats = new Float32Array(words.buffer);
    const bytes = new Uint8Array(words.buffer);
    let filled = 0;
    const flush = () => {
      file.write(bytes.subarray(0, 4 * filled), file.size);
      filled = 0;
    };
    for (let n = 0; n < entries.length; n++) {
      const entry = entryIndexOf(keys, n);
      words[filled] = keys[2 * n]!;
      words[filled + 1] = keys[2 * n + 1]!;
      words[filled + 2] = entries.high[entry]!;
      words[filled + 3] = entries.low[entry]!;
      for (let side = 0; side < 4; side++) floats[filled + 4 + side] = entries.boxes[4 * entry + side]!;
      filled += entryWords;
      if (filled === words.length) flush();
    }
    if (filled > 0) flush();
    this.runs.push({ start, length: entries.length });
  }

  /** Passes all entries to `put` in curve order. Call once. */
  merge(put: AddToNode): void {
    const room = Math.floor(mergeBytes / entryBytes / this.runs.length);
    const each = Math.max(minReadEntries, Math.min(maxReadEntries, room));
    const heap = this.runs.map((run, order) => new RunCursor(this.file, run, order, each));
    // A sorted array is a valid heap.
    heap.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    while (heap.length > 0) {
      if (heap[0]!.take(put)) siftDown(heap);
      else {
        const last = heap.pop()!;
        if (heap.length === 0) break;
        heap[0] = last;
        siftDown(heap);
      }
    }
  }

  /** After `merge`: visits all ids in input order, with their nodes. */
  eachPlaced(visit: (high: number, low: number, node: number) => void): void {
    const most = this.runs.reduce((longest, { length }) => Math.max(longest, length), 0);
    const high = new Int32Array(most);
    const low = new Uint32Array(most);
    const nodes = new Uint32Array(most);
    const words = new Uint32Array(placedEntryWords * Math.min(maxReadEntries, most));
    for (const { start, length } of this.runs) {
      for (let done = 0; done < length; ) {
        const count = Math.min(words.length / placedEntryWords, length - done);
        this.file.read(new Uint8Array(words.buffer, 0, placedEntryBytes * count), start + placedEntryBytes * done);
        for (let at = 0; at < placedEntryWords * count; at += placedEntryWords) {
          const entry = words[at]!;
          nodes[entry] = words[at + 1]!;
          high[entry] = words[at + 2]!;
          low[entry] = words[at + 3]!;
        }
        done += count;
      }
      for (let entry = 0; entry < length; entry++) visit(high[entry]!, low[entry]!, nodes[entry]!);
    }
  }
}
