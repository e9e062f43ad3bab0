import type { ReadContext } from "../../src/plugin/format.js";
import type { XmlReader } from "../shared/xml.js";
import { FeatureRecord, Source } from "./feature-record.js";
import { GeometryReader, isGeometry, isOn } from "./geometry-reader.js";
import { type StyleProperties, StyleReader } from "./style-reader.js";
import { Tag, textElements } from "./vocabulary.js";

/** What a feature's reading needs of its document. */
export interface Surroundings {
  /** The properties of the shared style with this id. */
  style(id: string): StyleProperties | undefined;
  /** Whether a typed placemark has a field of this name (KML 2.0 and 2.1). */
  isTypedField(name: string): boolean;
  /** A style that a feature has for itself may have an id, and be shared. */
  ownStyle(id: string | null, style: StyleProperties): void;
}

/** Children of a feature that say nothing themselves, or not by their text. */
const groups = new Set<number>([
  Tag.author,
  Tag.StyleMap,
  Tag.TimeStamp,
  Tag.TimeSpan,
  Tag.ExtendedData,
  Tag.Metadata,
  Tag.Icon,
]);
const isWord = (code: number): boolean => code === Tag.visibility || code === Tag.open || code === Tag.styleUrl;

/**
 * Reads one feature from the tags and texts inside of it into a record. `open` tells whether the element's text is
 * wanted; `close` gets it, without the white space that only indents it.
 */
export class FeatureReader {
  readonly record = new FeatureRecord();
  private readonly geometry: GeometryReader;
  private readonly styles = new StyleReader();
  /** The elements that are open, the feature's own first. */
  private readonly stack: number[] = [];
  private root = 0;
  /** The depth of the `<Style>` that is read, 0 for none. */
  private styleDepth = 0;
  private styleId: string | null = null;
  private ownStyle: StyleProperties | null = null;
  /** Within StyleMap: the pair at hand is the normal one. */
  private isNormal = false;
  private styleUrl: string | null = null;
  /** The URL of the Schema that data were by last, and its id: one string serves all features. */
  private schemaUrl = "";
  private schemaId = "";
  private dataName: string | null = null;
  private displayName: string | null = null;
  private begins = "";
  private ends = "";

  constructor(
    private readonly surroundings: Surroundings,
    private readonly context: Pick<ReadContext, "notice">,
    private readonly withStyles: boolean,
  ) {
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
    if (code === Tag.GroundOverlay) this.record.text(Source.element, "@geometry-type", "groundoverlay");
  }

  open(code: number, reader: XmlReader): boolean {
    const { stack } = this;
    const parent = stack[stack.length - 1]!;
    stack.push(code);
    if (this.styleDepth > 0) return this.styles.open(code, reader);
    if (stack.length === 2) return this.openChild(code, reader);
    if (stack[1] === Tag.leftOut) return false;
    switch (parent) {
      case Tag.SchemaData:
        return this.openSchemaData(code, reader);
      case Tag.author:
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
        return code === Tag.href && stack.length === 3;
      default:
        return this.geometry.open(code, parent);
    }
  }

  /** A child of the feature itself. */
  private openChild(code: number, reader: XmlReader): boolean {
    if (textElements[code] !== undefined || isWord(code)) return true;
    if (isGeometry(code)) this.geometry.begin(code);
    else if (code === Tag.Style) this.beginStyle(reader);
    else if (code === Tag.link) this.link(reader);
    else if (groups.has(code)) {
      this.begins = "";
      this.ends = "";
    } else if (this.root === Tag.typed && this.surroundings.isTypedField(reader.name.local)) {
      this.stack[1] = Tag.foreign;
      this.dataName = reader.name.local;
      return true;
    } else {
      this.stack[1] = Tag.leftOut;
      const example = "an element that says nothing of the feature's data was left out";
      this.context.notice("element-left-out", reader.name.text, example);
    }
    return false;
  }

  private link(reader: XmlReader): void {
    const href = reader.attributes.get("href");
    if (href) this.record.text(Source.element, "link", href);
  }

  private beginStyle(reader: XmlReader): void {
    this.styleDepth = this.stack.length;
    this.styleId = reader.attributes.get("id");
    this.styles.begin();
  }

  private openData(code: number, reader: XmlReader): boolean {
    if (code === Tag.Data) {
      this.dataName = keyword(reader, Tag.name);
      this.displayName = null;
      this.record.schema = "";
    } else if (code === Tag.SchemaData) {
      const url = keyword(reader, Tag.schemaUrl) ?? "";
      if (url !== this.schemaUrl) this.schemaId = styleIdOf(url);
      this.schemaUrl = url;
      this.record.useSchema(this.schemaId);
    }
    // Elements of other namespaces are data, too (OGC 07-147r2, 9.2.4).
    if (code !== Tag.foreign) return false;
    this.dataName = reader.name.local;
    return true;
  }

  private openSchemaData(code: number, reader: XmlReader): boolean {
    if (code === Tag.SimpleData || code === Tag.SimpleArrayData) this.dataName = keyword(reader, Tag.name);
    return code === Tag.SimpleData;
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
      else this.styles.close(code, wanted ? textOf(reader, length) : "");
    } else if (wanted) this.take(code, stack[stack.length - 1]!, reader, length);
    else if (code === Tag.TimeSpan && stack.length === 1) this.endTimespan();
    else if (stack[1] !== Tag.leftOut) this.geometry.end(code, stack[stack.length - 1]!);
    return false;
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
    this.surroundings.ownStyle(this.styleId, style);
    this.ownStyle = { ...this.ownStyle, ...style };
  }

  /** The text of an element. */
  private take(code: number, parent: number, reader: XmlReader, length: number): void {
    const { record } = this;
    switch (code) {
      case Tag.SimpleData:
      case Tag.foreign:
        record.content(Source.data, this.dataName ?? "", reader.content, length);
        return;
      case Tag.coordinates:
      case Tag.coord:
        this.geometry.positions(code, parent, reader.content, length);
        return;
      case Tag.value:
        if (parent === Tag.SimpleArrayData) this.geometry.arrayValue(this.dataName ?? "", textOf(reader, length));
        else record.content(Source.data, this.dataName ?? this.displayName ?? "", reader.content, length);
        return;
    }
    const field = textElements[code];
    if (field !== undefined && parent === this.root) {
      if (length > 0) record.content(Source.element, field, reader.content, length);
    } else this.takeWord(code, parent, textOf(reader, length));
  }

  /** Elements whose text is a word. */
  private takeWord(code: number, parent: number, text: string): void {
    const { record } = this;
    if (parent === Tag.Data) this.displayName = text;
    else if (parent === Tag.Pair) this.takePair(code, text);
    else if (parent === Tag.TimeSpan) {
      if (code === Tag.begin) this.begins = text;
      else this.ends = text;
    } else if (text !== "" && parent === Tag.author) record.text(Source.element, "author", text);
    else if (text !== "" && parent === Tag.TimeStamp) record.text(Source.element, "timestamp", text);
    else if (text !== "" && parent === Tag.Icon) record.text(Source.style, "icon", text);
    else if (parent !== this.root) this.geometry.word(code, parent, text);
    else if (text === "") return;
    else if (code === Tag.visibility) record.boolean(Source.element, "visibility", isOn(text));
    else if (code === Tag.open) record.boolean(Source.element, "open", isOn(text));
    else this.styleUrl = text;
  }

  private takePair(code: number, text: string): void {
    if (code === Tag.key) this.isNormal = text !== "highlight";
    else if (this.isNormal) this.ownStyle = { ...this.surroundings.style(styleIdOf(text)), ...this.ownStyle };
  }

  private endTimespan(): void {
    const { begins: begin, ends: end } = this;
    if (begin === "" && end === "") return;
    const span = { ...(begin === "" ? {} : { begin }), ...(end === "" ? {} : { end }) };
    this.record.text(Source.element, "timespan", JSON.stringify(span));
  }

  /** Adds what only the whole feature tells. */
  finish(): void {
    this.geometry.finish();
    if (this.styleUrl !== null) this.finishStyleUrl(this.styleUrl);
    if (this.ownStyle && this.withStyles) this.record.style(this.ownStyle);
  }

  private finishStyleUrl(url: string): void {
    const { record } = this;
    record.text(Source.element, "styleUrl", url.includes("#") ? url : `#${url}`);
    const id = styleIdOf(url);
    if (!this.withStyles || id.includes("#")) return;
    const shared = this.surroundings.style(id);
    if (shared) record.style(shared);
    else this.context.notice("style-missing", undefined, `there is no style "${id}" in the document`);
  }
}

const textOf = (reader: XmlReader, length: number): string => reader.content.bytes.toString("utf8", 0, length).trim();

/** The value of an attribute that comes again and again. */
function keyword(reader: XmlReader, code: number): string | null {
  const index = reader.attributes.indexOf(code);
  return index < 0 ? null : reader.attributes.keyword(index);
}

/** The id that a URL names in its own document: `#id`, or `id` as older files have it. */
const styleIdOf = (url: string): string => (url.startsWith("#") ? url.slice(1) : url);
