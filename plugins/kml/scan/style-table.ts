import type { StyleProperties } from "../read/style-reader.js";

/** The maximum length of all different styles, in characters: 32 MiB. */
const maxTextLength = 1 << 25;
/** The maximum number of style ids, with eight bytes and a slot each: 64 MiB. */
const maxIds = 1 << 22;
/** The maximum number of references from style to style that are followed. */
const maxAliasSteps = 8;

/** Plain data. Each id has four numbers: a hash of 64 bits, then a style and 0, or the hash of the id it refers to. */
export interface StyleTableData {
  readonly slots: Int32Array;
  readonly styles: readonly StyleProperties[];
}

/** Memory shared by all threads: copies would cost more than the rest of the reading. */
const allocateSharedSlots = (length: number): Int32Array =>
  new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));

const hashWords = { high: 0, low: 0 };

/** Returns a hash of 64 bits, whose lower half is not 0. */
function hashText(text: string): void {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b) ^ (low >>> 13);
  }
  hashWords.high = high | 0;
  hashWords.low = low === 0 ? 1 : low | 0;
}

/**
 * The shared styles of a document by their ids. Files with a style for each feature have millions, nearly all equal: each
 * different style is stored once, and each id as a hash of 64 bits.
 */
export class StyleTable {
  private slots: Int32Array;
  private count = 0;
  private text = 0;
  private readonly styles: StyleProperties[];
  private readonly known = new Map<string, number>();
  /** The number of styles beyond the limits. */
  dropped = 0;

  constructor(data?: StyleTableData) {
    this.slots = data?.slots ?? allocateSharedSlots(4 << 8);
    this.styles = [...(data?.styles ?? [])];
  }

  get data(): StyleTableData {
    return { slots: this.slots, styles: this.styles };
  }

  /** All different styles. */
  get all(): readonly StyleProperties[] {
    return this.styles;
  }

  add(id: string, style: StyleProperties): void {
    const key = JSON.stringify(style);
    let index = this.known.get(key);
    if (index === undefined) {
      if (this.text + key.length > maxTextLength) {
        this.dropped++;
        return;
      }
      this.text += key.length;
      index = this.styles.push(style) - 1;
      this.known.set(key, index);
    }
    hashText(id);
    this.put(hashWords.high, hashWords.low, index, 0);
  }

  /** Makes `id` refer to `target`. */
  alias(id: string, target: string): void {
    hashText(target);
    const { high, low } = hashWords;
    hashText(id);
    this.put(hashWords.high, hashWords.low, high, low);
  }

  private put(high: number, low: number, value: number, more: number): void {
    if (this.count >= maxIds) {
      this.dropped++;
      return;
    }
    if (this.count * 8 >= this.slots.length) this.grow();
    const at = this.find(high, low);
    if (this.slots[at + 1] === 0) this.count++;
    this.slots.set([high, low, value, more], at);
  }

  /** Returns the slot of an id, or the free slot for it. */
  private find(high: number, low: number): number {
    const { slots } = this;
    const mask = slots.length - 4;
    let at = ((high ^ (high >>> 15) ^ low) << 2) & mask;
    while (slots[at + 1] !== 0 && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 4) & mask;
    return at;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = allocateSharedSlots(old.length * 2);
    for (let from = 0; from < old.length; from += 4) {
      if (old[from + 1] === 0) continue;
      this.slots.set(old.subarray(from, from + 4), this.find(old[from]!, old[from + 1]!));
    }
  }

  /** Returns the style with this id; undefined for none. */
  get(id: string): StyleProperties | undefined {
    hashText(id);
    let { high, low } = hashWords;
    for (let step = 0; step < maxAliasSteps; step++) {
      const at = this.find(high, low);
      if (this.slots[at + 1] === 0) return undefined;
      const [value, more] = [this.slots[at + 2]!, this.slots[at + 3]!];
      if (more === 0) return this.styles[value];
      high = value;
      low = more;
    }
    return undefined;
  }
}
