import { compileGrammar } from "../../shared/xml/grammar.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { Tag, textElements } from "../vocabulary.js";
import {
  arrayValueAction,
  authorAction,
  beginGeometryAction,
  beginTimespanAction,
  displayedDataAction,
  displayNameAction,
  dropAction,
  endGeometryAction,
  endTimespanAction,
  type FeatureAction,
  fieldAction,
  geometryTextAction,
  iconAction,
  noSchemaAction,
  openAction,
  openInGeometryAction,
  pairKeyAction,
  pairStyleAction,
  schemaAction,
  styleTextAction,
  styleUrlAction,
  timespanBeginAction,
  timespanEndAction,
  timestampAction,
  visibilityAction,
} from "./feature-actions.js";
import type { FeatureState } from "./feature-state.js";
import { isDroppedIn, isGeometry, isShape } from "./geometry-reader.js";

/** The kinds of content that elements have: what the grammar's paths begin with. */
export const Content = {
  /** Of a Placemark, a GroundOverlay, or a placemark of a type of its own. */
  feature: 0,
  author: 1,
  TimeStamp: 2,
  TimeSpan: 3,
  ExtendedData: 4,
  Data: 5,
  SchemaData: 6,
  SimpleArrayData: 7,
  StyleMap: 8,
  Pair: 9,
  /** Of the icon of an overlay. */
  Icon: 10,
  /** Of a style and the elements in it. */
  style: 11,
  /** Of a geometry, and of all other elements. */
  geometry: 12,
  /** Of an element that KML does not have: geometries in it are read. */
  unknown: 13,
  skipped: 14,
} as const;

/** What an element of a feature means. */
export interface FeatureRule {
  /** The kind of content that the rules of its children are listed under; null: the one of its code. */
  readonly content: number | null;
  /** Whether a feature with this element in it can become a template. */
  readonly isRepeatable: boolean;
  /** Whether tags within the text belong to it, as in HTML that is not in a CDATA section. */
  readonly keepsMarkup: boolean;
  /** Chooses another rule, by what more than the path decides. */
  readonly choose: ((state: FeatureState, reader: XmlReader, code: number) => FeatureRule) | null;
  /** Handles the start tag. @returns the action for the element's text; null where the text is not read */
  readonly open: (state: FeatureState, reader: XmlReader, code: number, parent: number) => FeatureAction | null;
  /** Handles the end tag of an element whose text is not read. */
  readonly close: ((state: FeatureState, code: number, parent: number) => void) | null;
}

const element = (open: FeatureRule["open"], rule: Partial<Omit<FeatureRule, "open">> = {}): FeatureRule => ({
  content: null,
  isRepeatable: true,
  keepsMarkup: false,
  choose: null,
  close: null,
  ...rule,
  open,
});

const text = (action: FeatureAction): FeatureRule => element(() => action);
const group = (isRepeatable = true, content: number | null = null): FeatureRule =>
  element(() => null, { isRepeatable, content });

const skip = group(true, Content.skipped);
const ignored = group();

/** An element of which nothing is kept. */
const dropped = element((state, reader) => {
  state.drop(reader.name.text);
  return null;
});

const field = element((_state, _reader, code) => fieldAction(code), { keepsMarkup: true });
const snippet = element(
  (state, reader, code) => {
    // The number of lines to show is no data, and many programs write it for each feature.
    if (reader.attributes.count > 0 && reader.attributes.get("maxLines") !== null) state.apply(dropAction("maxLines"));
    return fieldAction(code);
  },
  { keepsMarkup: true },
);

const link = element(
  (state, reader) => {
    const href = reader.attributes.get("href");
    if (href) state.record.elementText("link", href);
    return null;
  },
  { isRepeatable: false },
);

const timespan = element(
  (state) => {
    state.apply(beginTimespanAction);
    return null;
  },
  { close: (state) => state.apply(endTimespanAction) },
);

const data = element((state, reader) => {
  state.dataName = readKeywordAttribute(reader, Tag.name);
  state.displayName = null;
  state.apply(noSchemaAction);
  return null;
});

const dataValue = element(
  (state) =>
    state.dataName === null ? displayedDataAction(state.displayName ?? "") : state.dataAction(state.dataName),
  { keepsMarkup: true },
);

const schemaData = element((state, reader) => {
  state.apply(schemaAction(state.schemaIdOf(readKeywordAttribute(reader, Tag.schemaUrl) ?? "")));
  return null;
});

const simpleData = element(
  (state, reader) => {
    state.dataName = readKeywordAttribute(reader, Tag.name);
    return state.dataAction(state.dataName ?? "");
  },
  { keepsMarkup: true },
);

const simpleArrayData = element(
  (state, reader) => {
    state.dataName = readKeywordAttribute(reader, Tag.name);
    state.beginArray();
    return null;
  },
  { isRepeatable: false, close: (state) => state.endArray() },
);

/** An element whose name is that of a field. */
const namedData = element(
  (state, reader) => {
    state.dataName = reader.name.local;
    return state.dataAction(state.dataName);
  },
  { keepsMarkup: true },
);

const style = element(
  (state, reader) => {
    state.beginStyle(reader);
    return null;
  },
  { content: Content.style, close: (state) => state.endStyle() },
);

const inStyle = element(({ styles }, reader, code) => (styles.open(code, reader) ? styleTextAction(code) : null), {
  content: Content.style,
  close: ({ styles }, code) => styles.close(code, ""),
});

const normalPair = element((state) => {
  state.isNormalPair = true;
  return null;
});

/** An element of the normal pair of a StyleMap. */
const ofNormalPair = (rule: FeatureRule): FeatureRule => ({
  ...rule,
  choose: ({ isNormalPair }) => (isNormalPair ? rule : ignored),
});

const endGeometry: FeatureRule["close"] = (state, code, parent) => state.apply(endGeometryAction(code, parent));

/** A geometry that is a child of the feature. */
const geometry = element(
  (state, _reader, code) => {
    state.apply(beginGeometryAction(code));
    return null;
  },
  { close: endGeometry },
);

/** An element in a geometry. */
const inGeometry = element(
  (state, reader, code, parent) => {
    if (isDroppedIn(code, parent)) state.drop(reader.name.text);
    state.apply(openInGeometryAction(code, parent));
    return state.geometry.wantsText ? geometryTextAction(code, parent) : null;
  },
  { close: endGeometry },
);

/** An element that KML does not have. */
const unknown = element(
  (state, reader) => {
    state.drop(reader.name.text);
    return null;
  },
  { content: Content.unknown },
);

const inUnknown = element(() => null, {
  content: Content.unknown,
  close: endGeometry,
  choose({ geometry: { isOpen } }, _reader, code) {
    if (isOpen) return inGeometry;
    return isShape(code) ? geometry : inUnknownElement;
  },
});
const inUnknownElement: FeatureRule = { ...inUnknown, choose: null };

/** A child of a feature that is neither an element with a rule nor a geometry. */
const otherChild = element(() => null, {
  choose({ codes, document }, reader, code) {
    if (isGeometry(code)) return geometry;
    if (codes[0] === Tag.typed && document.isTypedField(reader.name.local)) return namedData;
    return code === 0 ? unknown : droppedChild;
  },
});
const droppedChild: FeatureRule = { ...dropped, content: Content.skipped };

const textFields = Object.fromEntries(
  Object.entries(Tag).flatMap(([name, code]) => (textElements[code] === undefined ? [] : [[`feature/${name}`, field]])),
);

/**
 * The grammar of KML features: from element paths to rules. Both ordinary reading and record templates work by it: a
 * template replays the actions that the rules apply.
 */
const table: Readonly<Record<string, FeatureRule>> = {
  ...textFields,
  "feature/Snippet": snippet,
  "feature/visibility": text(visibilityAction),
  "feature/open": text(openAction),
  "feature/styleUrl": text(styleUrlAction),
  "feature/author": group(),
  "feature/link": link,
  "feature/TimeStamp": group(),
  "feature/TimeSpan": timespan,
  "feature/ExtendedData": group(),
  "feature/Metadata": group(false, Content.ExtendedData),
  "feature/Style": style,
  "feature/StyleMap": group(false),
  "feature/Icon": group(false, Content.Icon),
  "feature/*": otherChild,

  "author/name": text(authorAction),
  "author/*": dropped,
  "TimeStamp/when": text(timestampAction),
  "TimeStamp/*": group(),
  "TimeSpan/begin": text(timespanBeginAction),
  "TimeSpan/end": text(timespanEndAction),
  "TimeSpan/*": group(),
  "Icon/href": text(iconAction),
  "Icon/*": dropped,

  "ExtendedData/Data": data,
  "ExtendedData/SchemaData": schemaData,
  // Elements of other namespaces are data, too (OGC 07-147r2, 9.2.4).
  "ExtendedData/foreign": namedData,
  "ExtendedData/*": dropped,
  "Data/value": dataValue,
  "Data/displayName": text(displayNameAction),
  "Data/*": group(),
  "SchemaData/SimpleData": simpleData,
  "SchemaData/SimpleArrayData": simpleArrayData,
  "SchemaData/*": dropped,
  "SimpleArrayData/value": text(arrayValueAction),
  "SimpleArrayData/*": group(),

  "StyleMap/*": normalPair,
  "Pair/key": text(pairKeyAction),
  "Pair/styleUrl": ofNormalPair(text(pairStyleAction)),
  "Pair/Style": ofNormalPair(style),
  "Pair/*": group(),
  "style/*": inStyle,

  "geometry/*": inGeometry,
  "unknown/*": inUnknown,
  "skipped/*": skip,
};

const contents = compileGrammar(Content, Tag, table, skip);

/** The contents of elements whose rule names none. */
const contentByCode: readonly number[] = Array.from({ length: Math.max(...Object.values(Tag)) + 1 }, (_, code) => {
  if (code === Tag.Metadata) return Content.ExtendedData;
  const named = Object.entries(Tag).find(([name, each]) => each === code && name in Content && name !== "Icon");
  return named ? Content[named[0] as keyof typeof Content] : Content.geometry;
});

/** The content of the element with this rule and code. */
export const contentOf = (rule: FeatureRule, code: number): number =>
  rule.content ?? contentByCode[code] ?? Content.geometry;

/** The rule for the element opened last, in content of this kind. */
export function findRule(content: number, code: number, state: FeatureState, reader: XmlReader): FeatureRule {
  const { rules, other } = contents[content]!;
  const rule = rules[code] ?? other;
  return rule.choose ? rule.choose(state, reader, code) : rule;
}

/** Returns the value of an attribute that many features repeat. */
function readKeywordAttribute(reader: XmlReader, code: number): string | null {
  const index = reader.attributes.indexOf(code);
  return index < 0 ? null : reader.attributes.keyword(index);
}
