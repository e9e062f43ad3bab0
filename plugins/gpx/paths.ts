import type { ElementStep } from "../../src/model/index.js";
import type { XmlName } from "../shared/xml.js";
import { gpxNamespaces } from "./elements.js";

/** Elements of extensions are known by their place; beyond so many of these, a file uses values as names. */
export const mostPaths = 2048;

/**
 * A place that a value can have in a feature or in a point of it: a standard element, an element within extensions, or
 * an attribute there. Its name is that of the field.
 */
export interface Path {
  /** Its number in the tree, from 0 in the order of appearance. */
  readonly index: number;
  readonly name: string;
  /** The prefix of the element, which is named again in its children where theirs is another. */
  readonly prefix: string;
  /** It is written by us: its type is declared at the end of the file, and white space in it counts. */
  readonly own: boolean;
  /** The elements around it and itself, where all are of namespaces other than GPX's and ours; else null. */
  steps: readonly ElementStep[] | null;
  readonly children: Map<string, Path>;
  readonly attributes: Map<string, Path>;
}

/** The paths of the extensions of features, or of points. */
export class PathTree {
  readonly paths: Path[] = [];
  private readonly byName = new Map<string, Path>();
  private readonly tops = new Map<string, Path>();
  private readonly owns = new Map<string, Path>();
  private readonly renamed = new Map<string, Path>();

  constructor(private readonly separator: string) {}

  /** The path of an element right in the extensions; null where there are too many. */
  top(name: XmlName, namespace: string | null): Path | null {
    const known = this.tops.get(name.text);
    if (known) return known;
    const text = name.prefix === "" ? name.local : `${name.prefix}${this.separator}${name.local}`;
    return this.make(this.tops, name, text, name.prefix, false, stepsOf([], name, namespace));
  }

  /** That of an element of ours, whose name is a field's. */
  own(name: XmlName, field: string): Path | null {
    return this.owns.get(name.text) ?? this.make(this.owns, name, field, name.prefix, true, null);
  }

  /** That of an element whose name is taken as it is given, within another one. */
  named(name: XmlName, namespace: string | null, as: string, within: readonly ElementStep[] | null): Path | null {
    const known = this.renamed.get(name.text);
    return known ?? this.make(this.renamed, name, as, name.prefix, false, stepsOf(within, name, namespace));
  }

  child(parent: Path, name: XmlName, namespace: string | null): Path | null {
    const known = parent.children.get(name.text);
    if (known) return known;
    const local = name.prefix === parent.prefix || name.prefix === "" ? name.local : `${name.prefix}_${name.local}`;
    const steps = stepsOf(parent.steps, name, namespace);
    return this.make(parent.children, name, `${parent.name}_${local}`, name.prefix, parent.own, steps);
  }

  attribute(parent: Path, name: XmlName): Path | null {
    const known = parent.attributes.get(name.text);
    if (known) return known;
    // The prefix of an attribute would have to be declared for itself.
    const steps = name.prefix === "" ? stepsOf(parent.steps, name, "", true) : null;
    return this.make(parent.attributes, name, `${parent.name}_${name.local}`, name.prefix, false, steps);
  }

  /** Places whose names are the same are one. */
  private make(
    into: Map<string, Path>,
    key: XmlName,
    name: string,
    prefix: string,
    own: boolean,
    steps: readonly ElementStep[] | null,
  ): Path | null {
    let path = this.byName.get(name);
    if (!path) {
      if (this.paths.length >= mostPaths) return null;
      const { length: index } = this.paths;
      path = { index, name, prefix, own, steps, children: new Map(), attributes: new Map() };
      this.byName.set(name, path);
      this.paths.push(path);
    } else if (JSON.stringify(path.steps) !== JSON.stringify(steps)) {
      // Values of several elements under one name: which of them each came from is not known any more.
      path.steps = null;
    }
    into.set(key.text, path);
    return path;
  }
}

/** The steps to an element right in the extensions. */
export const topSteps = (name: XmlName, namespace: string | null): readonly ElementStep[] | null =>
  stepsOf([], name, namespace);

/** The steps to an element or attribute; null where its namespace is GPX's or not known, as within such an element. */
function stepsOf(
  around: readonly ElementStep[] | null,
  { text: name }: XmlName,
  namespace: string | null,
  isAttribute = false,
): readonly ElementStep[] | null {
  const isForeign = namespace !== null && (isAttribute || (namespace !== "" && !gpxNamespaces.test(namespace)));
  return around && isForeign ? [...around, { name, namespace, ...(isAttribute ? { isAttribute } : {}) }] : null;
}
