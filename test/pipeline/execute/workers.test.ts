/**
 * What comes out is the same for any number of workers, be it files, a report or an error: layers as fast-check makes
 * them, in every format, read in pieces of a few features, whole or spoilt, by themselves or after another one.
 *
 * `WORKER_RUNS=100` looks longer (layers for each pair of formats), `GEOFERRY_TEST_SEED=7` elsewhere.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { builtins } from "../../../plugins/index.js";
import { asGeoferryError } from "../../../src/errors.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { Executor } from "../../../src/pipeline/execute/executor.js";
import { LocalExecutor } from "../../../src/pipeline/execute/local-executor.js";
import { PoolExecutor } from "../../../src/pipeline/execute/pool-executor.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import type { Format } from "../../../src/plugin/format.js";
import { folderContents, TemporaryFolder, writeFile } from "../../../src/testing/index.js";
import { batchOf, type GeneratedLayer, generatedLayer } from "../../support/formats/generated-layers.js";
import { losslessOptions } from "../../support/formats/round-trip.js";
import { createTestHost } from "../../support/host.js";

// Found on this thread, chunks are read by workers as assigned, not in sizes that those would choose.
vi.mock("../../../plugins/shared/split-size.js", () => ({ defaultSplitBytes: 256 }));

const numRuns = Number(process.env.WORKER_RUNS ?? 1);
const formats = builtins
  .flatMap((builtin) => builtin.formats)
  .filter(({ id, reader, writer, addresses }) => reader && writer && !addresses && !id.startsWith("gdal:"))
  .filter(({ id }) => id !== "geojsonseq");
const pairs = formats.flatMap((from) => formats.map((to) => [from.id, to.id, from, to] as const));
/** Each pair has layers of its own, the same in every run. */
const seedOf = (from: Format, to: Format) =>
  (fc.readConfigureGlobal().seed ?? 0) + pairs.findIndex((pair) => pair[2] === from && pair[3] === to);

const host = createTestHost();
const executors: Executor[] = [];
/** How many pieces of inputs of each format there were. */
const pieces = new Map<string, number>();

beforeAll(() => {
  executors.push(counting(new LocalExecutor(async ({ id }) => host.registry.get(id), host.signal)));
  for (const threads of [2, 3, 8]) executors.push(new PoolExecutor(threads));
});
afterAll(async () => {
  for (const executor of executors) await executor[Symbol.asyncDispose]();
});

function counting(executor: LocalExecutor): Executor {
  return {
    parallelism: executor.parallelism,
    async open(spec) {
      const task = await executor.open(spec);
      return {
        run(work) {
          pieces.set(spec.reader.id, (pieces.get(spec.reader.id) ?? 0) + 1);
          return task.run(work);
        },
        close: () => task.close(),
      };
    },
    releaseBuffers: (result) => executor.releaseBuffers(result),
    [Symbol.asyncDispose]: () => executor[Symbol.asyncDispose](),
  };
}

/** Several times the features, so that even a database has them on several pages. */
const repeated = (layer: GeneratedLayer): GeneratedLayer => {
  const geometries = Array.from({ length: 4 }, () => layer.geometries).flat();
  return { ...layer, geometries, ids: layer.ids && geometries.map((_, n) => n) };
};

/** Bytes put over those of a file at a share of its length, or its end cut off there. */
type Damage = { readonly at: number; readonly bytes: string | null } | null;
const damage: fc.Arbitrary<Damage> = fc.option(
  fc.record({
    at: fc.double({ min: 0.05, max: 1, noNaN: true }),
    bytes: fc.constantFrom(null, "\u0000\u0001", "<", ">", '"', "}]", ",,", "\n", "999999999"),
  }),
  { freq: 2 },
);

function spoil(path: string, { at, bytes }: NonNullable<Damage>): void {
  const content = readFileSync(path);
  const start = Math.floor(at * content.length);
  if (bytes === null) writeFileSync(path, content.subarray(0, start));
  else {
    content.write(bytes, start, "latin1");
    writeFileSync(path, content);
  }
}

const requests: fc.Arbitrary<Partial<ConvertRequest>> = fc.constantFrom<Partial<ConvertRequest>>(
  {},
  { skipErrors: true },
  { skipErrors: true },
  { skipErrors: true, maxRejects: "3" },
  { targetCrs: "EPSG:3857" },
  { bbox: [-90, -45, 90, 45] },
  { makeValid: true },
);

/** The pages of a Parquet have so many rows that its pieces are row groups. */
const splitOptions: Readonly<Record<string, Readonly<Record<string, string>>>> = { geoparquet: { rowGroup: "3" } };

/** A topology cannot be read in pieces: its features refer to arcs anywhere in the document. */
const unsplitFormats = new Set(["topojson"]);

/** The files of the inputs: one of each family of geometries, where the format needs that. */
async function writeInputs(format: Format, folder: string, layers: readonly GeneratedLayer[]): Promise<string[]> {
  const paths: string[] = [];
  for (const [n, layer] of layers.entries()) {
    const options = { options: { ...losslessOptions[format.id], ...splitOptions[format.id] }, name: `layer${n}` };
    for (const { path } of await writeFile(format, folder, batchOf(repeated(layer)), options)) paths.push(path);
  }
  return paths;
}

/** The files of a folder by their sums: bytes are slow to compare. */
const sums = (folder: string) =>
  [...folderContents(folder)].map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]);

/** The outcome of a request: files, and the report or the error, without the name of the folder. */
async function outcome(request: Omit<ConvertRequest, "output">, folder: string, name: string, executor: Executor) {
  mkdirSync(folder);
  const result = await convert({ ...request, output: join(folder, name) }, host, executor).catch((error: unknown) => {
    const { code, message } = asGeoferryError(error);
    return { code, message };
  });
  const text = JSON.stringify(result, (_, value) => (typeof value === "bigint" ? String(value) : value));
  return { result: text.replaceAll(folder, "OUTPUT"), files: sums(folder) };
}

describe.each(pairs)("%s to %s", (_from, _to, from, to) => {
  it("1, 2, 3 and 8 workers write the same output", { timeout: 60_000 + numRuns * 2000 }, async () => {
    const layers = fc.array(generatedLayer, { minLength: 1, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(layers, damage, requests, async (given, spoilt, request) => {
        const scratch = new TemporaryFolder();
        try {
          const inputs = await writeInputs(from, scratch.folder, given);
          if (spoilt && inputs[0] !== undefined) spoil(inputs[0], spoilt);
          const asked = {
            inputs,
            from: from.id,
            to: to.id,
            ...(from.id === "csv" ? { sourceCrs: "EPSG:4326" } : {}),
            ...request,
          };
          if (inputs.length === 0) return;
          const found = [];
          for (const [n, executor] of executors.entries())
            found.push(await outcome(asked, scratch.path(`out-${n}`), `out.${to.extensions[0]}`, executor));
          const [alone, ...side] = found;
          for (const other of side) expect(other).toEqual(alone);
        } finally {
          scratch.remove();
        }
      }),
      { numRuns, seed: seedOf(from, to), endOnFailure: true },
    );
  });
});

it("most inputs are read in several splits", () => {
  const conversions = numRuns * formats.length;
  for (const { id } of formats)
    if (!unsplitFormats.has(id)) expect(pieces.get(id) ?? 0, id).toBeGreaterThan(2 * conversions);
});
