import { cdataEnd, cdataOpening, closingBracket, forbiddenControls, lessThan, startsWithBytes } from "./bytes.js";
import { type TemplateRun, type TemplateSlot, toComparisonWords } from "./template-run.js";

/** Limits for one record, and for the template as a whole. */
const maxSteps = 512;
const maxRecordBytes = 1 << 14;
const maxDepth = 64;
const maxRunsPerSlot = 32;
const maxRuns = 2048;
const maxTemplateBytes = 1 << 19;
/** After this many records without a new run, only every 64th record is recorded. */
const maxUnchanged = 32;
const samplingInterval = 64;

const slotMark = "\0";
const cdataOpeningText = cdataOpening.toString();
/** Markup whose meaning is not in its bytes alone: references, comments, instructions, namespace declarations. */
const unsupportedMarkup = new RegExp(`[&${forbiddenControls}]|<[!?]|\\bxmlns\\b`);

interface RecordedStep<Action> {
  readonly action: Action;
  /** The range of the text; −1 for the action of a tag. */
  readonly from: number;
  readonly to: number;
  readonly isChecked: boolean;
}

/** The bytes before a slot, or before the end of the record, with the actions of their tags. */
interface RecordedRun<Action> {
  readonly run: Buffer;
  readonly actions: readonly Action[];
  /** Identifies the slot: the tags that are open there. */
  readonly key: string;
  readonly end: number;
  readonly slot: RecordedStep<Action> | null;
}

/** Records the actions of a record that is read tag by tag, and adds them to the template. */
export class XmlTemplateBuilder<Action> {
  /** The slot before the first run of every record. */
  root: TemplateSlot<Action> = createRootSlot();
  private readonly slots = new Map<string, TemplateSlot<Action>>();
  private readonly steps: RecordedStep<Action>[] = [];
  private isDiscarded = false;
  private start = 0;
  /** Records since the last one that added a run. */
  private unchanged = 0;
  private runs = 0;
  private bytes = 0;

  /** Begins a record at `at`. @returns false where nothing is to be learned from it */
  begin(at: number): boolean {
    if (this.runs >= maxRuns || this.bytes >= maxTemplateBytes) return false;
    if (++this.unchanged > maxUnchanged && this.unchanged % samplingInterval !== 0) return false;
    this.start = at;
    this.steps.length = 0;
    this.isDiscarded = false;
    return true;
  }

  /** Discards the whole template. */
  clear(): void {
    this.root = createRootSlot();
    this.slots.clear();
    this.unchanged = this.runs = this.bytes = 0;
    this.isDiscarded = true;
  }

  /** Learns nothing from this record: an action in it depends on more than its tags, or the window moved. */
  discard(): void {
    this.isDiscarded = true;
  }

  /** Records the action of a tag. */
  tag(action: Action): void {
    // One step over the limit marks the record as too long.
    if (this.steps.length <= maxSteps) this.steps.push({ action, from: -1, to: -1, isChecked: false });
  }

  /**
   * Records the action of the text in `from … to`, between two tags or within the quotes of an attribute.
   * @param isChecked the action itself rejects a text that needs decoding
   */
  text(action: Action, from: number, to: number, isChecked = false): void {
    // The tag of an empty element has no place for a text.
    if (to < from) this.tag(action);
    else if (this.steps.length <= maxSteps) this.steps.push({ action, from, to, isChecked });
  }

  /** Adds the record, which ends at `to`, to the template. */
  learn(bytes: Buffer, to: number): void {
    const { steps } = this;
    if (this.isDiscarded || steps.length > maxSteps) return;
    const tags = new OpenTagStack();
    const found: RecordedRun<Action>[] = [];
    let at = this.start;
    let actions: Action[] = [];
    let length = 0;
    for (const written of [...steps, null]) {
      const step = written && unwrapCdata(written, bytes);
      if (step && step.from < 0) {
        actions.push(step.action);
        continue;
      }
      const run = bytes.subarray(at, step ? step.from : to);
      length += run.length;
      if ((step && step.from < at) || length > maxRecordBytes || !tags.read(run.toString("latin1"))) return;
      if (step && tags.end !== closingBracket && bytes.subarray(step.from, step.to).includes(lessThan)) return;
      found.push({ run, actions, key: tags.key, end: tags.end, slot: step });
      if (step) at = step.to;
      actions = [];
    }
    let slot = this.root;
    for (const each of found) {
      const run = this.runOf(slot, each.run) ?? this.add(slot, each);
      if (run?.next == null) return;
      slot = run.next;
    }
  }

  private runOf(slot: TemplateSlot<Action>, bytes: Buffer): TemplateRun<Action> | undefined {
    return slot.runs.find((run) => run.bytes.length === bytes.length && startsWithBytes(run.bytes, bytes, 0));
  }

  /** Adds a run behind a slot. @returns null where the slot has too many */
  private add(slot: TemplateSlot<Action>, found: RecordedRun<Action>): TemplateRun<Action> | null {
    if (slot.runs.length >= maxRunsPerSlot) return null;
    const bytes = Uint8Array.prototype.slice.call(found.run);
    let next: TemplateSlot<Action> | null = null;
    if (found.slot) {
      next = this.slots.get(found.key) ?? null;
      if (!next) {
        const { action, isChecked } = found.slot;
        next = { action, end: found.end, isChecked, runs: [], last: undefined };
        this.slots.set(found.key, next);
      }
    }
    const run = { bytes, ...toComparisonWords(bytes), actions: found.actions, next };
    slot.runs.push(run);
    slot.last = run;
    this.unchanged = 0;
    this.runs++;
    this.bytes += bytes.length;
    return run;
  }
}

/** Returns the step with the range of the CDATA section's content, where the text is exactly one section. */
function unwrapCdata<Action>(step: RecordedStep<Action>, bytes: Buffer): RecordedStep<Action> {
  const { from, to, isChecked } = step;
  const start = from + cdataOpening.length;
  const end = to - cdataEnd.length;
  if (isChecked || from < 0 || end < start || !startsWithBytes(cdataOpening, bytes, from)) return step;
  return bytes.indexOf(cdataEnd, start) === end ? { ...step, from: start, to: end } : step;
}

// No run leads to the root slot, so that its action is never applied.
const createRootSlot = <Action>(): TemplateSlot<Action> => ({
  action: undefined as Action,
  end: lessThan,
  isChecked: false,
  runs: [],
  last: undefined,
});

/** The open tags, as written, with marks for the texts between and in them. */
class OpenTagStack {
  private readonly open: string[] = [];
  /** The unfinished tag at the end of the last run, or the opening of a CDATA section. */
  private partial = "";

  /** Identifies the slot after the last run. */
  get key(): string {
    return `${this.open.join("")}${slotMark}${this.partial}`;
  }

  /** The byte that ends the slot after the last run. */
  get end(): number {
    if (this.partial === cdataOpeningText) return closingBracket;
    return this.partial === "" ? lessThan : this.partial.charCodeAt(this.partial.length - 1);
  }

  /** Reads a run that begins after a slot. @returns false where a template cannot contain it */
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
        // A slot in a tag follows the quote that begins a value.
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

/** Whether each attribute occurs once, and none has white space that a parser normalizes to blanks. */
function isUsableTag(tag: string): boolean {
  const names = new Set<string>();
  for (const [, name, double, single] of tag.matchAll(attribute)) {
    if (names.has(name!) || /[\t\r\n]/.test(double ?? single ?? "")) return false;
    names.add(name!);
  }
  return true;
}
