import { DataViewCache } from "../text/data-view.js";
import {
  ByteClass,
  cdataByteClasses,
  closingBracket,
  greaterThan,
  isSpace,
  lessThan,
  textByteClasses,
  valueByteClasses,
} from "./bytes.js";
import { XmlTemplateBuilder } from "./template-builder.js";
import { matchesRun, type TemplateRun, type TemplateSlot } from "./template-run.js";

/** A record with more actions is read tag by tag. */
const maxActions = 1024;
/** Up to this length a text is scanned byte by byte; the end of a longer one is searched with `indexOf`. */
const maxLoopBytes = 64;
/** What a match and a miss add to the score, and its maximum. Below 0, matching pauses. */
const scoreWeights = { match: 4, miss: -1, max: 64 } as const;
/** Records read tag by tag during the first and the longest pause. */
const minPause = 64;
const maxPause = 1 << 14;

/**
 * Matches a record (a feature, or a point of a line) against the records before it: programs write one like the other.
 * The bytes between the texts are compared as a whole, so that no tag is parsed.
 *
 * Runs of bytes lead from slot to slot, in every order that was seen. A slot is identified by the tags that are open
 * there, as written, and so are the actions of the runs that follow it. A template therefore holds only actions that
 * depend on nothing else.
 */
export class XmlRecordTemplate<Action> {
  /** The actions of the record that matched last, in order, with the ranges of their texts; empty for tags. */
  count = 0;
  readonly actions: Action[] = [];
  readonly from = new Uint32Array(maxActions);
  readonly to = new Uint32Array(maxActions);
  /** Records the actions of the record that is being read tag by tag; null where none is learned from. */
  draft: XmlTemplateBuilder<Action> | null = null;
  private readonly builder = new XmlTemplateBuilder<Action>();
  private score: number = scoreWeights.max;
  private pause = minPause;
  /** Records to read tag by tag until matching resumes. */
  private paused = 0;
  private readonly views = new DataViewCache();
  /** The generation of namespace declarations that the template was learned with. */
  private generation = -1;

  /** Returns the end of the record at `at`, or −1 for no match. White space around texts is excluded, except in CDATA. */
  match(bytes: Uint8Array, at: number, end: number): number {
    const { from, to, actions } = this;
    const words = this.views.of(bytes);
    let count = 0;
    let i = at;
    let run = findRunAt(this.builder.root, words, bytes, i, end);
    for (;;) {
      if (run === null) return -1;
      i += run.bytes.length;
      const { next, actions: own } = run;
      if (count + own.length >= maxActions) return -1;
      for (let d = 0; d < own.length; d++) {
        from[count] = to[count] = 0;
        actions[count++] = own[d]!;
      }
      if (next === null) break;
      const start = next.end === lessThan ? skipSpaceFrom(bytes, i, end) : i;
      i = findTextEnd(next, bytes, start, end);
      if (i < 0) return -1;
      let last = i;
      if (next.end === lessThan) while (last > start && isSpace(bytes[last - 1]!)) last--;
      actions[count] = next.action;
      from[count] = start;
      to[count++] = last;
      run = findRunAt(next, words, bytes, i, end);
    }
    this.count = count;
    if (this.score < scoreWeights.max) this.score += scoreWeights.match;
    this.pause = minPause;
    return i;
  }

  /** Whether to try a match. A change of the namespace declarations discards what was learned. */
  isReady(generation: number): boolean {
    if (this.generation !== generation) {
      this.generation = generation;
      this.builder.clear();
    }
    return this.paused === 0;
  }

  /** The first run of the record that matched last. */
  get firstRun(): TemplateRun<Action> | undefined {
    return this.builder.root.last;
  }

  /** Begins a record that is read tag by tag; its first tag begins at `at`. */
  begin(at: number): void {
    this.draft = null;
    if (this.paused > 0) {
      this.paused--;
      return;
    }
    this.score += scoreWeights.miss;
    if (this.score < 0) {
      this.score = scoreWeights.max;
      this.paused = this.pause;
      this.pause = Math.min(this.pause * 2, maxPause);
    }
    if (this.builder.begin(at)) this.draft = this.builder;
  }

  /** Ends the record, whose last tag ends at `to`. */
  end(bytes: Buffer, to: number): void {
    this.draft?.learn(bytes, to);
    this.draft = null;
  }
}

function findRunAt<Action>(
  slot: TemplateSlot<Action>,
  words: DataView,
  bytes: Uint8Array,
  at: number,
  end: number,
): TemplateRun<Action> | null {
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

function skipSpaceFrom(bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(bytes[i]!)) i++;
  return i;
}

/** Returns the end of the text at `from`, or −1 where the text needs decoding or does not end. */
function findTextEnd<Action>(slot: TemplateSlot<Action>, bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  if (slot.isChecked) {
    const near = Math.min(end, from + maxLoopBytes);
    while (i < near && bytes[i] !== lessThan) i++;
    if (i === near) i = bytes.indexOf(lessThan, i);
    return i < end ? i : -1;
  }
  if (slot.end === closingBracket) return findCdataEnd(bytes, from, end);
  const classes = slot.end === lessThan ? textByteClasses : valueByteClasses;
  while (i < end && classes[bytes[i]!] === ByteClass.none) i++;
  return i < end && bytes[i] === slot.end ? i : -1;
}

/** Returns the end of the CDATA text at `from`, or −1 where it needs decoding or does not end. */
function findCdataEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let i = from; ; i++) {
    while (i < end && cdataByteClasses[bytes[i]!] === ByteClass.none) i++;
    if (i + 2 >= end || bytes[i] !== closingBracket) return -1;
    if (bytes[i + 1] === closingBracket && bytes[i + 2] === greaterThan) return i;
  }
}
