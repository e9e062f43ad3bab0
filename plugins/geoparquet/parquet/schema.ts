/** The schema of a file as a tree, and the levels of its leaves (Parquet, "Nested Encoding"). */
import type { SchemaElement, SchemaTree } from "hyparquet";
import type { LeafType } from "./values.js";

/** A leaf of the schema, as plain data. */
export interface Leaf extends LeafType {
  /** Its index among the columns of a row group. */
  readonly column: number;
  readonly path: readonly string[];
  /** The definition level of a value, and the number of repeated elements on the path. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  readonly element: SchemaElement;
}

export interface SchemaNode {
  readonly element: SchemaElement;
  readonly path: readonly string[];
  readonly children: readonly SchemaNode[];
  /** Null for a group. */
  readonly leaf: Leaf | null;
  /** The definition level at which the node itself is there. */
  readonly definition: number;
  readonly repetition: number;
}

/** Groups nested deeper are refused: they would exhaust the call stack. */
const maxDepth = 64;

/** @throws Error if the list of elements is no tree */
export function buildSchema(elements: readonly SchemaElement[]): SchemaNode {
  let next = 0;
  let column = 0;
  const build = (path: readonly string[], definition: number, repetition: number): SchemaNode => {
    const element = elements[next++];
    if (!element || path.length > maxDepth) throw new Error("the schema is no tree");
    const isRoot = next === 1;
    const { repetition_type: kind, num_children: count = 0, type } = element;
    const isOptional = !isRoot && kind !== "REQUIRED";
    const own = definition + (isOptional ? 1 : 0);
    const repeated = repetition + (!isRoot && kind === "REPEATED" ? 1 : 0);
    const ownPath = isRoot ? [] : [...path, element.name];
    if (type !== undefined) {
      const leaf: Leaf = {
        column: column++,
        path: ownPath,
        physical: type,
        length: element.type_length ?? 0,
        maxDefinition: own,
        maxRepetition: repeated,
        element,
      };
      return { element, path: ownPath, children: [], leaf, definition: own, repetition: repeated };
    }
    const children: SchemaNode[] = [];
    for (let n = 0; n < count; n++) children.push(build(ownPath, own, repeated));
    return { element, path: ownPath, children, leaf: null, definition: own, repetition: repeated };
  };
  const root = build([], 0, 0);
  if (root.leaf || next !== elements.length) throw new Error("the schema is no tree");
  return root;
}

export function leavesOf(node: SchemaNode): Leaf[] {
  return node.leaf ? [node.leaf] : node.children.flatMap(leavesOf);
}

/** The node in the form that hyparquet's assembly takes. */
export function toSchemaTree(node: SchemaNode): SchemaTree {
  const children = node.children.map(toSchemaTree);
  const count = children.reduce((sum, child) => sum + child.count, 1);
  return { count, element: node.element, path: [...node.path], children };
}
