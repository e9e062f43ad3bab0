import { cdataEnd, cdataOpening, closingBracket, lessThan, startsWithBytes } from "./bytes.js";
import { type TemplateRun, type TemplateSlot, toComparisonWords } from "./record-template.js";

/** Bounds of what one unit is learned with, and all together. */
const maxSteps = 512;
const maxRecordBytes = 1 << 14;
const maxDepth = 64;
const maxRunsPerSlot = 32;
const maxRuns = 2048;
const maxTemplateBytes = 1 << 19;
/** After so many units that had nothing new, only one of some is looked at. */
const maxUnchanged = 32;
const samplingInterval = 64;

const slotMark = "\0";
const cdataOpeningText = cdataOpening.toString();
/** What stands for more than itself, or is not the same each time it is met: references, other markup, declarations. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const unsupportedMarkup = /[&\u0000-\u0008\u000b\u000c\u000e-\u001f]|<[!?]|\bxmlns\b/;

interface RecordedStep<Deed> {
  readonly deed: Deed;
  /** The text, −1 for what tags do. */
  readonly from: number;
  readonly to: number;
  readonly isChecked: boolean;
}

/** Takes down what a unit does while it is read tag by tag, and adds it to what is known. */
export class XmlTemplateBuilder<Deed> {
  /** What leads to the first run of any unit. */
  root: TemplateSlot<Deed> = createRootSlot();
  private readonly slots = new Map<string, TemplateSlot<Deed>>();
  private readonly steps: RecordedStep<Deed>[] = [];
  private isSpoiled = false;
  private start = 0;
  /** Units since the last one that had something new. */
  private stale = 0;
  private runs = 0;
  private bytes = 0;

  /** Begins a unit at `at`; false where nothing more is to be learned. */
  begin(at: number): boolean {
    if (this.runs >= maxRuns || this.bytes >= maxTemplateBytes) return false;
    if (++this.stale > maxUnchanged && this.stale % samplingInterval !== 0) return false;
    this.start = at;
    this.steps.length = 0;
    this.isSpoiled = false;
    return true;
  }

  forget(): void {
    this.root = createRootSlot();
    this.slots.clear();
    this.stale = this.runs = this.bytes = 0;
    this.isSpoiled = true;
  }

  /** The unit is none for a stencil: it does what only its reader can tell, or the window has moved. */
  spoil(): void {
    this.isSpoiled = true;
  }

  /** Takes down what a tag does. */
  tag(deed: Deed): void {
    // One more than are learned from says that there are too many.
    if (this.steps.length <= maxSteps) this.steps.push({ deed, from: -1, to: -1, isChecked: false });
  }

  /**
   * Takes down what is done with the text between `from` and `to`, the tags around it.
   * @param isChecked whoever takes the text refuses it where something in it has to be resolved
   */
  text(deed: Deed, from: number, to: number, isChecked = false): void {
    // An empty element's tag has no place for a text.
    if (to < from) this.tag(deed);
    else if (this.steps.length <= maxSteps) this.steps.push({ deed, from, to, isChecked });
  }

  /** Adds what was taken down of the unit, which ends at `to`. */
  learn(bytes: Buffer, to: number): void {
    const { steps } = this;
    if (this.isSpoiled || steps.length > maxSteps) return;
    const tags = new OpenTagStack();
    const found: { run: Buffer; deeds: Deed[]; key: string; end: number; slot: RecordedStep<Deed> | null }[] = [];
    let at = this.start;
    let deeds: Deed[] = [];
    let length = 0;
    for (const written of [...steps, null]) {
      const step = written && unwrapCdata(written, bytes);
      if (step && step.from < 0) {
        deeds.push(step.deed);
        continue;
      }
      const run = bytes.subarray(at, step ? step.from : to);
      length += run.length;
      if ((step && step.from < at) || length > maxRecordBytes || !tags.read(run.toString("latin1"))) return;
      if (step && tags.end !== closingBracket && bytes.subarray(step.from, step.to).includes(lessThan)) return;
      found.push({ run, deeds, key: tags.key, end: tags.end, slot: step });
      if (step) at = step.to;
      deeds = [];
    }
    let slot = this.root;
    for (const each of found) {
      const run = this.runOf(slot, each.run) ?? this.add(slot, each);
      if (run?.next == null) return;
      slot = run.next;
    }
  }

  private runOf(slot: TemplateSlot<Deed>, bytes: Buffer): TemplateRun<Deed> | undefined {
    return slot.runs.find((run) => run.bytes.length === bytes.length && startsWithBytes(run.bytes, bytes, 0));
  }

  private add(
    slot: TemplateSlot<Deed>,
    found: { run: Buffer; deeds: readonly Deed[]; key: string; end: number; slot: RecordedStep<Deed> | null },
  ): TemplateRun<Deed> | null {
    if (slot.runs.length >= maxRunsPerSlot) return null;
    const bytes = Uint8Array.prototype.slice.call(found.run);
    let next: TemplateSlot<Deed> | null = null;
    if (found.slot) {
      next = this.slots.get(found.key) ?? null;
      if (!next) {
        const { deed, isChecked } = found.slot;
        next = { deed, end: found.end, isChecked, runs: [], last: undefined };
        this.slots.set(found.key, next);
      }
    }
    const run = { bytes, ...toComparisonWords(bytes), deeds: found.deeds, next };
    slot.runs.push(run);
    slot.last = run;
    this.stale = 0;
    this.runs++;
    this.bytes += bytes.length;
    return run;
  }
}

/** A text that is one CDATA section is what is in it. */
function unwrapCdata<Deed>(step: RecordedStep<Deed>, bytes: Buffer): RecordedStep<Deed> {
  const { from, to, isChecked } = step;
  const start = from + cdataOpening.length;
  const end = to - cdataEnd.length;
  if (isChecked || from < 0 || end < start || !startsWithBytes(cdataOpening, bytes, from)) return step;
  return bytes.indexOf(cdataEnd, start) === end ? { ...step, from: start, to: end } : step;
}

// The root leads nowhere by itself: its deed is never done.
const createRootSlot = <Deed>(): TemplateSlot<Deed> => ({
  deed: undefined as Deed,
  end: lessThan,
  isChecked: false,
  runs: [],
  last: undefined,
});

/** The tags that are open, as they are written, with marks for texts in them. */
class OpenTagStack {
  private readonly open: string[] = [];
  /** The tag in which the last run ended, or the CDATA section. */
  private partial = "";

  /** What the slot behind the last run is told by. */
  get key(): string {
    return `${this.open.join("")}${slotMark}${this.partial}`;
  }

  /** The byte that ends the slot behind the last run. */
  get end(): number {
    if (this.partial === cdataOpeningText) return closingBracket;
    return this.partial === "" ? lessThan : this.partial.charCodeAt(this.partial.length - 1);
  }

  /** Reads a run that begins behind a slot; false where it is none for a stencil. */
  read(run: string): boolean {
    const opensCdata = run.endsWith(cdataOpeningText);
    let rest = opensCdata ? run.slice(0, -cdataOpeningText.length) : run;
    if (unsupportedMarkup.test(rest)) return false;
    if (this.partial === cdataOpeningText) this.partial = "";
    if (this.partial !== "") {
      if (opensCdata) return false;
      rest = this.partial + slotMark + run;
      this.partial = "";
    }
    for (let at = rest.indexOf("<"); at >= 0; at = rest.indexOf("<", at + 1)) {
      const tag = wholeTag.exec(rest.slice(at))?.[0];
      if (tag === undefined) {
        if (opensCdata) return false;
        this.partial = rest.slice(at);
        // A slot in a tag stands behind the quote that begins a value.
        return /=\s*["']$/.test(this.partial) && isUsableTag(this.partial);
      }
      if (tag.startsWith("</")) this.open.pop();
      else if (!isUsableTag(tag)) return false;
      else if (!tag.endsWith("/>")) this.open.push(tag);
      if (this.open.length > maxDepth) return false;
      at += tag.length - 1;
    }
    if (opensCdata) this.partial = cdataOpeningText;
    return true;
  }
}

const wholeTag = /^<[^\s"'>]+(?:[^"'>]|"[^"]*"|'[^']*')*>/;
const attribute = /([^\s=<"']+)\s*=\s*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$))/g;

/** Whether no attribute is there twice, and none has white space that is to become blanks. */
function isUsableTag(tag: string): boolean {
  const names = new Set<string>();
  for (const [, name, double, single] of tag.matchAll(attribute)) {
    if (names.has(name!) || /[\t\r\n]/.test(double ?? single ?? "")) return false;
    names.add(name!);
  }
  return true;
}
