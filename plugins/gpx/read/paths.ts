import type { XmlPathStep } from "../../../src/model/index.js";
import type { XmlName } from "../../shared/xml/reader.js";
import { gpxNamespace } from "../elements.js";
import type { TextAction } from "./actions.js";

/** Elements of extensions are known by their place; beyond so many of these, a file uses values as names. */
export const maxPaths = 2048;

/**
 * A place that a value can have in a feature or in a point of it: a standard element, an element within extensions, or
 * an attribute there. Its name is that of the field.
 */
export interface ValuePath {
  /** Its number in the tree, from 0 in the order of appearance. */
  readonly index: number;
  readonly name: string;
  /** The prefix of the element, which is named again in its children where theirs is another. */
  readonly prefix: string;
  /** It is written by us: its type is declared at the end of the file, and white space in it counts. */
  readonly own: boolean;
  /** The elements around it and itself, where these can be written again; null for ours and where a prefix is not declared. */
  steps: readonly XmlPathStep[] | null;
  /** In which element the last one like it was, by number, and how many attributes that had. */
  seenIn: number;
  seenAttributes: number;
  /** What the element's text does; null before its first use. */
  action: TextAction | null;
  readonly children: Map<string, ValuePath>;
  readonly attributes: Map<string, ValuePath>;
}

/** The paths of the extensions of features, of points or of segments. Namespaces are GPX 1.1's for all of GPX's. */
export class PathTree {
  readonly paths: ValuePath[] = [];
  private readonly byName = new Map<string, ValuePath>();
  private readonly tops = new Map<string, ValuePath>();
  private readonly owns = new Map<string, ValuePath>();
  private readonly renamed = new Map<string, ValuePath>();
  private readonly misplaced = new Map<string, ValuePath>();

  constructor(private readonly separator: string) {}

  /** The path of an element right in the extensions; null where there are too many. */
  top(name: XmlName, namespace: string | null): ValuePath | null {
    return this.tops.get(name.text) ?? this.outermost(this.tops, name, namespace, topLevelSteps(name, namespace));
  }

  /** That of an element in the place of GPX's own: in extensions it would be another one, unless its namespace is its own. */
  beside(name: XmlName, namespace: string | null): ValuePath | null {
    const isForeign = namespace !== "" && namespace !== gpxNamespace;
    const steps = isForeign ? topLevelSteps(name, namespace) : null;
    return this.misplaced.get(name.text) ?? this.outermost(this.misplaced, name, namespace, steps);
  }

  private outermost(
    into: Map<string, ValuePath>,
    name: XmlName,
    namespace: string | null,
    steps: readonly XmlPathStep[] | null,
  ): ValuePath | null {
    const prefix = namespace === gpxNamespace ? "" : name.prefix;
    const text = prefix === "" ? name.local : `${prefix}${this.separator}${name.local}`;
    return this.make(into, name, text, prefix, false, steps);
  }

  /** That of an element of ours, whose name is a field's. */
  own(name: XmlName, field: string): ValuePath | null {
    return this.owns.get(name.text) ?? this.make(this.owns, name, field, name.prefix, true, null);
  }

  /** That of an element whose name is taken as it is given, within another one. */
  named(name: XmlName, namespace: string | null, as: string, within: readonly XmlPathStep[] | null): ValuePath | null {
    const known = this.renamed.get(name.text);
    return known ?? this.make(this.renamed, name, as, name.prefix, false, extendSteps(within, name, namespace));
  }

  child(parent: ValuePath, name: XmlName, namespace: string | null): ValuePath | null {
    const known = parent.children.get(name.text);
    if (known) return known;
    const local = name.prefix === parent.prefix || name.prefix === "" ? name.local : `${name.prefix}_${name.local}`;
    const steps = extendSteps(parent.steps, name, namespace);
    return this.make(parent.children, name, `${parent.name}_${local}`, name.prefix, parent.own, steps);
  }

  /** @param namespace empty where the attribute has no prefix */
  attribute(parent: ValuePath, name: XmlName, namespace: string | null): ValuePath | null {
    const known = parent.attributes.get(name.text);
    if (known) return known;
    const steps = extendSteps(parent.steps, name, namespace, true);
    return this.make(parent.attributes, name, `${parent.name}_${name.local}`, name.prefix, false, steps);
  }

  /** Places whose names are the same are one. */
  private make(
    into: Map<string, ValuePath>,
    key: XmlName,
    name: string,
    prefix: string,
    own: boolean,
    steps: readonly XmlPathStep[] | null,
  ): ValuePath | null {
    let path = this.byName.get(name);
    if (!path) {
      if (this.paths.length >= maxPaths) return null;
      const { length: index } = this.paths;
      const seen = { seenIn: -1, seenAttributes: 0, action: null };
      path = { index, name, prefix, own, steps, ...seen, children: new Map(), attributes: new Map() };
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
export const topLevelSteps = (name: XmlName, namespace: string | null): readonly XmlPathStep[] | null =>
  extendSteps([], name, namespace);

/** The steps to an element or attribute; null where its prefix is not declared, as within such an element. */
function extendSteps(
  around: readonly XmlPathStep[] | null,
  { text, local }: XmlName,
  namespace: string | null,
  isAttribute = false,
): readonly XmlPathStep[] | null {
  if (!around || namespace === null) return null;
  if (isAttribute) return [...around, { name: text, namespace, isAttribute }];
  return [...around, { name: namespace === gpxNamespace ? local : text, namespace }];
}
