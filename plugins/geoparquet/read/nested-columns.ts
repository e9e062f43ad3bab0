/** Lists, structs and maps as JSON. */
import { assembleLists, assembleNested } from "hyparquet/src/assemble.js";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import { getTreePath } from "hyparquet/src/schema.js";
import { BytesBuilder, type Column, jsonValueAt } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import type { LeafRows } from "../parquet/leaf-reader.js";
import { type SchemaNode, toSchemaTree } from "../parquet/schema.js";
import { countValues } from "../parquet/values.js";
import { FieldColumns } from "./field-columns.js";
import { decodingOf, unknownFacts } from "./field-decoding.js";
import type { FieldPlan } from "./plan.js";

type Tree = ReturnType<typeof toSchemaTree>;

/** hyparquet has undefined for null inside of structs and maps, which JSON would leave out. */
const toJson = (_: string, value: unknown): unknown => value ?? null;

export class NestedColumns {
  private readonly root: Tree;
  private readonly tree: Tree;
  private readonly columns: readonly FieldColumns[];
  private readonly isRepeated: boolean;

  constructor(
    private readonly plan: FieldPlan,
    private readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">,
  ) {
    this.tree = toSchemaTree(withAnnotations(plan.node));
    // hyparquet's paths begin with the root of the schema.
    this.root = { count: 1, element: { name: "schema" }, children: [this.tree], path: [] };
    this.isRepeated = plan.node.element.repetition_type === "REPEATED";
    this.columns = plan.leaves.map((leaf) => {
      const { type, decoding } = decodingOf(leaf.element, unknownFacts);
      return new FieldColumns(plan.field.name, leaf, type, decoding, context);
    });
  }

  column(rows: number, leaves: readonly LeafRows[]): Column {
    const data = new Map<string, unknown[]>();
    leaves.forEach((leaf, c) => {
      const { path, maxDefinition } = this.plan.leaves[c]!;
      const count = countValues(leaf.values);
      const dense = { rows: count, entries: count, definitions: null, repetitions: null, values: leaf.values };
      const column = this.columns[c]!.column(dense);
      this.reportNonFinite(column);
      const values = Array.from({ length: count }, (_, k) => jsonValueAt(column, k));
      const definitions = leaf.definitions ? [...leaf.definitions] : new Array(leaf.entries).fill(maxDefinition);
      const repetitions = leaf.repetitions ? [...leaf.repetitions] : [];
      const schemaPath = getTreePath(this.root, [...path]);
      data.set(path.join("."), assembleLists([], definitions, repetitions, values, schemaPath) as unknown[]);
    });
    assembleNested(data, this.tree, DEFAULT_PARSERS);
    const found = data.get(this.tree.path.join("."));
    if (!found || (rows > 0 && found.length !== rows)) throw new Error("a nested column has another number of rows");
    const builder = new BytesBuilder("json", rows);
    for (let row = 0; row < rows; row++) {
      // A repeated column without annotation is never null.
      const value = found[row] ?? (this.isRepeated ? [] : null);
      if (value === null) builder.pushNull();
      else builder.push(JSON.stringify(value, toJson));
    }
    return builder.finish();
  }

  /** JSON has no NaN and no infinity. */
  private reportNonFinite(column: Column): void {
    if (column.type !== "double") return;
    let count = 0;
    for (const value of column.values) if (!Number.isFinite(value)) count++;
    const example = "NaN or infinity in a list, struct or map became null, since JSON does not have them";
    if (count > 0) this.context.reportLoss("non-finite-value", this.plan.field.name, example, count);
  }
}

/** The schema with the older annotations of lists and maps, which hyparquet's assembly knows. */
function withAnnotations(node: SchemaNode): SchemaNode {
  const { element } = node;
  const logical = element.logical_type?.type;
  const converted = logical === "LIST" || logical === "MAP" ? logical : element.converted_type;
  return {
    ...node,
    element: converted === undefined ? element : { ...element, converted_type: converted },
    children: node.children.map(withAnnotations),
  };
}
