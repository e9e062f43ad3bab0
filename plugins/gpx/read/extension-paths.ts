import type { XmlPathStep } from "../../../src/model/index.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { toFieldName } from "../element-names.js";
import { fieldsNamespace, gpxNamespace, gpxNamespaces } from "../elements.js";
import { PathTree, topLevelSteps, type ValuePath } from "./paths.js";

/** The place of an extension element: directly in `extensions`, in Garmin's for points, in another one, or beside GPX's own. */
export const ExtensionPlacement = { top: 0, garmin: 1, within: 2, beside: 3 } as const;

/** The open elements in extensions, and the field names of their values. */
export class ExtensionPaths {
  readonly features = new PathTree("_");
  readonly points = new PathTree(":");
  readonly segments = new PathTree(":");
  /** The number of elements and attributes left out: too many different ones, or unknown to GPX. */
  surplus = 0;
  /** The number of repeated elements with child elements: which of their values belong together is lost. */
  regrouped = 0;
  /** The namespace of the root element, which counts as GPX's. */
  rootNamespace: string | null = null;
  private readonly open: (ValuePath | null)[] = [];
  /** By depth, the number of the element, and whether it repeats a sibling and is not counted yet. */
  private readonly numbers: number[] = [];
  private readonly isAgain: boolean[] = [];
  private count = 0;
  /** The number of the feature, point or segment. */
  private unit = 0;
  /** The steps to Garmin's extension of points that is open. */
  private garminSteps: readonly XmlPathStep[] | null = null;

  constructor(private readonly reader: XmlReader) {}

  /** Begins a feature, point or segment. */
  begin(): void {
    this.unit = ++this.count;
  }

  /** Returns the path of the open element at a depth. */
  at(depth: number): ValuePath {
    return this.open[depth]!;
  }

  /** Begins Garmin's extension, which the names of its elements omit. */
  beginGarmin(): void {
    const { name, attributes } = this.reader;
    this.garminSteps = topLevelSteps(name, this.namespace());
    for (let a = 0; a < attributes.count; a++) if (!attributes.names[a]!.isDeclaration) this.surplus++;
  }

  /** Enters the element opened last. @returns its path; null where there are too many */
  enter(tree: PathTree, depth: number, placement: number): ValuePath | null {
    const path = this.pathOf(tree, depth, placement);
    if (!path) this.surplus++;
    else {
      this.open[depth] = path;
      this.compare(path, depth, placement === ExtensionPlacement.within);
    }
    return path;
  }

  private pathOf(tree: PathTree, depth: number, placement: number): ValuePath | null {
    const { name } = this.reader;
    const namespace = this.namespace();
    if (placement === ExtensionPlacement.within) return tree.child(this.open[depth - 1]!, name, namespace);
    if (namespace === fieldsNamespace) return tree.own(name, toFieldName(name.local));
    if (placement === ExtensionPlacement.garmin) return tree.named(name, namespace, name.local, this.garminSteps);
    return placement === ExtensionPlacement.top ? tree.top(name, namespace) : tree.beside(name, namespace);
  }

  /** The namespace of the element opened last, GPX 1.1's for any of GPX; null for a prefix that is not declared. */
  private namespace(): string | null {
    const namespace = this.reader.namespace();
    if (namespace === null) return null;
    return namespace === this.rootNamespace || gpxNamespaces.test(namespace) ? gpxNamespace : namespace;
  }

  /** Counts elements whose values lose their grouping: the values of equal elements become one list for each name. */
  private compare(path: ValuePath, depth: number, isWithin: boolean): void {
    const { numbers, isAgain } = this;
    const { count } = this.reader.attributes;
    const around = isWithin ? numbers[depth - 1]! : this.unit;
    const again = path.seenIn === around;
    const isMixed = again && (path.children.size > 0 || path.seenAttributes !== count);
    if (isMixed) this.regrouped++;
    else if (isWithin && isAgain[depth - 1]) {
      this.regrouped++;
      isAgain[depth - 1] = false;
    }
    isAgain[depth] = again && !isMixed;
    numbers[depth] = ++this.count;
    path.seenIn = around;
    path.seenAttributes = count;
  }

  /** Returns the path of the attribute `index` of the element; null where it is not kept. */
  attribute(tree: PathTree, path: ValuePath, index: number): ValuePath | null {
    const { reader } = this;
    const name = reader.attributes.names[index]!;
    if (name.isDeclaration || name.prefix === "xsi") return null;
    const found = tree.attribute(path, name, reader.namespaceOf(name));
    if (!found) this.surplus++;
    return found;
  }
}
