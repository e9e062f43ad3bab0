import { DataViewCache, dataViewOf } from "../text/data-view.js";
import {
  ByteClass,
  cdataByteClasses,
  closingBracket,
  exclamation,
  greaterThan,
  isSpace,
  lessThan,
  textByteClasses,
  valueByteClasses,
} from "./bytes.js";
import { XmlTemplateBuilder } from "./template-builder.js";

/** A place in a unit where the text differs from unit to unit. */
export interface TemplateSlot<Deed> {
  readonly deed: Deed;
  /** What ends the text: `<`, the quote of an attribute's value, or the bracket that ends a CDATA section. */
  readonly end: number;
  /** Whoever takes the text looks at each of its bytes. */
  readonly isChecked: boolean;
  readonly runs: TemplateRun<Deed>[];
  /** The run that followed the last time. */
  last: TemplateRun<Deed> | undefined;
}

/** Bytes that are the same in many units, between two slots. */
export interface TemplateRun<Deed> {
  readonly bytes: Uint8Array;
  /** The same, eight at a time, without the eight at the end or less. */
  readonly words: Float64Array;
  /** The eight at the end, some of which may be in the word before; 0 where there are not so many. */
  readonly lastWord: number;
  /** The four at the beginning and the four at the end; 0 where there are not so many. */
  readonly firstFour: number;
  readonly lastFour: number;
  /** What its tags do. */
  readonly deeds: readonly Deed[];
  /** The slot behind it, null where the unit ends. */
  readonly next: TemplateSlot<Deed> | null;
}

/** A unit of more deeds, and one nested deeper, is read tag by tag. */
const maxActions = 1024;
/** A text that is no longer is read byte by byte; the end of another is searched for. */
const maxLoopBytes = 64;
/** What a unit that fits counts, and one that does not, up to how much; below nothing, stencils are left for a while. */
const scoreWeights = { fit: 4, miss: -1, most: 64 } as const;
const minPause = 64;
const maxPause = 1 << 14;

/**
 * Units of a document, as a program writes one like the other: features, or points of a line. What was met in the
 * earlier ones between their texts is compared as a whole with what comes next, so that no one has to look at its tags.
 *
 * Runs of bytes lead from slot to slot, by all ways that were met. A slot is told by the tags that are open there, as
 * they are written, and so are the deeds of the runs that follow it: those that depend on anything else are not for a
 * stencil.
 */
export class XmlRecordTemplate<Deed> {
  /** Of the unit that fitted last: what it does, in order, and the text for it, empty for tags that do something. */
  count = 0;
  readonly deeds: Deed[] = [];
  readonly from = new Uint32Array(maxActions);
  readonly to = new Uint32Array(maxActions);
  /** The unit that is read tag by tag, to be learned from; null where none is. */
  draft: XmlTemplateBuilder<Deed> | null = null;
  private readonly drafts = new XmlTemplateBuilder<Deed>();
  private score: number = scoreWeights.most;
  private pause = minPause;
  /** Units to be read before stencils are tried again. */
  private resting = 0;
  private readonly views = new DataViewCache();
  /** The state of the declared namespaces that it holds for. */
  private generation = -1;

  /** Where the unit at `at` ends, −1 where it does not fit. Texts have no white space around them, but in CDATA. */
  match(bytes: Uint8Array, at: number, end: number): number {
    const { from, to, deeds } = this;
    const words = this.views.of(bytes);
    let count = 0;
    let i = at;
    let run = findRunAt(this.drafts.root, words, bytes, i, end);
    for (;;) {
      if (run === null) return -1;
      i += run.bytes.length;
      const { next, deeds: own } = run;
      if (count + own.length >= maxActions) return -1;
      for (let d = 0; d < own.length; d++) {
        from[count] = to[count] = 0;
        deeds[count++] = own[d]!;
      }
      if (next === null) break;
      const start = next.end === lessThan ? skipSpaceFrom(bytes, i, end) : i;
      i = findTextEnd(next, bytes, start, end);
      if (i < 0) return -1;
      let last = i;
      if (next.end === lessThan) while (last > start && isSpace(bytes[last - 1]!)) last--;
      deeds[count] = next.deed;
      from[count] = start;
      to[count++] = last;
      run = findRunAt(next, words, bytes, i, end);
    }
    this.count = count;
    if (this.score < scoreWeights.most) this.score += scoreWeights.fit;
    this.pause = minPause;
    return i;
  }

  /** Whether stencils are of use here. What was learned holds as long as prefixes stand for the same namespaces. */
  isReady(generation: number): boolean {
    if (this.generation !== generation) {
      this.generation = generation;
      this.drafts.forget();
    }
    return this.resting === 0;
  }

  /** What the unit that fitted last begins with. */
  get firstRun(): TemplateRun<Deed> | undefined {
    return this.drafts.root.last;
  }

  /** A unit is read tag by tag, whose first tag begins at `at`. */
  begin(at: number): void {
    this.draft = null;
    if (this.resting > 0) {
      this.resting--;
      return;
    }
    this.score += scoreWeights.miss;
    if (this.score < 0) {
      this.score = scoreWeights.most;
      this.resting = this.pause;
      this.pause = Math.min(this.pause * 2, maxPause);
    }
    if (this.drafts.begin(at)) this.draft = this.drafts;
  }

  /** The unit ends at `to`. */
  end(bytes: Buffer, to: number): void {
    this.draft?.learn(bytes, to);
    this.draft = null;
  }
}

function findRunAt<Deed>(
  slot: TemplateSlot<Deed>,
  words: DataView,
  bytes: Uint8Array,
  at: number,
  end: number,
): TemplateRun<Deed> | null {
  const { last } = slot;
  if (last === undefined) return null;
  if (at + last.bytes.length <= end && matchesRun(last, words, bytes, at)) return last;
  for (const run of slot.runs) {
    if (run === last || at + run.bytes.length > end || !matchesRun(run, words, bytes, at)) continue;
    slot.last = run;
    return run;
  }
  return null;
}

/**
 * Whether the run stands at `at`. Eight bytes are compared as a double: two that are equal have the same bits, as zero
 * is none of them, and what is no number equals nothing.
 */
export function matchesRun<Deed>(run: TemplateRun<Deed>, view: DataView, bytes: Uint8Array, at: number): boolean {
  const { words, bytes: wanted } = run;
  const after = at + wanted.length;
  if (wanted.length >= 8) {
    for (let w = 0; w < words.length; w++) if (view.getFloat64(at + 8 * w, true) !== words[w]!) return false;
    if (view.getFloat64(after - 8, true) !== run.lastWord) return false;
  } else if (wanted.length >= 4) {
    if (view.getInt32(at, true) !== run.firstFour || view.getInt32(after - 4, true) !== run.lastFour) return false;
  } else for (let i = 0; i < wanted.length; i++) if (wanted[i] !== bytes[at + i]) return false;
  // Where a CDATA section follows, the run is one that goes on with it.
  return bytes[after] !== lessThan || bytes[after + 1] !== exclamation || run.next === null;
}

/** Bytes as they are compared with others. */
export function toComparisonWords(
  bytes: Uint8Array,
): Pick<TemplateRun<unknown>, "words" | "lastWord" | "firstFour" | "lastFour"> {
  const { length } = bytes;
  const view = dataViewOf(bytes);
  return {
    words: Float64Array.from({ length: Math.max(0, length - 1) >> 3 }, (_, w) => view.getFloat64(8 * w, true)),
    lastWord: length >= 8 ? view.getFloat64(length - 8, true) : 0,
    firstFour: length >= 4 ? view.getInt32(0, true) : 0,
    lastFour: length >= 4 ? view.getInt32(length - 4, true) : 0,
  };
}

function skipSpaceFrom(bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(bytes[i]!)) i++;
  return i;
}

/** Where the text at `from` ends, −1 where it has to be resolved, or does not end. */
function findTextEnd<Deed>(slot: TemplateSlot<Deed>, bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  if (slot.isChecked) {
    const near = Math.min(end, from + maxLoopBytes);
    while (i < near && bytes[i] !== lessThan) i++;
    if (i === near) i = bytes.indexOf(lessThan, i);
    return i < end ? i : -1;
  }
  if (slot.end === closingBracket) return findCdataEnd(bytes, from, end);
  const meanings = slot.end === lessThan ? textByteClasses : valueByteClasses;
  while (i < end && meanings[bytes[i]!] === ByteClass.none) i++;
  return i < end && bytes[i] === slot.end ? i : -1;
}

/** The same of a text in a CDATA section. */
function findCdataEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let i = from; ; i++) {
    while (i < end && cdataByteClasses[bytes[i]!] === ByteClass.none) i++;
    if (i + 2 >= end || bytes[i] !== closingBracket) return -1;
    if (bytes[i + 1] === closingBracket && bytes[i + 2] === greaterThan) return i;
  }
}
