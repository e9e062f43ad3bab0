/** Layers and fields of a file that is on the command line already. */
import { statSync } from "node:fs";
import { Spool } from "../../io/input/spool.js";
import { type OpenInputs, openInputs } from "../../pipeline/input/open-inputs.js";
import type { Registry } from "../../plugin/registry.js";
import type { Completion } from "./completions.js";

/** A file, and what the line says of how it is read. */
export interface Dataset {
  readonly path: string;
  readonly from: string | undefined;
  readonly layers: readonly string[];
  /** Milliseconds after which nothing is offered. */
  readonly timeoutMs: number;
}

/** Rows by which the reader of a table decides its types, where it has the choice: they are not what is asked for. */
const smallSample = { sample: "10" };

/** The first file among the paths: addresses, patterns and folders take too long. */
export const findFirstFile = (paths: readonly string[]): string | undefined =>
  paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());

/** What `look` finds in the file; nothing where it cannot be read, or not in time. */
async function readDataset(
  dataset: Dataset,
  registry: Registry,
  look: (inputs: OpenInputs) => Promise<Completion[]>,
): Promise<Completion[]> {
  const timeout = AbortSignal.timeout(dataset.timeoutMs);
  const late = new Promise<Completion[]>((resolve) => timeout.addEventListener("abort", () => resolve([])));
  const found = async () => {
    const { path, from, layers } = dataset;
    await using spool = new Spool();
    const host = { registry, signal: timeout, now: new Date() };
    const reader =
      from === undefined
        ? registry.findByExtension(path).find((format) => format.reader)?.reader
        : registry.get(from).reader;
    const hasSample = reader !== undefined && Object.hasOwn(reader.options, "sample");
    const request = {
      layers,
      ...(from === undefined ? {} : { from }),
      ...(hasSample ? { readerOptions: smallSample } : {}),
    };
    await using inputs = await openInputs([path], request, host, spool);
    return await look(inputs);
  };
  return Promise.race([found().catch(() => []), late]);
}

export const layerCompletions = (dataset: Dataset, registry: Registry): Promise<Completion[]> =>
  readDataset({ ...dataset, layers: [] }, registry, async ({ layers }) =>
    layers.map(({ layer: { name, geometryTypes } }) => ({
      value: name,
      ...(geometryTypes === null ? {} : { description: geometryTypes.join(", ") }),
    })),
  );

export const fieldCompletions = (dataset: Dataset, registry: Registry): Promise<Completion[]> =>
  readDataset(dataset, registry, async ({ layers }) => {
    const found = new Map<string, string>();
    for (const { layer } of layers) {
      for (const { name, type } of layer.fields ?? []) found.set(name, type);
      if (layer.fields !== null) continue;
      // What the first features have; to read all of them takes too long.
      for await (const batch of layer.batches()) {
        if (!Array.isArray(batch)) for (const { name, type } of batch.fields) found.set(name, type);
        break;
      }
    }
    return [...found].map(([value, description]) => ({ value, description }));
  });
