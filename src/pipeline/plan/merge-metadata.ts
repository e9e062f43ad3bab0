/** Merges the metadata of a layer's inputs; metadata that the target cannot hold is reported as a loss. */
import type { ColumnNames } from "../../model/layer.js";
import {
  type ColumnMetadata,
  type LayerMetadata,
  type MetadataElements,
  type MetadataTerm,
  metadataTerms,
} from "../../model/metadata.js";
import type { FitPlan } from "../../stages/fit-plan.js";
import type { ConversionContext } from "../conversion-context.js";
import type { OutputLayer } from "./plan-outputs.js";

/** Lists the kinds of elements with their counts. */
function describeElementCounts(elements: readonly MetadataElements[]): string[] {
  const counts = new Map<string, number>();
  for (const [kind, count] of elements.flatMap((each) => Object.entries(each.counts))) {
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].map(([kind, count]) => (count > 1 ? `${count} ${kind}` : kind));
}

/** The metadata of an output layer. Metadata that its inputs do not share, or that the target cannot hold, is a loss. */
export function mergeMetadata(
  { reportBuilder, writer, request }: ConversionContext,
  { name, inputs }: OutputLayer,
  fit: Pick<FitPlan, "fields">,
): LayerMetadata | null {
  const sources = inputs.map(({ layer, isExisting }) => {
    const nameOf = outputColumnNames(isExisting ? {} : request, fit, layer.columnNames);
    return layer.metadata && renameColumns(layer.metadata, nameOf);
  });
  // A file that is appended to keeps its own.
  const isAppended = inputs[0]?.isExisting === true;
  const supported = writer.capabilities.metadata ?? [];
  const kept: [MetadataTerm, unknown][] = [];
  const unsupported: string[] = [];
  const different: string[] = [];
  for (const term of Object.keys(metadataTerms) as MetadataTerm[]) {
    const texts = sources.map((each) => JSON.stringify(each?.[term]) as string | undefined);
    if (texts.every((text) => text === undefined)) continue;
    const own = isAppended || new Set(texts).size === 1 ? texts[0] : undefined;
    const elements = term === "elements" ? sources.flatMap((each) => each?.elements ?? []) : [];
    const isForeign = elements.some(({ format }) => format !== writer.format.id);
    if (isForeign || (!supported.includes(term) && elements.length > 0))
      unsupported.push(...describeElementCounts(elements));
    else if (!supported.includes(term)) unsupported.push(metadataTerms[term]);
    else {
      if (own !== undefined) kept.push([term, JSON.parse(own)]);
      if (texts.some((text) => text !== undefined && text !== own)) different.push(metadataTerms[term]);
    }
  }
  const reportLoss = (reason: string, terms: readonly string[]) =>
    reportBuilder.losses.add("metadata-left-out", name, undefined, 1, `${reason}: ${terms.join(", ")}`);
  if (unsupported.length > 0) reportLoss(`${writer.format.label} cannot hold this metadata of the file`, unsupported);
  const reason = isAppended
    ? "the existing file keeps its own metadata"
    : "the inputs of the layer have different metadata";
  if (different.length > 0) reportLoss(reason, different);
  return kept.length > 0 ? (Object.fromEntries(kept) as LayerMetadata) : null;
}

/** The names of the ID and geometry columns, if all inputs of a layer use the same; else null. */
export function commonColumnNames({ inputs }: OutputLayer): ColumnNames | null {
  const names = inputs.filter(({ isExisting }) => !isExisting).map(({ layer }) => layer.columnNames ?? null);
  const [first = null, ...others] = [...new Set(names.map((each) => JSON.stringify(each)))];
  return first === null || others.length > 0 ? null : (JSON.parse(first) as ColumnNames | null);
}

/** Returns the output name of an input column; null if the output does not have it. */
type OutputColumnName = (column: string) => string | null;

function outputColumnNames(
  { rename, select }: Pick<ConversionContext["request"], "rename" | "select">,
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

/** Renames columns in the metadata, and drops the metadata of columns that the output does not have. */
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
