/**
 * Counts how many things are equal to an earlier one, by their digests of 64 bits: exactly up to a number of distinct
 * digests, then among a sample. With each halving, only digests that begin with one more zero bit stay, so that all
 * occurrences of a thing are in the sample or none (P. Flajolet, "On adaptive sampling", Computing 43, 1990).
 *
 * Digests are only listed as they come. When there are many, equal ones are looked for among all of them at once, in
 * parts that fit into the cache of a processor. The result depends on neither the order nor the moments of that.
 */
export interface DigestSampleState {
  /** Number of halvings. */
  level: number;
  /** Occurrences of digests in the sample beyond the first of each, among those that were compared. */
  repeated: number;
  lists: DigestList[];
}

interface DigestList {
  /** Two words each, low and high. */
  digests: Int32Array;
  /** Repetitions of each, if they were compared; they are then distinct. */
  repeats: Uint32Array | null;
}

/** Digests of a new list. */
const minListed = 64;
const maxListed = 1 << 16;
/** Digests that are compared at a time. */
const partDigests = 1 << 11;

export class DigestSample {
  private level = 0;
  private repeated = 0;
  private lists: DigestList[] = [];
  /** Digests in `lists`. */
  private listed = 0;
  /** The list that grows. */
  private open = new Int32Array(2 * minListed);
  private openWords = 0;
  /** Digests in `lists` at which they are compared. */
  private enough: number;

  /**
   * @param maxDigests of the sample
   * @param countsRepeats whether to count; without it, the first repetition that is found ends the use of the sample
   */
  constructor(
    private readonly maxDigests: number,
    private readonly countsRepeats: boolean,
  ) {
    this.enough = 2 * maxDigests;
  }

  get isExact(): boolean {
    this.compare();
    return this.level === 0;
  }

  get hasRepeated(): boolean {
    this.compare();
    return this.repeated > 0;
  }

  /** Whether a repetition was found so far. */
  get hasFoundRepeated(): boolean {
    return this.repeated > 0;
  }

  /** Distinct digests in the sample. */
  get distinct(): number {
    this.compare();
    return this.listed;
  }

  /** Things that are equal to an earlier one: exact, or estimated from the sample. */
  get repetitions(): number {
    this.compare();
    return this.repeated * 2 ** this.level;
  }

  /** The state, in which digests may not have been compared yet. */
  toState(): DigestSampleState {
    this.closeList();
    return { level: this.level, repeated: this.repeated, lists: this.lists };
  }

  /** Whether a repetition has ended the use of the sample. */
  private get isOver(): boolean {
    return !this.countsRepeats && this.repeated > 0;
  }

  add(low: number, high: number): void {
    if (this.level > 0 && !isSampled(high, this.level)) return;
    if (this.openWords === this.open.length) this.makeRoom();
    this.open[this.openWords++] = low;
    this.open[this.openWords++] = high;
  }

  /** Adds the digests of the rows from `from` to `to` that are present. */
  addAll(digests: Int32Array, presence: Uint8Array, from: number, to: number): void {
    for (let n = from; n < to; n++) if (presence[n] === 1) this.add(digests[2 * n]!, digests[2 * n + 1]!);
  }

  private makeRoom(): void {
    if (this.openWords < 2 * maxListed) {
      const grown = new Int32Array(4 * this.open.length);
      grown.set(this.open);
      this.open = grown;
      return;
    }
    this.closeList();
    this.open = new Int32Array(2 * maxListed);
  }

  private closeList(): void {
    const { openWords, open } = this;
    this.openWords = 0;
    if (openWords === 0) return;
    this.append({ digests: open.slice(0, openWords), repeats: null });
  }

  private append(list: DigestList): void {
    if (this.isOver) return;
    this.lists.push(list);
    this.listed += list.digests.length / 2;
    if (this.listed > this.enough) this.compareLists();
  }

  /** Adds the digests of later things. */
  merge({ level, repeated, lists }: DigestSampleState): void {
    if (level > this.level) {
      this.level = level;
      this.closeList();
      this.compareLists();
    }
    if (!this.countsRepeats) this.repeated += repeated;
    for (const list of lists) this.append(list);
  }

  /** Compares all digests. */
  private compare(): void {
    this.closeList();
    const isCompared = this.lists.length === 0 || (this.lists.length === 1 && this.lists[0]!.repeats !== null);
    if (!isCompared) this.compareLists();
  }

  private compareLists(): void {
    let list = joinEqual(this.lists, this.level);
    while (list.digests.length > 2 * this.maxDigests) list = joinEqual([list], ++this.level);
    this.repeated = 0;
    for (const repeats of list.repeats) this.repeated += repeats;
    this.lists = this.isOver ? [] : [list];
    this.listed = this.isOver ? 0 : list.digests.length / 2;
    this.enough = this.listed + this.maxDigests;
  }
}

const isSampled = (high: number, level: number): boolean => level === 0 || high >>> (32 - level) === 0;

/** The distinct digests of lists that are in the sample, with their repetitions. */
function joinEqual(lists: readonly DigestList[], level: number): { digests: Int32Array; repeats: Uint32Array } {
  const { digests, repeats, ends } = partition(lists, level);
  let kept = 0;
  for (let part = 0, from = 0; part < ends.length; from = ends[part++]!)
    kept = joinPart(digests, repeats, from, ends[part]!, kept);
  if (kept === repeats.length) return { digests, repeats };
  return { digests: digests.slice(0, 2 * kept), repeats: repeats.slice(0, kept) };
}

/** The digests in the sample, in parts by their lowest bits. */
function partition(lists: readonly DigestList[], level: number) {
  const listed = lists.reduce((sum, { digests }) => sum + digests.length / 2, 0);
  const parts = 2 ** Math.max(0, Math.ceil(Math.log2(listed / partDigests)));
  const mask = parts - 1;
  const ends = new Uint32Array(parts + 1);
  for (const { digests } of lists)
    for (let at = 0; at < digests.length; at += 2)
      if (isSampled(digests[at + 1]!, level)) ends[(digests[at]! & mask) + 1]!++;
  for (let part = 1; part <= parts; part++) ends[part]! += ends[part - 1]!;
  const digests = new Int32Array(2 * ends[parts]!);
  const repeats = new Uint32Array(ends[parts]!);
  for (const list of lists)
    for (let n = 0; n < list.digests.length / 2; n++) {
      const [low, high] = [list.digests[2 * n]!, list.digests[2 * n + 1]!];
      if (!isSampled(high, level)) continue;
      // The starts of the parts move to their ends.
      const to = ends[low & mask]!++;
      digests[2 * to] = low;
      digests[2 * to + 1] = high;
      repeats[to] = list.repeats?.[n] ?? 0;
    }
  return { digests, repeats, ends: ends.subarray(0, parts) };
}

/** Numbers of digests by their hash, from 1. */
let slots = new Uint32Array(2 * partDigests);

/** Moves the distinct ones of the digests `from … to` to `first` and what follows. @returns the end of those */
function joinPart(digests: Int32Array, repeats: Uint32Array, from: number, to: number, first: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(2 * (to - from) + 2));
  if (wanted > slots.length) slots = new Uint32Array(wanted);
  else slots.fill(0, 0, wanted);
  let kept = first;
  for (let n = from; n < to; n++) {
    const [low, high] = [digests[2 * n]!, digests[2 * n + 1]!];
    let slot = high & (wanted - 1);
    let found = slots[slot]!;
    while (found !== 0 && (digests[2 * found - 2] !== low || digests[2 * found - 1] !== high)) {
      slot = (slot + 1) & (wanted - 1);
      found = slots[slot]!;
    }
    if (found !== 0) repeats[found - 1]! += 1 + repeats[n]!;
    else {
      digests[2 * kept] = low;
      digests[2 * kept + 1] = high;
      repeats[kept] = repeats[n]!;
      slots[slot] = ++kept;
    }
  }
  return kept;
}
