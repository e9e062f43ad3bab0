import type { XmlReader } from "../../shared/xml/reader.js";
import type { MetadataElement } from "../metadata.js";

/** Builds the tree of metadata elements from tags and texts. */
export class MetadataCollector {
  /** The open elements, by depth. */
  private readonly open: MetadataElement[] = [];

  constructor(private readonly reader: XmlReader) {}

  /** Begins the element opened last. @param isWithin whether it is inside another element of the metadata */
  begin(isWithin: boolean): void {
    const { attributes, name, depth, content } = this.reader;
    const list = Array.from(
      { length: attributes.count },
      (_, a) => [attributes.names[a]!.local, attributes.value(a)] as const,
    );
    const element = { name: name.local, attributes: new Map(list), children: [], text: "" };
    if (isWithin) this.open[depth - 1]!.children.push(element);
    this.open[depth] = element;
    content.begin();
  }

  /** Ends the element at `depth`. */
  end(depth: number, isLeaf: boolean): MetadataElement {
    const { content } = this.reader;
    const element = this.open[depth]!;
    if (isLeaf || element.children.length === 0) element.text = content.text();
    content.drop();
    return element;
  }
}
