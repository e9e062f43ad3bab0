/** Completes layers and fields of a file on the command line. */
import { statSync } from "node:fs";
import { Spool } from "../../io/input/spool.js";
import { type OpenInputs, openInputs } from "../../pipeline/input/open-inputs.js";
import type { Registry } from "../../plugin/registry.js";
import type { Completion } from "./completions.js";

export interface Dataset {
  readonly path: string;
  readonly from: string | undefined;
  readonly layers: readonly string[];
  /** Time limit in milliseconds. */
  readonly timeoutMs: number;
}

/** Fewer rows for type detection: completion needs only names. */
const smallSample = { sample: "10" };

/** The first path that is a file; addresses, patterns and folders take too long. */
export const findFirstFile = (paths: readonly string[]): string | undefined =>
  paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());

/** @returns nothing if the file cannot be read within the time limit */
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
      // Reads only the first batch; reading all features takes too long.
      for await (const batch of layer.batches()) {
        if (!Array.isArray(batch)) for (const { name, type } of batch.fields) found.set(name, type);
        break;
      }
    }
    return [...found].map(([value, description]) => ({ value, description }));
  });
