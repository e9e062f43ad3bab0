import { type XmlReader, XmlToken } from "../../shared/xml/reader.js";
import type { ExtensionParser } from "./extension-parser.js";
import { Content, documentRule, type ElementRule, findRule, rootRule, TextHandling } from "./grammar.js";
import { ParseContext } from "./parse-context.js";
import type { FeatureVisitor, FileVisitor } from "./visitor.js";

/** Reads a GPX file, or a part that begins at a wpt, rte or trk, by the grammar, and passes its contents to the visitors. */
export class GpxParser {
  private readonly context: ParseContext;
  /** The rules of the open elements, by depth. */
  private readonly rules: ElementRule[] = [documentRule];
  /** Text was reported since the last tag: one text may come in several tokens. */
  private isInStrayText = false;

  constructor(
    private readonly reader: XmlReader,
    visitor: FeatureVisitor,
    file: FileVisitor | null,
    source: { notGpx(name: string): Error },
  ) {
    this.context = new ParseContext(reader, visitor, file, source);
    // A reader that begins in the middle of the file is inside the root element.
    if (reader.depth === 1) {
      this.rules[1] = rootRule;
      this.context.useRoot(reader.namespace());
    }
  }

  get extensions(): ExtensionParser {
    return this.context.extensions;
  }

  /**
   * Reads on. @returns `XmlToken.more` where the reader has to be filled, `XmlToken.close` after a feature,
   * `XmlToken.end` at the end
   */
  read(): number {
    const { reader, context } = this;
    for (;;) {
      if (this.tryTemplates()) return XmlToken.close;
      switch (reader.next()) {
        case XmlToken.open:
          this.isInStrayText = false;
          this.open();
          break;
        case XmlToken.text:
          this.text();
          break;
        case XmlToken.close:
          this.isInStrayText = false;
          if (this.close()) return XmlToken.close;
          break;
        case XmlToken.more:
          context.notRepeatable();
          return XmlToken.more;
        default:
          return XmlToken.end;
      }
    }
  }

  /**
   * The fast path, which only saves time: reads points as long as they are written like one before, by the templates that
   * `context` records while elements are read one by one. @returns whether a feature has ended
   */
  private tryTemplates(): boolean {
    const { reader, context } = this;
    const { content } = this.rules[reader.depth]!;
    if (content === Content.gpx) {
      while (context.waypoints.matches()) {
        this.isInStrayText = false;
        if (context.repeatWaypoint()) return true;
      }
    } else if (content === Content.trkseg || content === Content.rte) {
      while (context.linePoints.matches()) {
        this.isInStrayText = false;
        context.repeatPoint();
      }
    }
    return false;
  }

  private open(): void {
    const { reader, context, rules } = this;
    const { depth } = reader;
    context.textFrom = reader.tokenTo;
    const found = findRule(rules[depth - 1]!, context);
    const rule = found.open?.(context, depth) ?? found;
    if (!rule.isRepeatable) context.notRepeatable();
    rules[depth] = rule;
    context.leafDepth = depth;
  }

  /** @returns whether a feature has ended */
  private close(): boolean {
    const depth = this.reader.depth + 1;
    const rule = this.rules[depth]!;
    rule.close?.(this.context, depth);
    return rule.isFeature;
  }

  private text(): void {
    const { text, content } = this.rules[this.reader.depth]!;
    if (text === TextHandling.collect) this.reader.collect();
    else if (text === TextHandling.report && !this.isInStrayText) {
      this.isInStrayText = true;
      this.context.notRepeatable();
      if (content === Content.gpx) this.context.file?.textBesideFeatures();
      else this.context.visitor.strayText();
    }
  }
}
