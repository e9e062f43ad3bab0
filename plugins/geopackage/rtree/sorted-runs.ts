import type { ScratchFile } from "../sqlite/scratch-file.js";
import type { RtreeEntries } from "./entries.js";
import { entryIndexOf, hilbertPositionOf } from "./hilbert.js";

/** An entry on disk: its key, its id, its box. */
const entryWords = 8;
const entryBytes = 4 * entryWords;
/** What is left of it when it has got its node: its number in its run, the node, its id. */
const placedEntryWords = 4;
const placedEntryBytes = 4 * placedEntryWords;

/** Bytes that are read of all runs together, and entries of one that are read at once. */
const mergeBytes = 1 << 23;
const [minReadEntries, maxReadEntries] = [256, 32_768];

/** A run of sorted entries on disk. */
interface SortedRun {
  readonly start: number;
  readonly length: number;
}

/** Takes an entry in the order of the curve. @returns the node that it is in */
export type AddToNode = (high: number, low: number, boxes: Float32Array, at: number) => number;

/** Goes through one run, and leaves behind where its entries went. */
class RunCursor {
  /** Of the entry available. */
  place = 0;
  private readonly words: Uint32Array;
  private readonly floats: Float32Array;
  private readonly bytes: Uint8Array;
  /** Entries of the run before those in memory, how many these are, and which of them is available. */
  private before = 0;
  private count = 0;
  private at = 0;

  constructor(
    private readonly file: ScratchFile,
    private readonly run: SortedRun,
    /** Runs come in their order where entries are in one place. */
    readonly order: number,
    room: number,
  ) {
    this.words = new Uint32Array(entryWords * Math.min(room, run.length));
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

  /** Gives the entry available away and goes on to the next. @returns whether there is one */
  take(put: AddToNode): boolean {
    const { words, at } = this;
    const from = entryWords * at;
    const node = put(words[from + 2]!, words[from + 3]!, this.floats, from + 4);
    // What has been read before is not needed any more: what is kept of it is shorter.
    const to = placedEntryWords * at;
    words[to] = entryIndexOf(words, from / 2);
    words[to + 1] = node;
    words[to + 2] = words[from + 2]!;
    words[to + 3] = words[from + 3]!;
    this.at++;
    if (this.at === this.count) return this.nextBlock();
    this.place = hilbertPositionOf(words, (from + entryWords) / 2);
    return true;
  }

  private nextBlock(): boolean {
    this.file.write(
      this.bytes.subarray(0, placedEntryBytes * this.count),
      this.run.start + placedEntryBytes * this.before,
    );
    return this.load();
  }
}

const isBefore = (a: RunCursor, b: RunCursor): boolean =>
  a.place < b.place || (a.place === b.place && a.order < b.order);

/** Makes good that only the first of a heap may stand too far ahead. */
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
 * Entries of an R-tree that are too many for memory: sorted runs on disk, then merged, then put back into the order of
 * their ids. It takes the same memory for any number of them, up to thousands of runs.
 */
export class SortedRuns {
  private readonly runs: SortedRun[] = [];

  constructor(private readonly file: ScratchFile) {}

  /** Writes a run, whose keys have been sorted. */
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

  /** Gives all entries to `put`, in the order of the curve. Once. */
  merge(put: AddToNode): void {
    const room = Math.floor(mergeBytes / entryBytes / this.runs.length);
    const each = Math.max(minReadEntries, Math.min(maxReadEntries, room));
    const heap = this.runs.map((run, order) => new RunCursor(this.file, run, order, each));
    // What is sorted is a heap.
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

  /** After the merge: gives all ids in the order in which they came, with the node that each is in. */
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
