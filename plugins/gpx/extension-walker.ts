import type { XmlReader } from "../shared/xml.js";
import { Code, structureNamespace } from "./elements.js";
import { ExtensionPaths, Stand } from "./extension-paths.js";
import type { PathTree } from "./paths.js";
import { isShapeNamespace, type ShapePoint } from "./route-shape.js";
import { Scope, Use } from "./scopes.js";
import type { Visitor } from "./visitor.js";

/** What extensions belong to. */
export const Owner = { feature: 0, point: 1, segment: 2 } as const;

/** Goes through extensions, and gives their values to a visitor. */
export class ExtensionWalker {
  readonly paths: ExtensionPaths;
  owner: number = Owner.feature;
  /** The position between points of a route that is open. */
  private shape: ShapePoint | null = null;

  constructor(
    private readonly reader: XmlReader,
    private readonly visitor: Visitor,
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
    const isOfPoint = this.owner === Owner.point;
    if (stand === Stand.within) this.flush(depth - 1);
    else if (reader.namespace() === structureNamespace) {
      return reader.name.local === "geometry" ? this.field(depth, Use.geometry) : Scope.skip;
    } else if (isOfPoint && reader.name.code === Code.TrackPointExtension) {
      this.paths.beginGarmin();
      return Scope.garmin;
    }
    if (stand === Stand.within && isOfPoint && reader.name.code === Code.rpt && isShapeNamespace(reader.namespace())) {
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
    if (!path) return Scope.skip;
    this.uses[depth] = reader.attributes.count > 0 ? Use.none : Use.extension;
    if (reader.attributes.count > 0) this.giveAttributes(tree, depth);
    reader.content.begin();
    return Scope.extension;
  }

  private tree(): PathTree {
    if (this.owner === Owner.point) return this.paths.points;
    return this.owner === Owner.segment ? this.paths.segments : this.paths.features;
  }

  private field(depth: number, use: number): number {
    this.uses[depth] = use;
    this.reader.content.begin();
    return Scope.field;
  }

  private giveAttributes(tree: PathTree, depth: number): void {
    const { paths, visitor, owner } = this;
    const { attributes } = this.reader;
    this.spoil();
    for (let a = 0; a < attributes.count; a++) {
      const path = paths.attribute(tree, paths.at(depth), a);
      if (!path) continue;
      if (owner === Owner.point) visitor.pointAttribute(path, attributes.value(a));
      else if (owner === Owner.segment) visitor.segmentAttribute(path, attributes.value(a));
      else visitor.attribute(path, attributes.value(a));
    }
  }

  /** A position between points of a route. */
  private openShape(depth: number): number {
    const { paths, reader } = this;
    const { attributes } = reader;
    this.spoil();
    if (!paths.enter(paths.points, depth, Stand.within)) return Scope.skip;
    const [x, y] = [attributes.indexOf(Code.lon), attributes.indexOf(Code.lat)];
    const coordinate = (index: number) => (index < 0 ? "" : numberOrText(attributes.value(index)));
    for (let a = 0; a < attributes.count; a++) {
      if (a !== x && a !== y && !attributes.names[a]!.isDeclaration) paths.surplus++;
    }
    this.shape = { lat: coordinate(y), lon: coordinate(x) };
    return Scope.shape;
  }

  /** Begins an element in such a position. */
  openInShape(depth: number): number {
    if (this.reader.name.code === Code.Subclass) return this.field(depth, Use.subclass);
    this.paths.surplus++;
    return Scope.skip;
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
    this.uses[depth] = Use.none;
  }

  /** Gives the text of the element at `depth`, which is in the reader's content. */
  give(depth: number): void {
    const { owner, visitor } = this;
    const path = this.paths.at(depth);
    const { bytes, start, end } = this.reader.content;
    if (owner === Owner.point) visitor.pointExtension(path, bytes, start, end);
    else if (owner === Owner.segment) visitor.segmentExtension(path, bytes, start, end);
    else visitor.extension(path, bytes, start, end);
  }
}

/** A number where the text is one in its shortest form, so that it is written as it was. */
function numberOrText(text: string): string | number {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text.trim() ? number : text.trim();
}
