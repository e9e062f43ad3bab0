/** What texts of GPX elements do. Ordinary reading and record templates apply the same actions. */

import { parseNumber } from "../../shared/text/parse-number.js";
import { standardFields } from "../elements.js";
import type { ParseContext } from "./parse-context.js";
import type { ValuePath } from "./paths.js";

/** Uses a text, UTF-8 without the white space around it. */
type ApplyText = (context: ParseContext, bytes: Buffer, from: number, to: number) => void;

export class TextAction {
  constructor(
    readonly apply: ApplyText,
    /** Whether the action depends on the open tags alone, so that a record template can contain it. */
    readonly isRepeatable: boolean,
  ) {}
}

const repeatable = (apply: ApplyText): TextAction => new TextAction(apply, true);
const once = (apply: ApplyText): TextAction => new TextAction(apply, false);

/** The attributes `lon` and `lat` of a point. */
export const longitudeAction = repeatable((context, bytes, from, to) => {
  context.longitude = parseNumber(bytes, from, to);
});
export const latitudeAction = repeatable((context, bytes, from, to) => {
  context.latitude = parseNumber(bytes, from, to);
});

export const heightAction = repeatable((context, bytes, from, to) => {
  context.height = parseNumber(bytes, from, to);
  if (Number.isNaN(context.height) && to > from) context.visitor.badHeight();
});

/** By the index in `standardFields`. */
export const standardActions = standardFields.map((_, index) =>
  repeatable((context, bytes, from, to) => {
    if (context.inPoint) context.visitor.pointStandard(index, bytes, from, to);
    else context.visitor.standard(index, bytes, from, to);
  }),
);

/** The action of an element in extensions. */
export const createExtensionAction = (path: ValuePath): TextAction =>
  repeatable((context, bytes, from, to) => context.extensions.pass(path, bytes, from, to));

export const linkTextAction = once((context, bytes, from, to) => {
  context.link().text = bytes.toString("utf8", from, to);
});
export const linkTypeAction = once((context, bytes, from, to) => {
  context.link().type = bytes.toString("utf8", from, to);
});
export const linkHrefAction = once((context, bytes, from, to) => {
  context.link().href = bytes.toString("utf8", from, to);
});

/** The geometry type before our writer converted it to one of GPX. */
export const geometryTypeAction = once(({ visitor }) => visitor.geometryType());

/** The subclass of a position between two route points. */
export const subclassAction = once((context, bytes, from, to) =>
  context.extensions.subclass(bytes.toString("utf8", from, to)),
);
