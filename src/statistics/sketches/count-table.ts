/**
 * Counts values by their bytes. Exact until it is purged: then every count is reduced by the median and the values
 * whose count is used up are dropped (D. Anderson et al., "A High-Performance Algorithm for Identifying Frequent Items in
 * Data Streams", 2017, after J. Misra and D. Gries, 1982). A count is then at most `error` less than the true one.
 */
export interface CountTableState {
  size: number;
  /** What kind of value each entry is. */
  tags: Uint8Array;
  /** Two words an entry. */
  hashes: Int32Array;
  counts: Float64Array;
  /** The bytes of entry k are `bytes[ends[k − 1] … ends[k]]`. */
  ends: Uint32Array;
  bytes: Uint8Array;
  error: number;
}

const minEntries = 16;

const emptyState = (): CountTableState => ({
  size: 0,
  tags: new Uint8Array(minEntries),
  hashes: new Int32Array(2 * minEntries),
  counts: new Float64Array(minEntries),
  ends: new Uint32Array(minEntries),
  bytes: new Uint8Array(16 * minEntries),
  error: 0,
});

function grown<A extends Uint8Array | Uint32Array | Int32Array | Float64Array>(array: A, length: number): A {
  const larger = new (array.constructor as new (length: number) => A)(length);
  (larger as Uint8Array).set(array as Uint8Array);
  return larger;
}

export class CountTable {
  /** Entries by hash, counted from 1; 0 is free. */
  private slots = new Uint32Array(4 * minEntries);

  constructor(readonly state: CountTableState = emptyState()) {
    if (state.size > 0) this.index(Math.max(state.tags.length, state.size));
  }

  get size(): number {
    return this.state.size;
  }

  get byteLength(): number {
    return this.startOf(this.state.size);
  }

  get error(): number {
    return this.state.error;
  }

  startOf(entry: number): number {
    return entry === 0 ? 0 : this.state.ends[entry - 1]!;
  }

  /** Whether every value was counted once. */
  get hasOnlyOnes(): boolean {
    const { counts, size } = this.state;
    for (let entry = 0; entry < size; entry++) if (counts[entry] !== 1) return false;
    return true;
  }

  /** Adds the value `bytes[from … to]` with its hash. */
  add(tag: number, bytes: Uint8Array, from: number, to: number, low: number, high: number, count: number): void {
    const { slots, state } = this;
    const mask = slots.length - 1;
    let slot = low & mask;
    for (let found = slots[slot]!; found !== 0; found = slots[slot]!) {
      if (this.isEntry(found - 1, tag, bytes, from, to, low, high)) {
        state.counts[found - 1]! += count;
        return;
      }
      slot = (slot + 1) & mask;
    }
    slots[slot] = state.size + 1;
    this.append(tag, bytes, from, to, low, high, count);
    if (2 * state.size > slots.length) this.index(2 * state.size);
  }

  private isEntry(
    entry: number,
    tag: number,
    bytes: Uint8Array,
    from: number,
    to: number,
    low: number,
    high: number,
  ): boolean {
    const { state } = this;
    if (state.hashes[2 * entry] !== low || state.hashes[2 * entry + 1] !== high || state.tags[entry] !== tag)
      return false;
    const start = this.startOf(entry);
    if (state.ends[entry]! - start !== to - from) return false;
    for (let at = from, own = start; at < to; at++, own++) if (state.bytes[own] !== bytes[at]) return false;
    return true;
  }

  private append(
    tag: number,
    bytes: Uint8Array,
    from: number,
    to: number,
    low: number,
    high: number,
    count: number,
  ): void {
    const { state } = this;
    const entry = state.size;
    const start = this.startOf(entry);
    const end = start + to - from;
    if (entry === state.tags.length) {
      const length = Math.max(minEntries, 2 * entry);
      state.tags = grown(state.tags, length);
      state.hashes = grown(state.hashes, 2 * length);
      state.counts = grown(state.counts, length);
      state.ends = grown(state.ends, length);
    }
    if (end > state.bytes.length) state.bytes = grown(state.bytes, Math.max(end, 2 * state.bytes.length));
    for (let at = from, own = start; at < to; at++, own++) state.bytes[own] = bytes[at]!;
    state.tags[entry] = tag;
    state.hashes[2 * entry] = low;
    state.hashes[2 * entry + 1] = high;
    state.counts[entry] = count;
    state.ends[entry] = end;
    state.size++;
  }

  /** Makes the slots for a number of entries. */
  private index(entries: number): void {
    const { state } = this;
    const length = 2 ** Math.ceil(Math.log2(Math.max(4 * minEntries, 2 * entries + 2)));
    if (length > this.slots.length) this.slots = new Uint32Array(length);
    else this.slots.fill(0);
    const { slots } = this;
    const mask = slots.length - 1;
    for (let entry = 0; entry < state.size; entry++) {
      let slot = state.hashes[2 * entry]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
  }

  /** The count in the middle of all in their order. */
  private median(): number {
    const { counts, size } = this.state;
    let ones = 0;
    for (let entry = 0; entry < size; entry++) if (counts[entry] === 1) ones++;
    // No count is less than 1.
    if (ones > size >> 1) return 1;
    return counts.slice(0, size).sort()[size >> 1] ?? 0;
  }

  /** Drops at least half of the values, and those of more than `maxKeyBytes` bytes; keeps the room that they took. */
  purge(maxKeyBytes: number): void {
    const { state } = this;
    const { tags, hashes, counts, ends, bytes } = state;
    const cut = this.median();
    let kept = 0;
    let end = 0;
    for (let entry = 0, from = 0, to = 0; entry < state.size; entry++, from = to) {
      to = ends[entry]!;
      const count = counts[entry]! - cut;
      if (count <= 0 || to - from > maxKeyBytes) continue;
      bytes.copyWithin(end, from, to);
      end += to - from;
      tags[kept] = tags[entry]!;
      hashes[2 * kept] = hashes[2 * entry]!;
      hashes[2 * kept + 1] = hashes[2 * entry + 1]!;
      counts[kept] = count;
      ends[kept] = end;
      kept++;
    }
    state.size = kept;
    state.error += cut;
    this.index(kept);
  }

  /** Forgets all values, and keeps the room that they took. */
  clear(): void {
    this.state.size = 0;
    this.state.error = 0;
    this.slots.fill(0);
  }

  /** The values in their order, if all are numbers of eight bytes with this tag; else null. */
  numbers(tag: number): Float64Array | null {
    const { size, tags, bytes } = this.state;
    if (this.byteLength !== 8 * size) return null;
    for (let entry = 0; entry < size; entry++) if (tags[entry] !== tag) return null;
    return new Float64Array(bytes.slice(0, 8 * size).buffer);
  }

  /** The state without spare room. */
  toState(): CountTableState {
    const { size, tags, hashes, counts, ends, bytes, error } = this.state;
    return {
      size,
      tags: tags.slice(0, size),
      hashes: hashes.slice(0, 2 * size),
      counts: counts.slice(0, size),
      ends: ends.slice(0, size),
      bytes: bytes.slice(0, this.byteLength),
      error,
    };
  }
}
