import type { XmlReader } from "../../shared/xml/reader.js";
import type { MetadataElement } from "../metadata.js";

/** Puts the elements of the metadata together, from their tags and texts. */
export class MetadataCollector {
  /** Those that are open, by depth. */
  private readonly open: MetadataElement[] = [];

  constructor(private readonly reader: XmlReader) {}

  /** The element opened last begins. @param isWithin another one of the metadata */
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

  /** The element at `depth` has ended. */
  end(depth: number, isLeaf: boolean): MetadataElement {
    const { content } = this.reader;
    const element = this.open[depth]!;
    if (isLeaf || element.children.length === 0) element.text = content.text();
    content.drop();
    return element;
  }
}
