import { carriageReturn, isSpace, lessThan, lineFeed, slash } from "../../shared/xml/bytes.js";
import type { XmlContentBuffer, XmlReader } from "../../shared/xml/reader.js";

/** Characters to escape where text becomes markup; references stay as they are. */
const markupSpecials = /[<>]|&(?!#?[\p{L}\p{N}_:.-]{1,64};)/gu;
const references: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;" };

/**
 * Collects the text of one element in the reader's content. Where the element may hold HTML, tags outside CDATA belong to
 * the text, and it is kept as written, with tags, references and white space. Elsewhere, tags only separate words.
 */
export class ElementTextCollector {
  /** The depth of the element whose text is collected; 0 for none. */
  depth = 0;
  /** The length of the content without the white space that indents the next tag. */
  length = 0;
  private hasMarkup = false;
  /** The ranges of the content with resolved references: starts and ends alternate. */
  private readonly resolved: number[] = [];

  constructor(private readonly xml: XmlReader) {}

  /** Begins to collect the text of the element opened last. */
  begin(): void {
    this.depth = this.xml.depth;
    this.length = 0;
    this.xml.content.clear();
    if (this.resolved.length > 0) this.resolved.length = 0;
  }

  /** Ends the text. */
  end(): void {
    this.depth = 0;
    this.hasMarkup = this.xml.keepsSpace = false;
  }

  /** The text so far. */
  toString(): string {
    return this.xml.content.bytes.toString("utf8", 0, this.length).trim();
  }

  /** Adds the text token of the reader. */
  add(): void {
    const { xml } = this;
    const { content, bytes } = xml;
    const before = content.length;
    if (!this.hasMarkup) {
      xml.collect();
      // A reference is longer than its text.
      const isResolved = content.length - before !== xml.textTo - xml.textFrom && !xml.isCdata;
      if (isResolved) this.resolved.push(before, content.length);
    } else if (xml.isCdata) xml.collect();
    else xml.collectRaw();
    this.length = content.length;
    // Text outside CDATA is followed by a tag; white space before the tag is indentation.
    if (bytes[xml.textTo] !== lessThan) return;
    for (let to = xml.textTo; to > xml.textFrom && isSpace(bytes[to - 1]!); to--) {
      // A line end of two characters was collected as one.
      if (bytes[to - 1] !== carriageReturn || bytes[to] !== lineFeed || to === xml.textTo) this.length--;
    }
  }

  /** Begins an element within the text. @param isKept whether its tags belong to the text */
  open(isKept: boolean): void {
    const { content } = this.xml;
    if (isKept) this.keepTag();
    // Tags separate words.
    else if (content.length > 0 && !isSpace(content.bytes[content.length - 1]!)) content.addText(" ", "");
  }

  private keepTag(): void {
    const { xml } = this;
    if (!this.hasMarkup) {
      if (this.resolved.length > 0) this.escape(xml.content);
      this.hasMarkup = xml.keepsSpace = true;
    }
    xml.collectTag();
    this.length = xml.content.length;
  }

  /** Escapes the resolved references, because the text has turned out to be markup. */
  private escape(content: XmlContentBuffer): void {
    const whole = Buffer.from(content.bytes.subarray(0, content.length));
    content.clear();
    let done = 0;
    for (let i = 0; i < this.resolved.length; i += 2) {
      const [from, to] = [this.resolved[i]!, this.resolved[i + 1]!];
      const escaped = whole.toString("utf8", from, to).replace(markupSpecials, (character) => references[character]!);
      content.addText(whole.toString("utf8", done, from) + escaped, "");
      done = to;
    }
    content.addText(whole.toString("utf8", done), "");
  }

  /** Ends an element within the text. */
  close(): void {
    const { xml } = this;
    // An empty element has only a start tag.
    if (!this.hasMarkup || xml.bytes[xml.tokenFrom + 1] !== slash) return;
    xml.collectTag();
    this.length = xml.content.length;
  }
}
