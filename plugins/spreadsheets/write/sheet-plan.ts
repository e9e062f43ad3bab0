/** What writers of both formats decide and report before the first row. */
import { createError } from "../../../src/errors.js";
import type { Sink, TargetLayer, WriteContext } from "../../../src/plugin/format.js";
import { createLayout, findMisleadingFields, type TableLayout } from "../../shared/table/layout.js";
import { crsProperty, isCrsCode, sheetCrsProperty } from "../crs-property.js";
import { maxRows } from "../limits.js";
import type { WriteOptions } from "../options.js";

export interface SheetPlan {
  readonly name: string;
  readonly layout: TableLayout;
  /** The names of all columns: the row of the header. */
  readonly header: readonly string[];
}

/** @throws unsupported */
export function tooManyRows(sink: Sink, layer: string): Error {
  const reason = `the sheet "${layer}" would have more than ${maxRows} rows, the most that a spreadsheet has; take a part with --where or --limit, or choose another format`;
  return createError("unsupported", { source: sink.name, reason });
}

export function planSheets(layers: readonly TargetLayer[], options: WriteOptions, context: WriteContext): SheetPlan[] {
  return layers.map((layer) => {
    const layout = createLayout(layer, options);
    reportLayer(layer, layout, context);
    return { name: layer.name, layout, header: [...layout.geometryNames, ...layout.fields.map(({ name }) => name)] };
  });
}

function reportLayer(layer: TargetLayer, layout: TableLayout, context: WriteContext): void {
  for (const { name } of findMisleadingFields(layout))
    context.reportNotice(
      "geometry-name",
      name,
      "readers may take this column for a geometry; --in geometry=none forbids it",
    );
  for (const { name, type, values } of layer.summary?.fields ?? []) {
    if (values === 0 && type !== "text")
      context.reportNotice("type-undeclared", name, `${type}, but without a value to tell it`);
  }
}

/**
 * The properties of the file that name the reference systems of its sheets: one if all have the same. Systems without
 * a code are reported.
 */
export function crsProperties(
  layers: readonly TargetLayer[],
  plans: readonly SheetPlan[],
  context: WriteContext,
): Map<string, string> {
  const found = new Map<string, string>();
  const placed = layers.filter((_, n) => plans[n]!.layout.mode !== "none");
  const isSame = placed.every(({ crs }) => crs?.id === placed[0]!.crs?.id);
  for (const { crs, name } of placed) {
    if (crs === null) continue;
    const { id } = crs;
    if (id !== null && isCrsCode(id)) found.set(isSame ? crsProperty : sheetCrsProperty(name), id);
    else {
      const example = `no property of the file can say ${crs.name}; name another system with --target-crs, or choose another format`;
      context.reportLoss("crs-undeclared", undefined, example);
    }
  }
  return found;
}
