import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import type { XmlRecordTemplate } from "../../shared/xml/record-template.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { Tag } from "../vocabulary.js";
import { type FeatureAction, idAction } from "./feature-actions.js";
import { Content, contentOf, type FeatureRule, findRule } from "./feature-grammar.js";
import type { FeatureRecord } from "./feature-record.js";
import { type DocumentContext, FeatureState } from "./feature-state.js";
import { Replay } from "./replay.js";

/**
 * Reads one feature into a record, from the tags and texts inside it, by the grammar. `open` returns whether the element's
 * text is wanted; `close` gets that text without the white space that only indents it.
 */
export class FeatureReader {
  readonly record: FeatureRecord;
  /** The start of the wanted text in the reader's bytes. */
  textFrom = 0;
  private readonly state: FeatureState;
  /** The rules of the open elements inside the feature. */
  private readonly rules: FeatureRule[] = [];
  /** The kinds of content of the feature and of the open elements inside it. */
  private readonly contents: number[] = [];
  /** What the text of the innermost element does; null where that text is not wanted. */
  private textAction: FeatureAction | null = null;

  constructor(
    document: DocumentContext,
    context: Pick<ReadContext, "reportNotice" | "reportLoss">,
    withStyles: boolean,
  ) {
    this.state = new FeatureState(document, context, withStyles);
    this.record = this.state.record;
  }

  /** Records the actions of the feature, for a template; null where none is built. */
  get draft(): XmlTemplateBuilder<FeatureAction> | null {
    return this.state.draft;
  }

  /** Begins the feature whose tag was read last. @param code that of its element */
  begin(code: number, reader: XmlReader, draft: XmlTemplateBuilder<FeatureAction> | null): void {
    const { attributes } = reader;
    this.reset(code, attributes.get("id") || null);
    this.state.draft = draft;
    if (code !== Tag.Placemark) draft?.discard();
    if (attributes.count > 0) this.dropAttributes(code, reader);
    const id = attributes.indexOf(Tag.id);
    if (draft && id >= 0) draft.text(idAction, attributes.fromOf(id), attributes.toOf(id));
  }

  private reset(code: number, id: string | null): void {
    const { rules, contents } = this;
    while (rules.length > 0) rules.pop();
    while (contents.length > 0) contents.pop();
    contents.push(Content.feature);
    this.textAction = null;
    this.state.draft = null;
    this.state.begin(code, id);
  }

  /** Begins the element that was opened last. @returns whether its text is wanted */
  open(code: number, reader: XmlReader): boolean {
    const { state, contents } = this;
    const { codes } = state;
    const parent = codes[codes.length - 1]!;
    if (reader.attributes.count > 0) this.dropAttributes(code, reader, parent);
    codes.push(code);
    const rule = findRule(contents[contents.length - 1]!, code, state, reader);
    this.rules.push(rule);
    contents.push(contentOf(rule, code));
    if (!rule.isRepeatable) state.draft?.discard();
    this.textAction = rule.open(state, reader, code, parent);
    return this.textAction !== null;
  }

  /** Reports the attributes of an element that are not read, unless the element is left out itself. */
  private dropAttributes(code: number, reader: XmlReader, parent?: number): void {
    const content = this.contents.at(-1);
    const isData = parent === Tag.ExtendedData || parent === Tag.Metadata;
    if (code === 0 || (code === Tag.foreign && !isData) || content === Content.skipped) return;
    if (content === Content.style && !this.state.withStyles) return;
    this.state.dropAttributes(code, reader);
  }

  /** Whether tags within the wanted text belong to it, as in HTML that is not in a CDATA section. */
  get keepsMarkup(): boolean {
    return this.rules.at(-1)!.keepsMarkup;
  }

  /**
   * Ends an element. Where its text is wanted, it is the first `length` bytes of the reader's content.
   * @returns whether the element is the feature itself
   */
  close(reader: XmlReader, length: number, wanted: boolean): boolean {
    const { state } = this;
    const { codes } = state;
    const code = codes.pop()!;
    const rule = this.rules.pop();
    this.contents.pop();
    if (!rule) return true;
    if (wanted) this.useText(this.textAction!, reader, length);
    else rule.close?.(state, code, codes[codes.length - 1]!);
    return false;
  }

  private useText(action: FeatureAction, reader: XmlReader, length: number): void {
    const { draft } = this.state;
    if (draft) {
      if (action.replay === Replay.repeat) {
        draft.text(action, this.textFrom, reader.tokenFrom, action.applyRaw !== null);
      } else if (action.replay === Replay.never) draft.discard();
    }
    action.apply(this.state, reader.content.bytes, 0, length);
  }

  /**
   * Uses the whole text of the innermost element as it is written, without a copy of it.
   * @returns false, with nothing used, where the text needs decoding or repair, or its element has no such text
   */
  useRawText(bytes: Buffer, from: number, to: number): boolean {
    const { applyRaw } = this.textAction!;
    return applyRaw === null ? false : applyRaw(this.state, bytes, from, to);
  }

  /**
   * Reads the feature that a template matched, whose texts are in `bytes`: the fast path, which replays the actions of the
   * grammar's rules.
   * @returns false where the feature has to be read tag by tag
   */
  repeat(template: XmlRecordTemplate<FeatureAction>, bytes: Buffer): boolean {
    const { state } = this;
    const { count, actions, from, to } = template;
    this.reset(Tag.Placemark, null);
    state.record.useBytes(bytes);
    for (let at = 0; at < count; at++) {
      const action = actions[at]!;
      if (action.applyRaw === null) action.apply(state, bytes, from[at]!, to[at]!);
      else if (!action.applyRaw(state, bytes, from[at]!, to[at]!)) return false;
    }
    state.finish();
    return true;
  }

  /** Ends the feature: adds to the record what depends on all of it. */
  finish(): void {
    this.state.draft = null;
    this.state.finish();
  }
}
