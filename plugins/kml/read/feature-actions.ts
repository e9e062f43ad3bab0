/** What tags and texts of KML features do. Ordinary reading and record templates apply the same actions. */

import { Tag, textElements } from "../vocabulary.js";
import type { FeatureState } from "./feature-state.js";
import { isPlainGeometry, isTrueFlag, replayOf } from "./geometry-reader.js";
import { Replay } from "./replay.js";
import type { StyleProperties } from "./style-reader.js";

/** Uses a text, UTF-8; for an action of a tag, the range is empty. */
type Apply = (state: FeatureState, bytes: Buffer, from: number, to: number) => void;
/** Uses a text as it is written in the document. @returns false, with nothing used, where it needs decoding or repair */
type ApplyRaw = (state: FeatureState, bytes: Buffer, from: number, to: number) => boolean;

export class FeatureAction {
  constructor(
    readonly apply: Apply,
    readonly replay: number = Replay.repeat,
    readonly applyRaw: ApplyRaw | null = null,
  ) {}
}

/** An action that uses its text as a string. */
const word = (use: (state: FeatureState, text: string) => void, replay?: number): FeatureAction =>
  new FeatureAction((state, bytes, from, to) => use(state, bytes.toString("utf8", from, to).trim()), replay);

/** The same, applied only to a text that is not empty. */
const filledWord = (use: (state: FeatureState, text: string) => void, replay?: number): FeatureAction =>
  new FeatureAction((state, bytes, from, to) => {
    const text = bytes.toString("utf8", from, to).trim();
    if (text !== "") use(state, text);
  }, replay);

/** An action for each element code, made once. */
function byCode(create: (code: number) => FeatureAction): (code: number) => FeatureAction {
  const known: (FeatureAction | undefined)[] = [];
  return (code) => {
    known[code] ??= create(code);
    return known[code];
  };
}

/** An action for each element and its parent. */
function byParent(create: (code: number, parent: number) => FeatureAction): typeof create {
  const known: ((code: number) => FeatureAction)[] = [];
  return (code, parent) => {
    known[parent] ??= byCode((child) => create(child, parent));
    return known[parent](code);
  };
}

/** The attribute `id` of the feature. */
export const idAction = new FeatureAction((state, bytes, from, to) => {
  state.record.id = bytes.toString("utf8", from, to) || null;
});

/** A child element whose text is the value of a field. */
export const fieldAction = byCode((code) => {
  const field = textElements[code]!;
  return new FeatureAction((state, bytes, from, to) => {
    if (to > from) state.record.element(field, bytes, from, to);
  });
});

/** A value of the feature's data. */
export const createDataAction = (name: string): FeatureAction =>
  new FeatureAction((state, bytes, from, to) => state.record.data(name, bytes, from, to));

/** A value of data without a name, which the display name before it names. */
export const displayedDataAction = (name: string): FeatureAction =>
  new FeatureAction((state, bytes, from, to) => state.record.data(name, bytes, from, to), Replay.never);

export const displayNameAction = word((state, text) => state.takeDisplayName(text), Replay.never);

/** The data that follow are not of a Schema. */
export const noSchemaAction = new FeatureAction(({ record }) => {
  record.schema = "";
});

/** The data that follow are of the Schema with this id. */
export const schemaAction = (id: string): FeatureAction => new FeatureAction(({ record }) => record.useSchema(id));

export const arrayValueAction = word((state, text) => state.addArrayValue(text), Replay.never);

export const visibilityAction = filledWord(({ record }, text) => record.elementFlag("visibility", isTrueFlag(text)));
export const openAction = filledWord(({ record }, text) => record.elementFlag("open", isTrueFlag(text)));
export const styleUrlAction = filledWord((state, text) => {
  state.styleUrl = text;
});
export const authorAction = filledWord(({ record }, text) => record.elementText("author", text));
export const timestampAction = filledWord(({ record }, text) => record.elementText("timestamp", text));
export const iconAction = filledWord(({ record }, text) => record.styleText("icon", text), Replay.never);

export const beginTimespanAction = new FeatureAction((state) => {
  state.begins = state.ends = "";
});
export const timespanBeginAction = word((state, text) => {
  state.begins = text;
});
export const timespanEndAction = word((state, text) => {
  state.ends = text;
});
export const endTimespanAction = new FeatureAction((state) => state.endTimespan());

/** The key of a pair in a StyleMap, and its style. */
export const pairKeyAction = word((state, text) => state.takePairKey(text), Replay.never);
export const pairStyleAction = word((state, text) => state.takePairStyle(text), Replay.never);

/** The text of an element in a style. */
export const styleTextAction = byCode((code) => word((state, text) => state.styles.close(code, text), Replay.omit));

/** A style of the feature's own. One with an id is also shared, so that a template cannot repeat it. */
export const ownStyleAction = (style: StyleProperties, id: string | null): FeatureAction =>
  new FeatureAction((state) => state.useStyle(style), id === null ? Replay.repeat : Replay.never);

/** Reports an element or attribute that many features have and that is left out. */
export const dropAction = (name: string): FeatureAction => new FeatureAction(({ dropped }) => dropped.add(name));

/** Begins a geometry that is a child of the feature. */
export const beginGeometryAction = byCode(
  (code) =>
    new FeatureAction(({ geometry }) => geometry.begin(code), isPlainGeometry(code) ? Replay.repeat : Replay.never),
);

/** Begins an element in a geometry. */
export const openInGeometryAction = byParent(
  (code, parent) => new FeatureAction(({ geometry }) => geometry.open(code, parent), replayOf(code, parent)),
);

/** Ends a geometry or an element in one. */
export const endGeometryAction = byParent(
  (code, parent) =>
    new FeatureAction(
      ({ geometry }) => geometry.end(code, parent),
      isPlainGeometry(code) ? Replay.repeat : Replay.omit,
    ),
);

/** The text of an element in a geometry: coordinates, a position of a track, or a word. */
export const geometryTextAction = byParent((code, parent) => {
  if (code === Tag.coordinates) {
    return new FeatureAction(
      ({ geometry }, bytes, from, to) => geometry.positions(parent, bytes, from, to),
      Replay.repeat,
      ({ geometry }, bytes, from, to) => geometry.plainPositions(parent, bytes, from, to),
    );
  }
  if (code === Tag.coord)
    return new FeatureAction(({ geometry }, bytes, from, to) => geometry.trackPosition(bytes, from, to));
  return word(({ geometry }, text) => geometry.word(code, parent, text));
});
