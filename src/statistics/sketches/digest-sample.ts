import { createDigestKernel, type DigestKernel } from "../digest-kernel.js";

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

export class DigestSample {
  private level = 0;
  private repeated = 0;
  /** The digests that were compared last. */
  private compared: ComparedDigests | null = null;
  /** Those that came later. */
  private lists: DigestList[] = [];
  /** Digests in both. */
  private listed = 0;
  /** The list that grows. */
  private open = new Int32Array(2 * minListed);
  private openWords = 0;
  /** Listed digests at which they are compared. */
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
    return { level: this.level, repeated: this.repeated, lists: this.takeLists() };
  }

  private takeLists(): DigestList[] {
    if (this.compared) this.lists.unshift(this.compared.list);
    this.compared = null;
    return this.lists;
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
  addPresent(digests: Int32Array, presence: Uint8Array, from: number, to: number): void {
    if (hasOnlyValues(presence, from, to)) this.addAll(digests.subarray(2 * from, 2 * to));
    else for (let n = from; n < to; n++) if (presence[n] === 1) this.add(digests[2 * n]!, digests[2 * n + 1]!);
  }

  /** Adds digests of two words each. */
  addAll(digests: Int32Array): void {
    if (this.level === 0) this.addRun(digests);
    else for (let n = 0; n < digests.length; n += 2) this.add(digests[n]!, digests[n + 1]!);
  }

  private addRun(digests: Int32Array): void {
    let at = 0;
    while (at < digests.length) {
      if (this.openWords === this.open.length) this.makeRoom();
      const words = Math.min(digests.length - at, this.open.length - this.openWords);
      this.open.set(digests.subarray(at, at + words), this.openWords);
      this.openWords += words;
      at += words;
    }
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
    if (this.lists.length > 0) this.compareLists();
  }

  private compareLists(): void {
    let compared = compareDigests(this.takeLists(), this.level);
    while (compared.distinct > this.maxDigests) compared = compareDigests([compared.list], ++this.level);
    this.repeated = compared.repeated;
    this.lists = [];
    this.compared = this.isOver ? null : compared;
    this.listed = this.isOver ? 0 : compared.distinct;
    this.enough = this.listed + this.maxDigests;
  }
}

function hasOnlyValues(presence: Uint8Array, from: number, to: number): boolean {
  for (let n = from; n < to; n++) if (presence[n] !== 1) return false;
  return true;
}

const isSampled = (high: number, level: number): boolean => level === 0 || high >>> (32 - level) === 0;

/** The distinct digests of some lists, in the memory of a kernel. */
class ComparedDigests {
  constructor(
    private readonly kernel: DigestKernel,
    readonly distinct: number,
  ) {}

  /** Occurrences beyond the first of each. */
  get repeated(): number {
    return this.kernel.repeatedDigests();
  }

  get list(): DigestList {
    const { kernel, distinct } = this;
    const { buffer } = kernel.memory;
    return {
      digests: new Int32Array(buffer, kernel.digestsAt(), 2 * distinct).slice(),
      repeats: new Uint32Array(buffer, kernel.repeatsAt(), distinct).slice(),
    };
  }
}

/** Looks for equal digests in lists, among those that are in the sample. */
function compareDigests(lists: readonly DigestList[], level: number): ComparedDigests {
  const listed = lists.reduce((sum, { digests }) => sum + digests.length / 2, 0);
  // Its memory, which may be large, is not kept.
  const kernel = createDigestKernel();
  kernel.reserve(
    listed,
    lists.some(({ repeats }) => repeats !== null),
  );
  const { buffer } = kernel.memory;
  let at = 0;
  for (const { digests, repeats } of lists) {
    new Int32Array(buffer, kernel.digestsAt() + 8 * at, digests.length).set(digests);
    if (repeats) new Uint32Array(buffer, kernel.repeatsAt() + 4 * at, repeats.length).set(repeats);
    at += digests.length / 2;
  }
  return new ComparedDigests(kernel, kernel.join(listed, level));
}
