import type { XmlReader } from "../../shared/xml/reader.js";
import { ElementCode } from "../elements.js";
import type { ShapePoint } from "../route-shape.js";
import { createExtensionAction } from "./actions.js";
import { ExtensionPaths, ExtensionPlacement } from "./extension-paths.js";
import type { ParseContext } from "./parse-context.js";
import type { PathTree, ValuePath } from "./paths.js";
import type { FeatureVisitor } from "./visitor.js";

/** What extensions belong to. */
export const ExtensionOwner = { feature: 0, point: 1, segment: 2 } as const;

/** Reads the elements in extensions, and passes their values to a visitor. */
export class ExtensionParser {
  readonly paths: ExtensionPaths;
  private readonly reader: XmlReader;
  private readonly visitor: FeatureVisitor;
  owner: number = ExtensionOwner.feature;
  /** By depth, whether the element has attributes. */
  private readonly hasAttributes: boolean[] = [];
  /** The open position between two route points. */
  private shape: ShapePoint | null = null;

  constructor(private readonly context: ParseContext) {
    this.reader = context.reader;
    this.visitor = context.visitor;
    this.paths = new ExtensionPaths(context.reader);
  }

  /** Begins a feature, a point, or the extensions of a segment. */
  begin(owner: number): void {
    this.owner = owner;
    this.paths.begin();
  }

  /** Begins an element with a value. @returns false where there are too many different ones */
  open(depth: number, placement: number): boolean {
    const { reader, paths } = this;
    const { regrouped } = paths;
    const { count } = reader.attributes;
    const tree = this.tree();
    const path = paths.enter(tree, depth, placement);
    if (!path || regrouped !== paths.regrouped) this.context.notRepeatable();
    if (!path) return false;
    this.hasAttributes[depth] = count > 0;
    if (count > 0) this.passAttributes(tree, depth);
    reader.content.begin();
    return true;
  }

  private tree(): PathTree {
    if (this.owner === ExtensionOwner.point) return this.paths.points;
    return this.owner === ExtensionOwner.segment ? this.paths.segments : this.paths.features;
  }

  private passAttributes(tree: PathTree, depth: number): void {
    const { paths, visitor, owner } = this;
    const { attributes } = this.reader;
    this.context.notRepeatable();
    for (let a = 0; a < attributes.count; a++) {
      const path = paths.attribute(tree, paths.at(depth), a);
      if (!path) continue;
      if (owner === ExtensionOwner.point) visitor.pointAttribute(path, attributes.value(a));
      else if (owner === ExtensionOwner.segment) visitor.segmentAttribute(path, attributes.value(a));
      else visitor.attribute(path, attributes.value(a));
    }
  }

  /** Ends an element with a value. Where it is empty, it has the value "", unless it has child elements or attributes. */
  close(depth: number): void {
    const { context } = this;
    const { content } = this.reader;
    const hasText = content.end > content.start;
    const isLeaf = context.isLeaf(depth);
    if (hasText && !isLeaf) context.notRepeatable();
    if (hasText || (isLeaf && !this.hasAttributes[depth])) {
      const path = this.paths.at(depth);
      path.action ??= createExtensionAction(path);
      context.apply(path.action);
    }
    content.drop();
  }

  /** Begins a position between two route points. @returns false where there are too many different elements */
  openShape(depth: number): boolean {
    const { paths, reader } = this;
    const { attributes } = reader;
    this.context.notRepeatable();
    if (!paths.enter(paths.points, depth, ExtensionPlacement.within)) return false;
    const [x, y] = [attributes.indexOf(ElementCode.lon), attributes.indexOf(ElementCode.lat)];
    const coordinate = (index: number) => (index < 0 ? "" : parseNumberOrText(attributes.value(index)));
    for (let a = 0; a < attributes.count; a++) {
      if (a !== x && a !== y && !attributes.names[a]!.isDeclaration) paths.surplus++;
    }
    this.shape = { lat: coordinate(y), lon: coordinate(x) };
    return true;
  }

  subclass(text: string): void {
    this.shape!.Subclass = text;
  }

  endShape(depth: number): void {
    this.visitor.pointShape(this.paths.at(depth), this.shape!);
  }

  /** Passes on the text before a child element: the element at `depth` has text and elements. */
  flush(depth: number): void {
    const { content } = this.reader;
    if (content.end > content.start) {
      this.context.notRepeatable();
      this.pass(this.paths.at(depth), content.bytes, content.start, content.end);
    }
    content.drop();
  }

  pass(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    const { owner, visitor } = this;
    if (owner === ExtensionOwner.point) visitor.pointExtension(path, bytes, from, to);
    else if (owner === ExtensionOwner.segment) visitor.segmentExtension(path, bytes, from, to);
    else visitor.extension(path, bytes, from, to);
  }
}

/** A number where the text is its shortest form, so that it can be written back unchanged; else the trimmed text. */
function parseNumberOrText(text: string): string | number {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text.trim() ? number : text.trim();
}
