import type { XmlReader } from "../../shared/xml/reader.js";
import { ElementCode, structureNamespace } from "../elements.js";
import { isShapeNamespace, type ShapePoint } from "../route-shape.js";
import { ExtensionPaths, ExtensionPlacement } from "./extension-paths.js";
import type { PathTree } from "./paths.js";
import { ElementScope, TextUse } from "./scopes.js";
import type { GpxVisitor } from "./visitor.js";

/** What extensions belong to. */
export const ExtensionOwner = { feature: 0, point: 1, segment: 2 } as const;

/** Goes through extensions, and gives their values to a visitor. */
export class ExtensionParser {
  readonly paths: ExtensionPaths;
  owner: number = ExtensionOwner.feature;
  /** The position between points of a route that is open. */
  private shape: ShapePoint | null = null;

  constructor(
    private readonly reader: XmlReader,
    private readonly visitor: GpxVisitor,
    /** By depth, what the text of an element is for. */
    private readonly uses: Uint8Array,
    /** What stands there depends on more than the tags, so that no stencil can have it in it. */
    private readonly spoil: () => void,
  ) {
    this.paths = new ExtensionPaths(reader);
  }

  /** A feature, a point or the extensions of a segment begin. */
  begin(owner: number): void {
    this.owner = owner;
    this.paths.begin();
  }

  /** Begins an element. @returns its scope */
  open(depth: number, stand: number): number {
    const { reader } = this;
    const isOfPoint = this.owner === ExtensionOwner.point;
    if (stand === ExtensionPlacement.within) this.flush(depth - 1);
    else if (reader.namespace() === structureNamespace) {
      return reader.name.local === "geometry" ? this.field(depth, TextUse.geometry) : ElementScope.skip;
    } else if (isOfPoint && reader.name.code === ElementCode.TrackPointExtension) {
      this.paths.beginGarmin();
      return ElementScope.garmin;
    }
    if (
      stand === ExtensionPlacement.within &&
      isOfPoint &&
      reader.name.code === ElementCode.rpt &&
      isShapeNamespace(reader.namespace())
    ) {
      return this.openShape(depth);
    }
    return this.openElement(depth, stand);
  }

  private openElement(depth: number, stand: number): number {
    const { reader, paths } = this;
    const { regrouped } = paths;
    const tree = this.tree();
    const path = paths.enter(tree, depth, stand);
    if (!path || regrouped !== paths.regrouped) this.spoil();
    if (!path) return ElementScope.skip;
    this.uses[depth] = reader.attributes.count > 0 ? TextUse.none : TextUse.extension;
    if (reader.attributes.count > 0) this.giveAttributes(tree, depth);
    reader.content.begin();
    return ElementScope.extension;
  }

  private tree(): PathTree {
    if (this.owner === ExtensionOwner.point) return this.paths.points;
    return this.owner === ExtensionOwner.segment ? this.paths.segments : this.paths.features;
  }

  private field(depth: number, use: number): number {
    this.uses[depth] = use;
    this.reader.content.begin();
    return ElementScope.field;
  }

  private giveAttributes(tree: PathTree, depth: number): void {
    const { paths, visitor, owner } = this;
    const { attributes } = this.reader;
    this.spoil();
    for (let a = 0; a < attributes.count; a++) {
      const path = paths.attribute(tree, paths.at(depth), a);
      if (!path) continue;
      if (owner === ExtensionOwner.point) visitor.pointAttribute(path, attributes.value(a));
      else if (owner === ExtensionOwner.segment) visitor.segmentAttribute(path, attributes.value(a));
      else visitor.attribute(path, attributes.value(a));
    }
  }

  /** A position between points of a route. */
  private openShape(depth: number): number {
    const { paths, reader } = this;
    const { attributes } = reader;
    this.spoil();
    if (!paths.enter(paths.points, depth, ExtensionPlacement.within)) return ElementScope.skip;
    const [x, y] = [attributes.indexOf(ElementCode.lon), attributes.indexOf(ElementCode.lat)];
    const coordinate = (index: number) => (index < 0 ? "" : parseNumberOrText(attributes.value(index)));
    for (let a = 0; a < attributes.count; a++) {
      if (a !== x && a !== y && !attributes.names[a]!.isDeclaration) paths.surplus++;
    }
    this.shape = { lat: coordinate(y), lon: coordinate(x) };
    return ElementScope.shape;
  }

  /** Begins an element in such a position. */
  openInShape(depth: number): number {
    if (this.reader.name.code === ElementCode.Subclass) return this.field(depth, TextUse.subclass);
    this.paths.surplus++;
    return ElementScope.skip;
  }

  subclass(text: string): void {
    this.shape!.Subclass = text;
  }

  endShape(depth: number): void {
    this.visitor.pointShape(this.paths.at(depth), this.shape!);
  }

  /** Gives the text of an element that has elements in it, too. */
  private flush(depth: number): void {
    const { content } = this.reader;
    if (content.end > content.start) {
      this.spoil();
      this.give(depth);
    }
    content.drop();
    this.uses[depth] = TextUse.none;
  }

  /** Gives the text of the element at `depth`, which is in the reader's content. */
  give(depth: number): void {
    const { owner, visitor } = this;
    const path = this.paths.at(depth);
    const { bytes, start, end } = this.reader.content;
    if (owner === ExtensionOwner.point) visitor.pointExtension(path, bytes, start, end);
    else if (owner === ExtensionOwner.segment) visitor.segmentExtension(path, bytes, start, end);
    else visitor.extension(path, bytes, start, end);
  }
}

/** A number where the text is one in its shortest form, so that it is written as it was. */
function parseNumberOrText(text: string): string | number {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text.trim() ? number : text.trim();
}
