/** The maximum number of ids, in 64 MiB; later ones are not checked. */
const maxIds = 1 << 22;

/** Detects repeated ids by hashes of 64 bits: the probability of an error is about 10⁻¹². */
export class IdHashSet {
  private slots = new Int32Array(2 << 10);
  private count = 0;

  get isFull(): boolean {
    return this.count >= maxIds;
  }

  /** Adds the id `bytes[from … to]`. @returns false where it was added before */
  add(bytes: Uint8Array, from: number, to: number): boolean {
    let high = 0x811c9dc5;
    let low = 0x9e3779b9;
    for (let i = from; i < to; i++) {
      high = Math.imul(high ^ bytes[i]!, 0x01000193);
      low = Math.imul(low ^ bytes[i]!, 0x85ebca6b) ^ (low >>> 13);
    }
    high |= 0;
    low |= 0;
    if (low === 0) low = 1;
    if (this.isFull) return true;
    if (this.count * 4 > this.slots.length) this.grow();
    return this.put(high, low);
  }

  /** The second half of an empty slot is 0. */
  private put(high: number, low: number): boolean {
    const { slots } = this;
    const mask = slots.length - 2;
    let at = ((high ^ (high >>> 15) ^ low) << 1) & mask;
    while (slots[at + 1] !== 0) {
      if (slots[at] === high && slots[at + 1] === low) return false;
      at = (at + 2) & mask;
    }
    slots[at] = high;
    slots[at + 1] = low;
    this.count++;
    return true;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    this.count = 0;
    for (let at = 0; at < old.length; at += 2) if (old[at + 1] !== 0) this.put(old[at]!, old[at + 1]!);
  }
}
