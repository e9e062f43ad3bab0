/** Built-in writers that make one mistake: what they write is readable, complete by its own account, and wrong. */
import type { Batch, Feature, Field } from "../../../src/model/index.js";
import { packFeatures } from "../../../src/model/pack-features.js";
import type { Assembler, Chunk, Format, TargetLayer, WriterModule } from "../../../src/plugin/format.js";
import type { OptionTable, OptionValues } from "../../../src/plugin/options.js";

/** A mistake of an encoder, of an assembler, or about the layer. */
export interface Fault {
  /** Changes the features of a batch. */
  readonly features?: (features: Feature[]) => Feature[];
  /** Changes the list of chunks that the assembler gets. */
  readonly chunks?: (chunks: readonly Chunk[]) => readonly Chunk[];
  readonly fields?: (fields: readonly Field[]) => readonly Field[];
  readonly layer?: (layer: TargetLayer) => TargetLayer;
}

/** Integers beyond 2⁵³ are texts in a feature. */
function withBigints(features: readonly Feature[], fields: readonly Field[]): Feature[] {
  const big = fields.filter(({ type }) => type === "int64").map(({ name }) => name);
  return features.map((feature) => {
    const properties = { ...feature.properties };
    for (const name of big)
      if (typeof properties[name] === "string") properties[name] = BigInt(properties[name] as string);
    return { ...feature, properties };
  });
}

function mutate(batch: Batch, { features, fields }: Fault): Batch {
  const declared = fields?.(batch.fields) ?? batch.fields;
  const given = [...batch.features()];
  return packFeatures(withBigints(features?.(given) ?? given, declared), 1, declared);
}

type Module = WriterModule<OptionValues<OptionTable>>;

/** The format with a writer that makes the mistake. */
export function withFault(format: Format, fault: Fault): Format {
  const layerOf = (layer: TargetLayer): TargetLayer => {
    const changed = fault.layer?.(layer) ?? layer;
    if (!fault.fields || !changed.fields) return changed;
    const fields = fault.fields(changed.fields);
    const types = new Map(fields.map(({ name, type }) => [name, type]));
    const summary = changed.summary && {
      ...changed.summary,
      fields: changed.summary.fields.flatMap((field) =>
        types.has(field.name) ? [{ ...field, type: types.get(field.name)! }] : [],
      ),
    };
    return { ...changed, fields, summary };
  };
  return {
    ...format,
    writer: {
      ...format.writer!,
      async load(): Promise<Module> {
        const module = await format.writer!.load();
        return {
          ...module,
          async createEncoder(layer, options, context) {
            const encoder = await module.createEncoder(layerOf(layer), options, context);
            return { encode: (batch) => encoder.encode(fault.features || fault.fields ? mutate(batch, fault) : batch) };
          },
          async createAssembler(sink, layers, options, context): Promise<Assembler> {
            const assembler = await module.createAssembler(sink, layers.map(layerOf), options, context);
            if (!fault.chunks) return assembler;
            const chunks: Chunk[] = [];
            return {
              async append(chunk) {
                chunks.push(structuredClone(chunk));
              },
              async finish() {
                for (const chunk of fault.chunks!(chunks)) await assembler.append(structuredClone(chunk), 0);
                await assembler.finish();
              },
              ...(assembler.abort ? { abort: () => assembler.abort!() } : {}),
            };
          },
        };
      },
    },
  };
}
