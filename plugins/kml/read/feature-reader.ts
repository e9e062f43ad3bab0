import type { FieldType } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import type { XmlRecordTemplate } from "../../shared/xml/record-template.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { readAttributes, Tag, textElements } from "../vocabulary.js";
import { type ArrayValue, parseArrayValue } from "./array-value.js";
import { DroppedReporter } from "./dropped-reporter.js";
import { FeatureRecord, ValueSource } from "./feature-record.js";
import {
  GeometryReader,
  holdsCoordinates,
  isBoundary,
  isDroppedIn,
  isGeometry,
  isPlainGeometry,
  isShape,
  isTrueFlag,
} from "./geometry-reader.js";
import { createSlotAction, type FeatureSlotAction, FeatureSlotKind } from "./slot-actions.js";
import { type StyleProperties, StyleReader } from "./style-reader.js";

/** What a feature's reading needs of its document. */
export interface DocumentContext {
  /** What the ids of Schemas are known with: another text for each document of an archive. */
  readonly scope?: string;
  /** The properties of the shared style with this id. */
  style(id: string): StyleProperties | undefined;
  /** The type that a Schema declares for the values of an array; undefined for none. */
  arrayType(schema: string, name: string): FieldType | undefined;
  /** Whether a typed placemark has a field of this name (KML 2.0 and 2.1). */
  isTypedField(name: string): boolean;
  /** A style that a feature has for itself may have an id, and be shared. */
  ownStyle(id: string | null, style: StyleProperties): void;
}

/** Children of a feature that say nothing themselves, or not by their text. */
const groupTags = new Set<number>([
  Tag.author,
  Tag.StyleMap,
  Tag.TimeStamp,
  Tag.TimeSpan,
  Tag.ExtendedData,
  Tag.Metadata,
  Tag.Icon,
]);
/** Those of them that a stencil can have in it, and elements within groups that none has. */
const templateGroups = new Set<number>([Tag.author, Tag.TimeStamp, Tag.Style, Tag.ExtendedData]);
const rareTags = new Set<number>([Tag.displayName, Tag.SimpleArrayData]);
/** Whether an element of a geometry stands where KML has it, so that a stencil can have it in it. */
function isTemplateElement(code: number, parent: number): boolean {
  if (code === Tag.coordinates) return holdsCoordinates(parent);
  if (parent === Tag.MultiGeometry) return code !== 0 && (!isGeometry(code) || isPlainGeometry(code));
  return code === Tag.LinearRing && isBoundary(parent);
}

const isWordTag = (code: number): boolean => code === Tag.visibility || code === Tag.open || code === Tag.styleUrl;

/**
 * Reads one feature from the tags and texts inside of it into a record. `open` tells whether the element's text is
 * wanted; `close` gets it, without the white space that only indents it.
 */
export class FeatureReader {
  readonly record = new FeatureRecord();
  /** Takes down what the feature available does, for those that are like it; null where no one wants to know. */
  draft: XmlTemplateBuilder<FeatureSlotAction> | null = null;
  /** Where the text that is wanted begins in the reader's bytes. */
  textFrom = 0;
  private readonly geometry: GeometryReader;
  private readonly styles = new StyleReader();
  /** The elements that are open, the feature's own first. */
  private readonly stack: number[] = [];
  private root = 0;
  /** The depth of the `<Style>` that is read, 0 for none. */
  private styleDepth = 0;
  private styleId: string | null = null;
  private ownStyle: StyleProperties | null = null;
  /** Within StyleMap: the pair available is the normal one. */
  private isNormal = false;
  private styleUrl: string | null = null;
  /** The URL of the Schema that data were by last, and its id: one string serves all features. */
  private schemaUrl = "";
  private schemaId = "";
  private dataName: string | null = null;
  private displayName: string | null = null;
  private begins = "";
  private ends = "";
  private readonly leftOut: DroppedReporter;
  /** The values of the gx:SimpleArrayData available, outside of tracks. */
  private list: ArrayValue[] = [];
  /** The type of the values of arrays by this Schema. */
  private listType: FieldType | undefined;

  constructor(
    private readonly surroundings: DocumentContext,
    private readonly context: Pick<ReadContext, "reportNotice" | "reportLoss">,
    private readonly withStyles: boolean,
  ) {
    this.leftOut = new DroppedReporter(context);
    this.geometry = new GeometryReader(this.record, context);
  }

  /** Begins a feature; `code` is that of its element. */
  begin(code: number, id: string | null): void {
    this.record.reset(id);
    this.geometry.reset();
    while (this.stack.length > 0) this.stack.pop();
    this.stack.push(code);
    this.root = code;
    this.styleDepth = 0;
    this.ownStyle = null;
    this.styleUrl = null;
    if (code === Tag.GroundOverlay) this.record.text(ValueSource.element, "@geometry-type", "groundoverlay");
  }

  open(code: number, reader: XmlReader): boolean {
    const { stack } = this;
    const parent = stack[stack.length - 1]!;
    stack.push(code);
    if (reader.attributes.count > 0) this.leaveAttributes(code, reader);
    if (this.styleDepth > 0) return this.styles.open(code, reader);
    if (stack.length === 2) return this.openChild(code, reader);
    if (stack[1] === Tag.leftOut) return false;
    if (stack[1] === Tag.unknown && !this.geometry.isOpen) {
      if (isShape(code)) this.geometry.begin(code);
      return false;
    }
    if (this.draft) this.draftOpening(this.draft, code, parent);
    switch (parent) {
      case Tag.SchemaData:
        return this.openSchemaData(code, reader);
      case Tag.author:
        if (code !== Tag.name) this.leave(reader.name.text);
        return code === Tag.name;
      case Tag.TimeStamp:
        return code === Tag.when;
      case Tag.TimeSpan:
        return code === Tag.begin || code === Tag.end;
      case Tag.ExtendedData:
      case Tag.Metadata:
        return this.openData(code, reader);
      case Tag.Data:
        return code === Tag.value || code === Tag.displayName;
      case Tag.SimpleArrayData:
        return code === Tag.value;
      case Tag.StyleMap:
        this.isNormal = true;
        return false;
      case Tag.Pair:
        if (code === Tag.Style && this.isNormal) this.beginStyle(reader);
        return code === Tag.key || (code === Tag.styleUrl && this.isNormal);
      case Tag.Icon:
        if (stack.length === 3 && code !== Tag.href) this.leave(reader.name.text);
        return code === Tag.href && stack.length === 3;
      default:
        if (isDroppedIn(code, parent)) this.leave(reader.name.text);
        return this.geometry.open(code, parent);
    }
  }

  /** A child of the feature itself. */
  private openChild(code: number, reader: XmlReader): boolean {
    if (code === Tag.Snippet && reader.attributes.count > 0) this.openSnippet(reader);
    if (textElements[code] !== undefined || isWordTag(code)) return true;
    if (this.draft) this.draftChild(this.draft, code);
    if (isGeometry(code)) this.geometry.begin(code);
    else if (code === Tag.Style) this.beginStyle(reader);
    else if (code === Tag.link) this.link(reader);
    else if (groupTags.has(code)) {
      this.begins = "";
      this.ends = "";
    } else if (this.root === Tag.typed && this.surroundings.isTypedField(reader.name.local)) {
      this.stack[1] = Tag.foreign;
      this.dataName = reader.name.local;
      return true;
    } else {
      this.stack[1] = code === 0 ? Tag.unknown : Tag.leftOut;
      this.leave(reader.name.text);
    }
    return false;
  }

  /** Reports attributes of the element opened last that are not read; with the feature's own, `code` is its element's. */
  leaveAttributes(code: number, reader: XmlReader): void {
    const { attributes } = reader;
    const { stack } = this;
    // An element of another namespace is reported itself, but for data.
    const parent = stack[stack.length - 2];
    if (code === Tag.foreign && parent !== Tag.ExtendedData && parent !== Tag.Metadata) return;
    const kept = readAttributes[code];
    const isUnread = (index: number) => kept === undefined || !kept.has(attributes.names[index]!.text);
    let unread = false;
    for (let a = 0; a < attributes.count; a++) unread ||= isUnread(a);
    // Of an element that is left out, or of styles that are not wanted, nothing is told.
    if (!unread || code === 0 || this.stack[1] === Tag.leftOut || (this.styleDepth > 0 && !this.withStyles)) return;
    this.draft?.discard();
    this.leftOut.attributes(reader, kept);
  }

  /** Reports an element of which nothing is kept. */
  private leave(name: string): void {
    this.draft?.discard();
    this.leftOut.add(name);
  }

  /** How many lines of it are shown is no data; many programs say it with each feature. */
  private openSnippet(reader: XmlReader): void {
    if (reader.attributes.get("maxLines") === null) return;
    this.leftOut.add("maxLines");
    this.draft?.tag(createSlotAction(FeatureSlotKind.leftOut, 0, 0, "maxLines"));
  }

  /** Takes down what a child of the feature does; what is rare, and notices, are no part of a stencil. */
  private draftChild(draft: XmlTemplateBuilder<FeatureSlotAction>, code: number): void {
    if (isPlainGeometry(code)) draft.tag(createSlotAction(FeatureSlotKind.geometry, code));
    else if (code === Tag.TimeSpan) draft.tag(createSlotAction(FeatureSlotKind.timespan));
    else if (!templateGroups.has(code)) draft.discard();
  }

  private draftOpening(draft: XmlTemplateBuilder<FeatureSlotAction>, code: number, parent: number): void {
    if (rareTags.has(code)) draft.discard();
    else if (code === Tag.Data) draft.tag(createSlotAction(FeatureSlotKind.noSchema));
    else if (code === Tag.coordinates || isGeometry(code) || parent === Tag.MultiGeometry) {
      if (!isTemplateElement(code, parent)) draft.discard();
      draft.tag(createSlotAction(FeatureSlotKind.child, code, parent));
    }
  }

  private link(reader: XmlReader): void {
    const href = reader.attributes.get("href");
    if (href) this.record.text(ValueSource.element, "link", href);
  }

  private beginStyle(reader: XmlReader): void {
    this.styleDepth = this.stack.length;
    this.styleId = reader.attributes.get("id");
    this.styles.begin();
  }

  private openData(code: number, reader: XmlReader): boolean {
    if (code === Tag.Data) {
      this.dataName = readKeywordAttribute(reader, Tag.name);
      this.displayName = null;
      this.record.schema = "";
    } else if (code === Tag.SchemaData) {
      const url = readKeywordAttribute(reader, Tag.schemaUrl) ?? "";
      if (url !== this.schemaUrl) this.schemaId = (this.surroundings.scope ?? "") + parseStyleUrl(url);
      this.schemaUrl = url;
      this.record.useSchema(this.schemaId);
      this.draft?.tag(createSlotAction(FeatureSlotKind.schema, 0, 0, this.schemaId));
    }
    // Elements of other namespaces are data, too (OGC 07-147r2, 9.2.4).
    if (code !== Tag.foreign) {
      if (code !== Tag.Data && code !== Tag.SchemaData) this.leave(reader.name.text);
      return false;
    }
    this.dataName = reader.name.local;
    return true;
  }

  private openSchemaData(code: number, reader: XmlReader): boolean {
    if (code === Tag.SimpleData || code === Tag.SimpleArrayData) this.dataName = readKeywordAttribute(reader, Tag.name);
    else this.leave(reader.name.text);
    if (code === Tag.SimpleArrayData) {
      this.list = [];
      this.listType = this.surroundings.arrayType(this.record.schema, this.dataName ?? "");
    }
    return code === Tag.SimpleData;
  }

  /** Whether tags within the text that is wanted belong to it: to HTML that is no CDATA. */
  get keepsMarkup(): boolean {
    const { stack } = this;
    const code = stack[stack.length - 1]!;
    const parent = stack[stack.length - 2];
    if (code === Tag.SimpleData || code === Tag.foreign || code === Tag.value) return parent !== Tag.SimpleArrayData;
    return textElements[code] !== undefined && parent === this.root;
  }

  /**
   * Ends an element. The reader's content holds its text where it was wanted, `length` bytes of it.
   * @returns whether it was the feature itself
   */
  close(reader: XmlReader, length: number, wanted: boolean): boolean {
    const { stack } = this;
    const code = stack.pop()!;
    if (stack.length === 0) return true;
    if (this.styleDepth > 0) {
      if (stack.length + 1 === this.styleDepth) this.endStyle();
      else this.styles.close(code, wanted ? contentText(reader, length) : "");
    } else if (wanted) this.take(code, stack[stack.length - 1]!, reader, length);
    else if (code === Tag.TimeSpan && stack.length === 1) {
      this.endTimespan();
      this.draft?.tag(createSlotAction(FeatureSlotKind.endTimespan));
    } else if (code === Tag.SimpleArrayData) this.endArray();
    else if (stack[1] !== Tag.leftOut) {
      const parent = stack[stack.length - 1]!;
      this.geometry.end(code, parent);
      if (isPlainGeometry(code)) this.draft?.tag(createSlotAction(FeatureSlotKind.end, code, parent));
    }
    return false;
  }

  /**
   * Reads a feature that a stencil fits, with its texts in `bytes`.
   * @returns false where it is to be read tag by tag all the same
   */
  repeat(stencil: XmlRecordTemplate<FeatureSlotAction>, bytes: Buffer): boolean {
    const { record, geometry } = this;
    const { count, actions, from, to } = stencil;
    this.begin(Tag.Placemark, null);
    record.useBytes(bytes);
    for (let at = 0; at < count; at++) {
      const deed = actions[at]!;
      const start = from[at]!;
      const end = to[at]!;
      switch (deed.does) {
        case FeatureSlotKind.data:
          record.range(ValueSource.data, deed.name, start, end);
          break;
        case FeatureSlotKind.text:
          if (end > start) record.range(ValueSource.element, deed.name, start, end);
          break;
        case FeatureSlotKind.coordinates:
          if (!geometry.plainPositionsOf(deed.parent, bytes, start, end)) return false;
          break;
        case FeatureSlotKind.child:
          geometry.open(deed.code, deed.parent);
          break;
        case FeatureSlotKind.geometry:
          geometry.begin(deed.code);
          break;
        case FeatureSlotKind.end:
          geometry.end(deed.code, deed.parent);
          break;
        default:
          this.repeatRare(deed, bytes, start, end);
      }
    }
    this.finish();
    return true;
  }

  private repeatRare(
    { does, code, parent, name, style }: FeatureSlotAction,
    bytes: Buffer,
    from: number,
    to: number,
  ): void {
    switch (does) {
      case FeatureSlotKind.id:
        this.record.id = bytes.toString("utf8", from, to) || null;
        break;
      case FeatureSlotKind.word:
        this.takeWord(code, parent, bytes.toString("utf8", from, to).trim());
        break;
      case FeatureSlotKind.schema:
        this.record.useSchema(name);
        break;
      case FeatureSlotKind.noSchema:
        this.record.schema = "";
        break;
      case FeatureSlotKind.timespan:
        this.begins = this.ends = "";
        break;
      case FeatureSlotKind.endTimespan:
        this.endTimespan();
        break;
      case FeatureSlotKind.style:
        this.useStyle(style!);
        break;
      case FeatureSlotKind.leftOut:
        this.leftOut.add(name);
        break;
    }
  }

  /**
   * Takes the whole text of the innermost element where it is positions as the standard writes them, which needs no copy
   * of it. @returns false, with nothing taken, where it is anything else
   */
  coordinates(bytes: Uint8Array, from: number, to: number): boolean {
    const { stack } = this;
    const isList = this.styleDepth === 0 && stack[stack.length - 1] === Tag.coordinates;
    return isList && this.geometry.plainPositions(bytes, from, to);
  }

  private endStyle(): void {
    this.styleDepth = 0;
    const style = this.styles.finish();
    if (this.withStyles) for (const name of this.styles.leftOut) this.leave(name);
    this.surroundings.ownStyle(this.styleId, style);
    this.useStyle(style);
    this.draft?.tag(createSlotAction(FeatureSlotKind.style, 0, 0, "", style));
    // One that others may use is told to the document once.
    if (this.styleId !== null) this.draft?.discard();
  }

  private useStyle(style: StyleProperties): void {
    this.ownStyle = { ...this.ownStyle, ...style };
  }

  /** The text of an element. */
  private take(code: number, parent: number, reader: XmlReader, length: number): void {
    const { record } = this;
    if (this.draft) this.draftText(this.draft, code, parent, reader.tokenFrom);
    switch (code) {
      case Tag.SimpleData:
      case Tag.foreign:
        record.content(ValueSource.data, this.dataName ?? "", reader.content, length);
        return;
      case Tag.coordinates:
      case Tag.coord:
        this.geometry.positions(code, parent, reader.content, length);
        return;
      case Tag.value:
        if (parent === Tag.SimpleArrayData) this.takeArrayValue(contentText(reader, length));
        else record.content(ValueSource.data, this.dataName ?? this.displayName ?? "", reader.content, length);
        return;
    }
    const field = textElements[code];
    if (field !== undefined && parent === this.root) {
      if (length > 0) record.content(ValueSource.element, field, reader.content, length);
    } else this.takeWord(code, parent, contentText(reader, length));
  }

  /** In a track, there is a value for each position; elsewhere, the array is a value of the feature. */
  private takeArrayValue(text: string): void {
    const value = parseArrayValue(text, this.listType);
    if (this.stack.includes(Tag.Track)) this.geometry.arrayValue(this.dataName ?? "", value);
    else this.list.push(value);
  }

  private endArray(): void {
    if (!this.stack.includes(Tag.Track)) this.record.list(this.dataName ?? "", JSON.stringify(this.list));
  }

  private draftText(draft: XmlTemplateBuilder<FeatureSlotAction>, code: number, parent: number, to: number): void {
    const from = this.textFrom;
    const field = textElements[code];
    if (code === Tag.SimpleData || code === Tag.foreign || code === Tag.value) {
      if (code === Tag.value && this.dataName === null) draft.discard();
      draft.text(createSlotAction(FeatureSlotKind.data, code, parent, this.dataName ?? ""), from, to);
    } else if (code === Tag.coordinates)
      draft.text(createSlotAction(FeatureSlotKind.coordinates, code, parent), from, to, true);
    else if (field !== undefined && parent === this.root)
      draft.text(createSlotAction(FeatureSlotKind.text, 0, 0, field), from, to);
    else draft.text(createSlotAction(FeatureSlotKind.word, code, parent), from, to);
  }

  /** Elements whose text is a word. */
  private takeWord(code: number, parent: number, text: string): void {
    const { record } = this;
    if (parent === Tag.Data) this.takeDisplayName(text);
    else if (parent === Tag.Pair) this.takePair(code, text);
    else if (parent === Tag.TimeSpan) {
      if (code === Tag.begin) this.begins = text;
      else this.ends = text;
    } else if (text !== "" && parent === Tag.author) record.text(ValueSource.element, "author", text);
    else if (text !== "" && parent === Tag.TimeStamp) record.text(ValueSource.element, "timestamp", text);
    else if (text !== "" && parent === Tag.Icon) record.text(ValueSource.style, "icon", text);
    else if (parent !== this.root) this.geometry.word(code, parent, text);
    else if (text === "") return;
    else if (code === Tag.visibility) record.boolean(ValueSource.element, "visibility", isTrueFlag(text));
    else if (code === Tag.open) record.boolean(ValueSource.element, "open", isTrueFlag(text));
    else this.styleUrl = text;
  }

  /** Names data that have no other name. */
  private takeDisplayName(text: string): void {
    this.displayName = text;
    if (text !== "" && this.dataName !== null && text !== this.dataName) this.leave("displayName");
  }

  private takePair(code: number, text: string): void {
    if (code === Tag.key) {
      this.isNormal = text !== "highlight";
      if (!this.isNormal && this.withStyles) this.leave("highlight");
    } else if (this.isNormal) this.ownStyle = { ...this.surroundings.style(parseStyleUrl(text)), ...this.ownStyle };
  }

  private endTimespan(): void {
    const { begins: begin, ends: end } = this;
    if (begin === "" && end === "") return;
    const span = { ...(begin === "" ? {} : { begin }), ...(end === "" ? {} : { end }) };
    this.record.text(ValueSource.element, "timespan", JSON.stringify(span));
  }

  /** Adds what only the whole feature tells. */
  finish(): void {
    this.geometry.finish();
    const shared = this.styleUrl === null ? undefined : this.finishStyleUrl(this.styleUrl);
    if (!this.withStyles) return;
    if (this.ownStyle) this.record.style(this.ownStyle);
    if ((this.ownStyle?.outline ?? shared?.outline) === 0) this.hideOutline();
  }

  /** Polygons without an outline have no stroke; lines have theirs all the same. */
  private hideOutline(): void {
    const { polygons, lines } = this.record.shapes.kinds;
    if (polygons && lines) this.leave("outline");
    else if (polygons) this.record.number(ValueSource.style, "stroke-opacity", 0);
  }

  /** The shared style that the feature names. */
  private finishStyleUrl(url: string): StyleProperties | undefined {
    const { record } = this;
    record.text(ValueSource.element, "styleUrl", url.includes("#") ? url : `#${url}`);
    const id = parseStyleUrl(url);
    if (!this.withStyles || id.includes("#")) return undefined;
    const shared = this.surroundings.style(id);
    if (shared) record.style(shared);
    else this.context.reportNotice("style-missing", undefined, `there is no style "${id}" in the document`);
    return shared;
  }
}

const contentText = (reader: XmlReader, length: number): string =>
  reader.content.bytes.toString("utf8", 0, length).trim();

/** The value of an attribute that comes again and again. */
function readKeywordAttribute(reader: XmlReader, code: number): string | null {
  const index = reader.attributes.indexOf(code);
  return index < 0 ? null : reader.attributes.keyword(index);
}

/** The id that a URL names in its own document: `#id`, or `id` as older files have it. */
const parseStyleUrl = (url: string): string => (url.startsWith("#") ? url.slice(1) : url);
