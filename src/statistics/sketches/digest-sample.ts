/**
 * Counts how many things are equal to an earlier one, by their digests of 64 bits: exactly up to a number of distinct
 * digests, then among a sample. With each halving, only digests that begin with one more zero bit stay, so that all
 * occurrences of a thing are in the sample or none (P. Flajolet, "On adaptive sampling", Computing 43, 1990).
 */
export interface DigestSampleState {
  /** Two words a slot, low and high; empty where both are 0. */
  slots: Uint32Array;
  used: number;
  /** Number of halvings. */
  level: number;
  /** Occurrences of digests in the sample beyond the first of each. */
  repeated: number;
  /** Repetitions of the digest of each slot; null if they are not needed. */
  repeats: Uint32Array | null;
}

const minSlots = 64;

export class DigestSample {
  /**
   * @param maxDigests of the sample
   * @param countsRepeats whether repetitions survive a halving; without it, the first one must end the use of the sample
   */
  constructor(
    private readonly maxDigests: number,
    countsRepeats: boolean,
    readonly state: DigestSampleState = {
      slots: new Uint32Array(2 * minSlots),
      used: 0,
      level: 0,
      repeated: 0,
      repeats: countsRepeats ? new Uint32Array(minSlots) : null,
    },
  ) {}

  get isExact(): boolean {
    return this.state.level === 0;
  }

  get hasRepeated(): boolean {
    return this.state.repeated > 0;
  }

  /** Things that are equal to an earlier one: exact, or estimated from the sample. */
  get repetitions(): number {
    return this.state.repeated * 2 ** this.state.level;
  }

  private isSampled(high: number): boolean {
    return this.state.level === 0 || high >>> (32 - this.state.level) === 0;
  }

  /** @param times occurrences to add */
  add(low: number, high: number, times = 1): void {
    if (!this.isSampled(high)) return;
    const { state } = this;
    // The digest 0 is stored as 1.
    const first = low === 0 && high === 0 ? 1 : low;
    let slot = this.find(first, high);
    if (state.slots[2 * slot] === 0 && state.slots[2 * slot + 1] === 0) {
      if (state.used === this.maxDigests) {
        this.halve();
        this.add(low, high, times);
        return;
      }
      if (2 * (state.used + 1) > state.slots.length / 2) {
        this.rebuild(state.slots.length);
        slot = this.find(first, high);
      }
      state.slots[2 * slot] = first;
      state.slots[2 * slot + 1] = high;
      state.used++;
      this.addRepeats(slot, times - 1);
    } else this.addRepeats(slot, times);
  }

  private addRepeats(slot: number, times: number): void {
    this.state.repeated += times;
    if (this.state.repeats) this.state.repeats[slot]! += times;
  }

  private find(low: number, high: number): number {
    const { slots } = this.state;
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
    this.state.level++;
    this.rebuild(this.state.slots.length / 2);
  }

  /** Moves the sampled digests to a table of a number of slots. */
  private rebuild(slotCount: number): void {
    const { state } = this;
    const { slots, repeats } = state;
    state.slots = new Uint32Array(2 * slotCount);
    state.used = 0;
    state.repeated = 0;
    if (repeats) state.repeats = new Uint32Array(slotCount);
    for (let slot = 0; slot < slots.length / 2; slot++) {
      const low = slots[2 * slot]!;
      const high = slots[2 * slot + 1]!;
      if (low === 0 && high === 0) continue;
      if (this.isSampled(high)) this.insertFresh(low, high, repeats?.[slot] ?? 0);
    }
  }

  private insertFresh(low: number, high: number, repeats: number): void {
    const { state } = this;
    const slot = this.find(low, high);
    state.slots[2 * slot] = low;
    state.slots[2 * slot + 1] = high;
    state.used++;
    this.addRepeats(slot, repeats);
  }

  /** Adds the digests of later things. */
  merge(other: DigestSampleState): void {
    while (this.state.level < other.level) this.halve();
    for (let slot = 0; slot < other.slots.length / 2; slot++) {
      const low = other.slots[2 * slot]!;
      const high = other.slots[2 * slot + 1]!;
      if (low !== 0 || high !== 0) this.add(low, high, 1 + (other.repeats?.[slot] ?? 0));
    }
  }
}
