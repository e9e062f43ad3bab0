/** What the files say of themselves goes with the layer where the target has a place for it, and is a loss elsewhere. */
import { type LayerMetadata, type MetadataTerm, metadataTerms } from "../model/metadata.js";
import type { Conversion } from "./conversion.js";
import type { OutputLayer } from "./outputs.js";

/** The metadata of an output layer; what its inputs do not have alike, or the target has no place for, is lost. */
export function metadataFor({ gathered, writer }: Conversion, { name, inputs }: OutputLayer): LayerMetadata | null {
  const sources = inputs.filter(({ existing }) => !existing).map(({ layer }) => layer.metadata ?? {});
  const held = writer.accepts.metadata ?? [];
  const kept: [MetadataTerm, unknown][] = [];
  const homeless: MetadataTerm[] = [];
  const different: MetadataTerm[] = [];
  for (const term of metadataTerms) {
    const [value, ...others] = [...new Set(sources.map((each) => JSON.stringify(each[term]) as string | undefined))];
    if (value === undefined && others.length === 0) continue;
    if (!held.includes(term)) homeless.push(term);
    else if (value === undefined || others.length > 0) different.push(term);
    else kept.push([term, JSON.parse(value)]);
  }
  const lose = (example: string) => gathered.losses.add("metadata-left-out", name, undefined, 1, example);
  if (homeless.length > 0) {
    lose(`${writer.format.label} has no place for what the file says of itself: ${homeless.join(", ")}`);
  }
  if (different.length > 0) {
    lose(`the inputs of the layer do not say the same of themselves: ${different.join(", ")}`);
  }
  return kept.length > 0 ? (Object.fromEntries(kept) as LayerMetadata) : null;
}
