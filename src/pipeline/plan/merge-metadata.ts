/** What the files say of themselves goes with the layer where the target has a place for it, and is a loss elsewhere. */
import type { ColumnNames } from "../../model/layer.js";
import {
  type ColumnMetadata,
  type LayerMetadata,
  type MetadataElements,
  type MetadataTerm,
  metadataTerms,
} from "../../model/metadata.js";
import type { FitPlan } from "../../stages/fit-to-writer.js";
import type { ConversionContext } from "../conversion-context.js";
import type { OutputLayer } from "./plan-outputs.js";

/** The kinds of elements, with their numbers. */
function describeElementCounts(elements: readonly MetadataElements[]): string[] {
  const counts = new Map<string, number>();
  for (const [kind, count] of elements.flatMap((each) => Object.entries(each.counts))) {
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].map(([kind, count]) => (count > 1 ? `${count} ${kind}` : kind));
}

/** The metadata of an output layer; what its inputs do not have alike, or the target has no place for, is lost. */
export function mergeMetadata(
  { reportBuilder, writer, request }: ConversionContext,
  { name, inputs }: OutputLayer,
  fit: Pick<FitPlan, "fields">,
): LayerMetadata | null {
  const sources = inputs
    .filter(({ isExisting }) => !isExisting)
    .map(
      ({ layer }) =>
        layer.metadata && renameColumns(layer.metadata, outputColumnNames(request, fit, layer.columnNames)),
    );
  const held = writer.capabilities.metadata ?? [];
  const kept: [MetadataTerm, unknown][] = [];
  const homeless: string[] = [];
  const different: string[] = [];
  for (const term of Object.keys(metadataTerms) as MetadataTerm[]) {
    const [value, ...others] = [...new Set(sources.map((each) => JSON.stringify(each?.[term]) as string | undefined))];
    if (value === undefined && others.length === 0) continue;
    const elements = term === "elements" ? sources.flatMap((each) => each?.elements ?? []) : [];
    const isForeign = elements.some(({ format }) => format !== writer.format.id);
    if (isForeign || (!held.includes(term) && elements.length > 0)) homeless.push(...describeElementCounts(elements));
    else if (!held.includes(term)) homeless.push(metadataTerms[term]);
    else if (value === undefined || others.length > 0) different.push(metadataTerms[term]);
    else kept.push([term, JSON.parse(value)]);
  }
  const lose = (what: string, terms: readonly string[]) =>
    reportBuilder.losses.add("metadata-left-out", name, undefined, 1, `${what}: ${terms.join(", ")}`);
  if (homeless.length > 0) lose(`${writer.format.label} has no place for what the file says of itself`, homeless);
  if (different.length > 0) lose("the inputs of the layer do not say the same of themselves", different);
  return kept.length > 0 ? (Object.fromEntries(kept) as LayerMetadata) : null;
}

/** What the inputs of a layer call the columns of ids and geometries; null where they do not say the same. */
export function commonColumnNames({ inputs }: OutputLayer): ColumnNames | null {
  const names = inputs.filter(({ isExisting }) => !isExisting).map(({ layer }) => layer.columnNames ?? null);
  const [first = null, ...others] = [...new Set(names.map((each) => JSON.stringify(each)))];
  return first === null || others.length > 0 ? null : (JSON.parse(first) as ColumnNames | null);
}

/** The name that a column of an input has in the output; null where it is not in it. */
type OutputColumnName = (column: string) => string | null;

function outputColumnNames(
  { rename, select }: ConversionContext["request"],
  { fields }: Pick<FitPlan, "fields">,
  { id, geometry }: ColumnNames = {},
): OutputColumnName {
  const fitted = fields && new Map(fields.map(({ source, name }) => [source, name]));
  return (column) => {
    if (column === id || column === geometry) return column;
    if (select && !select.includes(column)) return null;
    const name = rename && Object.hasOwn(rename, column) ? rename[column]! : column;
    return fitted ? (fitted.get(name) ?? null) : name;
  };
}

/** The same of the columns by their new names, without those that were not wanted. */
function renameColumns(metadata: LayerMetadata, nameOf: OutputColumnName): LayerMetadata {
  const { columns, documents, ...others } = metadata;
  const ofColumns = columns?.flatMap((each): ColumnMetadata[] => {
    const column = nameOf(each.column);
    return column === null ? [] : [{ ...each, column }];
  });
  const kept = documents?.flatMap((each) => {
    if (each.column === undefined) return [each];
    const column = nameOf(each.column);
    return column === null ? [] : [{ ...each, column }];
  });
  return {
    ...others,
    ...(kept && kept.length > 0 && { documents: kept }),
    ...(ofColumns && ofColumns.length > 0 && { columns: ofColumns }),
  };
}
