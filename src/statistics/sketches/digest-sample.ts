/**
 * Counts how many things are equal to an earlier one, by their digests of 64 bits: exactly up to a number of distinct
 * digests, then among a sample. With each halving, only digests that begin with one more zero bit stay, so that all
 * occurrences of a thing are in the sample or none (P. Flajolet, "On adaptive sampling", Computing 43, 1990).
 */
export interface DigestSampleState {
  /** Two words a slot, low and high; empty where both are 0. */
  slots: Int32Array;
  used: number;
  /** Number of halvings. */
  level: number;
  /** Occurrences of digests in the sample beyond the first of each. */
  repeated: number;
  /** Repetitions of the digest of each slot; null if they are not needed. */
  repeats: Uint32Array | null;
  /** Digests that have no slot yet. */
  pending: Int32Array;
}

const minSlots = 64;
/** Digests that wait for a slot: looking for it is what takes time, and a part of a file leaves that to the whole. */
const maxPending = 1 << 16;
/** Fewer words of digests are not sorted before they get slots. */
const minSortedWords = 1 << 13;
/** Slots of a part of the table, 64 kB. */
const partSlots = 1 << 13;

export class DigestSample {
  private readonly current: DigestSampleState;
  private waiting = new Int32Array(128);
  private waitingWords = 0;

  /**
   * @param maxDigests of the sample
   * @param countsRepeats whether repetitions survive a halving; without it, the first one must end the use of the sample
   */
  constructor(
    private readonly maxDigests: number,
    countsRepeats: boolean,
  ) {
    const repeats = countsRepeats ? new Uint32Array(minSlots) : null;
    const slots = new Int32Array(2 * minSlots);
    this.current = { slots, used: 0, level: 0, repeated: 0, repeats, pending: new Int32Array() };
  }

  /** With a slot for every digest. */
  get state(): DigestSampleState {
    this.insertWaiting();
    return this.current;
  }

  get isExact(): boolean {
    return this.state.level === 0;
  }

  get hasRepeated(): boolean {
    return this.state.repeated > 0;
  }

  /** Whether a repetition was found so far, among digests that have a slot. */
  get hasFoundRepeated(): boolean {
    return this.current.repeated > 0;
  }

  /** Things that are equal to an earlier one: exact, or estimated from the sample. */
  get repetitions(): number {
    return this.state.repeated * 2 ** this.current.level;
  }

  /** The state with digests that have no slot yet. */
  toState(): DigestSampleState {
    return { ...this.current, pending: this.waiting.slice(0, this.waitingWords) };
  }

  private isSampled(high: number): boolean {
    return this.current.level === 0 || high >>> (32 - this.current.level) === 0;
  }

  /** @param times occurrences to add */
  add(low: number, high: number, times = 1): void {
    if (times !== 1) {
      this.insert(low, high, times);
      return;
    }
    if (this.waitingWords === this.waiting.length) this.makeRoom();
    this.waiting[this.waitingWords++] = low;
    this.waiting[this.waitingWords++] = high;
  }

  private makeRoom(): void {
    if (this.waitingWords >= 2 * maxPending) {
      this.insertWaiting();
      return;
    }
    const grown = new Int32Array(4 * this.waiting.length);
    grown.set(this.waiting);
    this.waiting = grown;
  }

  private insertWaiting(): void {
    const words = this.waitingWords;
    this.waitingWords = 0;
    this.insertAll(this.waiting, words);
  }

  /** Whether a repetition has ended the use of the sample. */
  private get isOver(): boolean {
    return this.current.repeats === null && this.current.repeated > 0;
  }

  /** Inserts digests of two words each. */
  private insertAll(digests: Int32Array, words: number): void {
    if (words === 0 || this.isOver) return;
    this.reserve(words / 2);
    const sorted = this.sortBySlot(digests, words);
    for (let at = 0; at < words && !this.isOver; at += 2) this.insert(sorted[at]!, sorted[at + 1]!, 1);
  }

  /** Many digests in the order of parts of the table that fit into the cache of a processor. */
  private sortBySlot(digests: Int32Array, words: number): Int32Array {
    const slots = this.current.slots.length / 2;
    if (words < minSortedWords || slots <= partSlots) return digests;
    const shift = Math.log2(partSlots);
    const mask = slots - 1;
    const ends = new Uint32Array(slots / partSlots + 1);
    for (let at = 0; at < words; at += 2) ends[((digests[at]! & mask) >>> shift) + 1]! += 2;
    for (let part = 1; part < ends.length; part++) ends[part]! += ends[part - 1]!;
    const sorted = new Int32Array(words);
    for (let at = 0; at < words; at += 2) {
      const part = (digests[at]! & mask) >>> shift;
      const to = ends[part]!;
      sorted[to] = digests[at]!;
      sorted[to + 1] = digests[at + 1]!;
      ends[part] = to + 2;
    }
    return sorted;
  }

  /** Makes room for a number of digests, unless there can be no more. */
  private reserve(count: number): void {
    const wanted = Math.min(this.maxDigests, this.current.used + count);
    let slots = this.current.slots.length / 2;
    // Seldom, since all digests move.
    if (2 * wanted > slots) slots *= 4;
    while (2 * wanted > slots) slots *= 2;
    while (slots >= 4 * this.maxDigests && slots > minSlots) slots /= 2;
    if (2 * slots > this.current.slots.length) this.rebuild(slots);
  }

  private insert(low: number, high: number, times: number): void {
    if (!this.isSampled(high)) return;
    const { current } = this;
    // The digest 0 is stored as 1.
    const first = low === 0 && high === 0 ? 1 : low;
    let slot = this.find(first, high);
    if (current.slots[2 * slot] === 0 && current.slots[2 * slot + 1] === 0) {
      if (current.used === this.maxDigests) {
        this.halve();
        this.insert(low, high, times);
        return;
      }
      if (2 * (current.used + 1) > current.slots.length / 2) {
        this.rebuild(current.slots.length);
        slot = this.find(first, high);
      }
      current.slots[2 * slot] = first;
      current.slots[2 * slot + 1] = high;
      current.used++;
      this.addRepeats(slot, times - 1);
    } else this.addRepeats(slot, times);
  }

  private addRepeats(slot: number, times: number): void {
    this.current.repeated += times;
    if (this.current.repeats) this.current.repeats[slot]! += times;
  }

  private find(low: number, high: number): number {
    const { slots } = this.current;
    const mask = slots.length / 2 - 1;
    let slot = low & mask;
    while (
      (slots[2 * slot] !== 0 || slots[2 * slot + 1] !== 0) &&
      (slots[2 * slot] !== low || slots[2 * slot + 1] !== high)
    )
      slot = (slot + 1) & mask;
    return slot;
  }

  private halve(): void {
    this.current.level++;
    this.rebuild(this.current.slots.length / 2);
  }

  /** Moves the sampled digests to a table of a number of slots. */
  private rebuild(slotCount: number): void {
    const { current } = this;
    const { slots, repeats } = current;
    current.slots = new Int32Array(2 * slotCount);
    current.used = 0;
    current.repeated = 0;
    if (repeats) current.repeats = new Uint32Array(slotCount);
    for (let slot = 0; slot < slots.length / 2; slot++) {
      const low = slots[2 * slot]!;
      const high = slots[2 * slot + 1]!;
      if (low === 0 && high === 0) continue;
      if (this.isSampled(high)) this.insertFresh(low, high, repeats?.[slot] ?? 0);
    }
  }

  private insertFresh(low: number, high: number, repeats: number): void {
    const { current } = this;
    const slot = this.find(low, high);
    current.slots[2 * slot] = low;
    current.slots[2 * slot + 1] = high;
    current.used++;
    this.addRepeats(slot, repeats);
  }

  /** Adds the digests of later things. */
  merge(other: DigestSampleState): void {
    this.insertWaiting();
    if (this.isOver) return;
    while (this.current.level < other.level) this.halve();
    this.reserve(other.used);
    for (let slot = 0; slot < other.slots.length / 2; slot++) {
      const low = other.slots[2 * slot]!;
      const high = other.slots[2 * slot + 1]!;
      if (low !== 0 || high !== 0) this.insert(low, high, 1 + (other.repeats?.[slot] ?? 0));
    }
    this.insertAll(other.pending, other.pending.length);
  }
}
