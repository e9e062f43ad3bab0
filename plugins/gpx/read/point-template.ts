import { isSpace } from "../../shared/xml/bytes.js";
import { maxPairs, NumberPairScanner } from "../../shared/xml/number-pairs.js";
import { XmlRecordTemplate } from "../../shared/xml/record-template.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { ElementCode } from "../elements.js";
import { latitudeAction, longitudeAction, type TextAction } from "./actions.js";
import type { ParseContext } from "./parse-context.js";

/**
 * The fast path for waypoints, or for points of lines, that are written like one before: replays the actions that the
 * grammar's rules applied to it.
 */
export class PointTemplate {
  private readonly template = new XmlRecordTemplate<TextAction>();
  private readonly pairs: NumberPairScanner<TextAction>;
  /** Of the point that matched last, the number of leading actions that read its position. */
  private places = 0;

  constructor(private readonly context: ParseContext) {
    this.pairs = new NumberPairScanner(context.visitor.wantsPlaces);
  }

  /** Whether the next point matches. Its position is then in the context; a position that is not a number does not match. */
  matches(): boolean {
    const { context, template } = this;
    const { reader } = context;
    if (!reader.matches(template)) return false;
    const { count, actions, from, to } = template;
    const { wantsPlaces } = context.visitor;
    context.longitude = context.latitude = Number.NaN;
    // The attributes precede all other texts.
    let at = 0;
    for (; at < count; at++) {
      const action = actions[at]!;
      if (action !== longitudeAction && action !== latitudeAction) break;
      if (wantsPlaces) action.apply(context, reader.bytes, from[at]!, to[at]!);
    }
    this.places = at;
    if (!wantsPlaces || !(Number.isNaN(context.longitude) || Number.isNaN(context.latitude))) return true;
    reader.back();
    return false;
  }

  /** Applies the actions of the point that matched, after those of its position. */
  repeat(): void {
    const { context, template } = this;
    const { bytes } = context.reader;
    const { count, actions, from, to } = template;
    context.height = Number.NaN;
    for (let at = this.places; at < count; at++) {
      let start = from[at]!;
      let end = to[at]!;
      // Only a text in a CDATA section still has white space around it.
      while (start < end && isSpace(bytes[start]!)) start++;
      while (end > start && isSpace(bytes[end - 1]!)) end--;
      actions[at]!.apply(context, bytes, start, end);
    }
  }

  /** Reads the points after the one that matched, where all of them have a position and nothing else. */
  repeatPlaces(): void {
    const { context, template, pairs } = this;
    if (template.count !== 2 || !pairs.takes(template)) return;
    const { reader, visitor } = context;
    const { numbers } = pairs;
    const x = template.actions[0] === longitudeAction ? 0 : 1;
    for (let count = maxPairs; count === maxPairs; ) {
      count = reader.follow(pairs);
      for (let k = 0; k < count && visitor.wantsPlaces; k++) {
        if (visitor.beginPoint(numbers[2 * k + x]!, numbers[2 * k + 1 - x]!)) visitor.endPoint(Number.NaN);
      }
    }
  }

  /** After the start tag of a point. @returns the builder that records its actions; null for none */
  begin(): XmlTemplateBuilder<TextAction> | null {
    const { attributes, tokenFrom } = this.context.reader;
    this.template.begin(tokenFrom);
    const { draft } = this.template;
    if (!draft) return null;
    const x = attributes.indexOf(ElementCode.lon);
    const y = attributes.indexOf(ElementCode.lat);
    const places = [[x, longitudeAction] as const, [y, latitudeAction] as const];
    if (x < 0 || y < 0) draft.discard();
    else
      for (const [index, action] of x < y ? places : places.reverse()) {
        draft.text(action, attributes.fromOf(index), attributes.toOf(index));
      }
    return draft;
  }

  /** After the end tag of a point. */
  end(): void {
    this.template.end(this.context.reader.bytes, this.context.reader.tokenTo);
  }
}
