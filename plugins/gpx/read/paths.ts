import type { XmlPathStep } from "../../../src/model/index.js";
import type { XmlName } from "../../shared/xml/reader.js";
import { gpxNamespace } from "../elements.js";
import type { TextAction } from "./actions.js";

/** The maximum number of paths; a file with more uses values as names. */
export const maxPaths = 2048;

/** The path of an element in extensions, or of an attribute there, in a feature, point or segment. */
export interface ValuePath {
  /** Its number in the tree, from 0 by first occurrence. */
  readonly index: number;
  /** The name of the field. */
  readonly name: string;
  /** The prefix of the element; a child with another prefix has that in its name. */
  readonly prefix: string;
  /** Whether geoferry wrote it: its type is declared at the end of the file, and white space is significant. */
  readonly own: boolean;
  /** The elements from the outermost to itself; null for geoferry's own, and where a prefix is not declared. */
  steps: readonly XmlPathStep[] | null;
  /** The number of the parent of its last occurrence, and how many attributes that occurrence had. */
  seenIn: number;
  seenAttributes: number;
  /** What the element's text does; null before its first use. */
  action: TextAction | null;
  readonly children: Map<string, ValuePath>;
  readonly attributes: Map<string, ValuePath>;
}

/** The paths in the extensions of features, of points or of segments. All namespaces of GPX count as GPX 1.1's. */
export class PathTree {
  readonly paths: ValuePath[] = [];
  private readonly byName = new Map<string, ValuePath>();
  private readonly tops = new Map<string, ValuePath>();
  private readonly owns = new Map<string, ValuePath>();
  private readonly renamed = new Map<string, ValuePath>();
  private readonly misplaced = new Map<string, ValuePath>();

  constructor(private readonly separator: string) {}

  /** Returns the path of an element directly in the extensions; null where there are too many. */
  top(name: XmlName, namespace: string | null): ValuePath | null {
    return this.tops.get(name.text) ?? this.outermost(this.tops, name, namespace, topLevelSteps(name, namespace));
  }

  /** Returns the path of an element beside GPX's own. It keeps its steps only with a namespace other than GPX's. */
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

  /** Returns the path of an element that geoferry wrote for a field. */
  own(name: XmlName, field: string): ValuePath | null {
    return this.owns.get(name.text) ?? this.make(this.owns, name, field, name.prefix, true, null);
  }

  /** Returns the path of an element within the steps `within`, under the name `as`. */
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

  /** Returns the path with this name: equal names share one. */
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
      // Several elements give values under one name, so that their origin is unknown.
      path.steps = null;
    }
    into.set(key.text, path);
    return path;
  }
}

/** Returns the steps to an element directly in the extensions. */
export const topLevelSteps = (name: XmlName, namespace: string | null): readonly XmlPathStep[] | null =>
  extendSteps([], name, namespace);

/** Adds an element or attribute to the steps; null where its prefix, or one before it, is not declared. */
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
