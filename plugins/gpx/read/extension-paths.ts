import type { XmlPathStep } from "../../../src/model/index.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { toFieldName } from "../element-names.js";
import { fieldsNamespace, gpxNamespace, gpxNamespaces } from "../elements.js";
import { PathTree, topLevelSteps, type ValuePath } from "./paths.js";

/** Where an element of extensions stands: right in them, in Garmin's for points, in another one, or beside GPX's own. */
export const ExtensionPlacement = { top: 0, garmin: 1, within: 2, beside: 3 } as const;

/** The elements in extensions that are open, and what their values are called. */
export class ExtensionPaths {
  readonly features = new PathTree("_");
  readonly points = new PathTree(":");
  readonly segments = new PathTree(":");
  /** Elements and attributes that were passed over: there are too many different ones, or GPX does not have them. */
  surplus = 0;
  /** Elements that are repeated with others in them: which of their values belong together is lost. */
  regrouped = 0;
  /** The namespace of the root element is GPX's, whatever it is. */
  rootNamespace: string | null = null;
  private readonly open: (ValuePath | null)[] = [];
  /** By depth, the number of the element, and whether it is like one before it in the same element and not counted yet. */
  private readonly numbers: number[] = [];
  private readonly isAgain: boolean[] = [];
  private count = 0;
  /** The number of the feature, point or segment. */
  private unit = 0;
  /** The steps to Garmin's extension of points that is open. */
  private garminSteps: readonly XmlPathStep[] | null = null;

  constructor(private readonly reader: XmlReader) {}

  /** A feature, point or segment begins. */
  begin(): void {
    this.unit = ++this.count;
  }

  /** The path of the element that is open at a depth. */
  at(depth: number): ValuePath {
    return this.open[depth]!;
  }

  /** Garmin's extension begins, which is left out of the names of what is in it. */
  beginGarmin(): void {
    const { name, attributes } = this.reader;
    this.garminSteps = topLevelSteps(name, this.namespace());
    for (let a = 0; a < attributes.count; a++) if (!attributes.names[a]!.isDeclaration) this.surplus++;
  }

  /** The path of the element opened last; null where there are too many. */
  enter(tree: PathTree, depth: number, stand: number): ValuePath | null {
    const path = this.pathOf(tree, depth, stand);
    if (!path) this.surplus++;
    else {
      this.open[depth] = path;
      this.compare(path, depth, stand === ExtensionPlacement.within);
    }
    return path;
  }

  private pathOf(tree: PathTree, depth: number, stand: number): ValuePath | null {
    const { name } = this.reader;
    const namespace = this.namespace();
    if (stand === ExtensionPlacement.within) return tree.child(this.open[depth - 1]!, name, namespace);
    if (namespace === fieldsNamespace) return tree.own(name, toFieldName(name.local));
    if (stand === ExtensionPlacement.garmin) return tree.named(name, namespace, name.local, this.garminSteps);
    return stand === ExtensionPlacement.top ? tree.top(name, namespace) : tree.beside(name, namespace);
  }

  /** The namespace of the element opened last, GPX 1.1's for those of GPX; null where its prefix is not declared. */
  private namespace(): string | null {
    const namespace = this.reader.namespace();
    if (namespace === null) return null;
    return namespace === this.rootNamespace || gpxNamespaces.test(namespace) ? gpxNamespace : namespace;
  }

  /** Counts an element whose values come back in another grouping: the values of all like it are one list for each name. */
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

  /** The path of the attribute `index` of the element; null where nothing is kept of it. */
  attribute(tree: PathTree, path: ValuePath, index: number): ValuePath | null {
    const { reader } = this;
    const name = reader.attributes.names[index]!;
    if (name.isDeclaration || name.prefix === "xsi") return null;
    const found = tree.attribute(path, name, reader.namespaceOf(name));
    if (!found) this.surplus++;
    return found;
  }
}
