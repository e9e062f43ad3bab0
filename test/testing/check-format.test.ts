import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { geojsonseq } from "../../plugins/geojson/index.js";
import type { Batch, Dataset, Layer, Split } from "../../src/model/index.js";
import type { Assembler, Encoder, Format, Reader, ReaderModule, Writer, WriterModule } from "../../src/plugin/index.js";
import { checkFormat, TemporaryFolder } from "../../src/testing/index.js";

/** Every check of a format, by its name without the format's id. */
function checksOf(format: Format, options: Partial<Parameters<typeof checkFormat>[1]> = {}) {
  const checks = new Map<string, () => Promise<void>>();
  checkFormat(format, {
    test: (name, run) => void checks.set(name.slice(format.id.length + 2), run),
    mutations: 12,
    ...options,
  });
  return checks;
}

type AnyReader = ReaderModule<Parameters<Reader["load"]> extends never ? never : Record<string, never>>;
type Open = AnyReader["open"];
const sound = geojsonseq as unknown as Format & { reader: Reader; writer: Writer };

/** The sound format with another reader, writer or member. */
function withReader(change: (open: Open) => Open): Format {
  const load = async () => {
    const { open } = (await sound.reader.load()) as unknown as AnyReader;
    return { open: change(open) } as unknown as ReaderModule<never>;
  };
  return { ...sound, reader: { ...sound.reader, load } } as Format;
}

const withLayers = (change: (layer: Layer) => Partial<Layer>): Format =>
  withReader((open) => async (source, options, context) => {
    const dataset = await open(source, options, context);
    const layers = dataset.layers.map((layer): Layer => {
      const own: Layer = {
        name: layer.name,
        crs: layer.crs,
        fields: layer.fields,
        geometryTypes: layer.geometryTypes,
        featureCount: layer.featureCount,
        extent: layer.extent,
        bytes: layer.bytes,
        batches: (split) => layer.batches(split),
        ...(layer.splits ? { splits: () => layer.splits!() } : {}),
      };
      return { ...own, ...change(own) };
    });
    return {
      layers,
      scanResult: dataset.scanResult,
      [Symbol.asyncDispose]: () => dataset[Symbol.asyncDispose](),
    } as Dataset;
  });

const withBatches = (change: (batch: Batch) => Batch): Format =>
  withLayers((layer) => ({
    async *batches(split?: Split) {
      for await (const batch of layer.batches(split)) yield change(batch as Batch);
    },
  }));

type Module = WriterModule<never, { bytes?: Uint8Array }>;
function withWriter(change: (module: Module) => Module): Format {
  const load = async () => change((await sound.writer.load()) as unknown as Module);
  return { ...sound, writer: { ...sound.writer, load } } as unknown as Format;
}
const withEncoder = (change: (encoder: Encoder, lose: () => void) => Encoder): Format =>
  withWriter((module) => ({
    ...module,
    createEncoder: async (layer, options, context) =>
      change(await module.createEncoder(layer, options, context), () =>
        context.reportLoss("made-up", "f_int32", "nothing of the sort"),
      ) as Encoder<{ bytes?: Uint8Array }>,
  }));

const withAccepts = (change: Partial<ReturnType<Writer["capabilities"]>>): Format =>
  ({
    ...sound,
    writer: {
      ...sound.writer,
      capabilities: (options: never) => ({ ...sound.writer.capabilities(options), ...change }),
    },
  }) as Format;

const dropLast = (batch: Batch) =>
  batch.take(Uint32Array.from({ length: Math.max(0, batch.length - 1) }, (_, row) => row));

let opened = 0;
let calls = 0;

/** A flaw, the check that must find it, and what that must say. */
const flaws: readonly (readonly [flaw: string, format: Format, check: string, message: RegExp])[] = [
  [
    "another apiVersion",
    { ...sound, apiVersion: 2 } as unknown as Format,
    "declares itself as the contract asks",
    /apiVersion/,
  ],
  [
    "an option without help",
    { ...sound, reader: { ...sound.reader, options: { x: { type: "text", help: "" } } } } as Format,
    "has reader options that explain themselves",
    /help/,
  ],
  [
    "a default out of range",
    {
      ...sound,
      writer: { ...sound.writer, options: { x: { type: "integer", default: 9, max: 5, help: "How many there are" } } },
    } as unknown as Format,
    "has writer options that explain themselves",
    /"9" is not a whole number/,
  ],
  [
    "families that leave out a type",
    withAccepts({ families: [{ suffix: "point", types: ["Point"] }] }),
    "accepts what can be accepted, with every choice of its options",
    /families must cover/,
  ],
  [
    "no text",
    withAccepts({ fieldTypes: ["int32"] }),
    "accepts what can be accepted, with every choice of its options",
    /text/,
  ],
  [
    "an identify that is always sure",
    { ...sound, identify: () => "yes" },
    "is not sure of what is something else",
    /says "yes"/,
  ],
  ["an identify that knows nothing", { ...sound, identify: () => "no" }, "identifies its own files", /not identified/],
  [
    "an identify that throws on short heads",
    { ...sound, identify: (head) => (head.readUInt8(70) > 0 ? "maybe" : "no") },
    "identifies its own files",
    /never throw/,
  ],
  ["a lost feature", withBatches(dropLast), "brings back 1 features", /number of features/],
  [
    "a lost height",
    withBatches((batch) => batch.with({ geometry: { ...batch.geometry, z: null } })),
    "brings back Points (xyz)",
    /came back changed and lose\(\) counted 0.*became.*NaN/,
  ],
  [
    "a text that is cut",
    withBatches((batch) => (batch.fields.length > 0 ? batch.with({ fields: [], columns: [] }) : batch)),
    "brings back text values, null and absent",
    /field "f_text" came back changed/,
  ],
  [
    "lost ids",
    withBatches((batch) => batch.with({ ids: null })),
    "brings back feature ids that are numbers",
    /feature id/,
  ],
  [
    "a loss that is none",
    withEncoder((encoder, lose) => ({
      encode(batch) {
        lose();
        return encoder.encode(batch);
      },
    })),
    "brings back Points (xy)",
    /nothing changed/,
  ],
  ["a wrong count", withLayers(() => ({ featureCount: 7 })), "brings back 3000 features", /featureCount/],
  ["a wrong extent", withLayers(() => ({ extent: [0, 0, 1, 1] })), "brings back Points (xy)", /extent/],
  [
    "a column that is too short",
    withBatches((batch) =>
      batch.with({ columns: batch.columns.map((column) => ({ ...column, presence: column.presence.slice(1) })) }),
    ),
    "brings back Points (xy)",
    /presence must have one entry a row/,
  ],
  [
    "bytes that are no text",
    withBatches((batch) =>
      batch.with({
        columns: batch.columns.map((column) =>
          "bytes" in column ? { ...column, bytes: column.bytes.map(() => 0xff) } : column,
        ),
      }),
    ),
    "brings back text values, null and absent",
    /not UTF-8/,
  ],
  [
    "a reader that makes up a reference system",
    withLayers(() => ({ crs: { id: "EPSG:2154", name: "RGF93", definition: "EPSG:2154", kind: "projected" } })),
    "claims no other reference system than the one written",
    /read in EPSG:2154/,
  ],
  [
    "splits that leave something out",
    withLayers((layer) => ({
      async *splits() {
        let first = true;
        for await (const split of layer.splits!()) {
          if (!first) yield split;
          first = false;
        }
      },
    })),
    "reads by splits what it reads whole, and leaves the input as it was",
    /by splits/,
  ],
  [
    "other splits at every call",
    withLayers((layer) => ({
      async *splits() {
        calls++;
        for await (const split of layer.splits!()) yield { ...split, calls };
      },
    })),
    "reads by splits what it reads whole, and leaves the input as it was",
    /same splits at every call/,
  ],
  [
    "splits with functions in them",
    withLayers((layer) => ({
      async *splits() {
        for await (const split of layer.splits!()) yield { ...split, again: () => split };
      },
    })),
    "reads by splits what it reads whole, and leaves the input as it was",
    /could not be cloned/,
  ],
  [
    "batches that can be asked once",
    withLayers((layer) => {
      let asked = false;
      return {
        async *batches(split?: Split) {
          if (asked && !split) return;
          asked ||= !split;
          yield* layer.batches(split);
        },
      };
    }),
    "reads by splits what it reads whole, and leaves the input as it was",
    /again/,
  ],
  [
    "batches that share a buffer",
    withLayers((layer) => {
      let shared: Float64Array | undefined;
      return {
        async *batches(split?: Split) {
          for await (const batch of layer.batches(split)) {
            const { geometry } = batch as Batch;
            shared ??= new Float64Array(geometry.xy.length + 100_000);
            shared.set(geometry.xy.subarray(0, shared.length));
            yield (batch as Batch).with({ geometry: { ...geometry, xy: shared } });
          }
        },
      };
    }),
    "reads by splits what it reads whole, and leaves the input as it was",
    /detached|offset|by splits/,
  ],
  [
    "something left in the folder",
    withReader((open) => async (source, options, context) => {
      writeFileSync(join(dirname(source.path), `left-${opened++}`), "");
      return open(source, options, context);
    }),
    "reads by splits what it reads whole, and leaves the input as it was",
    /changed the input/,
  ],
  [
    "a file left open",
    withReader((open) => async (source, options, context) => {
      await source.open();
      return open(source, options, context);
    }),
    "brings back 1 features",
    /stay open/,
  ],
  [
    "an abort that ends in another error",
    withReader((open) => async (source, options, context) => {
      if (context.signal.aborted) throw new TypeError("undefined is not a function");
      return open(source, options, context);
    }),
    "stops when it is aborted, and closes its files",
    /undefined is not a function/,
  ],
  [
    "an encoder that counts",
    withEncoder((encoder) => {
      let count = 0;
      return { encode: (batch) => ({ ...encoder.encode(batch), count: count++ }) };
    }),
    "encodes the same batch to the same chunk, on any thread",
    /another chunk the second time/,
  ],
  [
    "an encoder that keeps its buffer",
    withEncoder((encoder) => {
      const kept = new Uint8Array(64);
      return { encode: (batch) => ({ ...encoder.encode(batch), kept }) };
    }),
    "encodes the same batch to the same chunk, on any thread",
    /another chunk|detached/,
  ],
  [
    "an encoder that changes the batch",
    withEncoder((encoder) => ({
      encode(batch) {
        batch.geometry.xy[0] = 17;
        return encoder.encode(batch);
      },
    })),
    "encodes the same batch to the same chunk, on any thread",
    /must not change the batch/,
  ],
  [
    "a mark after every batch",
    withWriter((module) => ({
      ...module,
      createAssembler: async (sink, layers, options, context): Promise<Assembler<{ bytes?: Uint8Array }>> => {
        let marked: Awaited<ReturnType<typeof sink.create>> | undefined;
        const own: typeof sink = {
          name: sink.name,
          inPlaceTarget: sink.inPlaceTarget,
          create: async (extension) => {
            marked = await sink.create(extension);
            return marked;
          },
        };
        const assembler = await module.createAssembler(own, layers, options, context);
        return {
          async append(chunk, layer) {
            await assembler.append(chunk, layer);
            await marked!.write(Buffer.from("\n"));
          },
          finish: () => assembler.finish(),
        };
      },
    })),
    "writes the same bytes for every size of batches",
    /is another file with batches of/,
  ],
  [
    "a companion in what claims to stream",
    withWriter((module) => ({
      ...module,
      createAssembler: async (sink, layers, options, context) => {
        await sink.create("idx");
        return module.createAssembler(sink, layers, options, context);
      },
    })),
    "writes to a stream what it writes to a file",
    /more than one file/,
  ],
  [
    "an error of the language on damage",
    withReader((open) => async (source, options, context) => {
      const file = await source.open();
      const bytes = await file.read(0, source.size).finally(() => file.close());
      for (const line of bytes.toString().split("\n")) if (line.trim() !== "") JSON.parse(line);
      return open(source, options, context);
    }),
    "reads damaged files or refuses them in words",
    /no GeoferryError.*SyntaxError/s,
  ],
  [
    "features without end on damage",
    withLayers((layer) => ({
      async *batches(split?: Split) {
        for await (const batch of layer.batches(split)) {
          const { length } = batch;
          const all = Uint32Array.from({ length }, (_, row) => row);
          do yield (batch as Batch).take(all);
          while (length > 0 && length < 60);
        }
      },
    })),
    "reads damaged files or refuses them in words",
    /gives more than \d+ features/,
  ],
];

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

describe("checkFormat", () => {
  test.each(flaws.map((flaw) => [...flaw] as const))("checkFormat detects %s", async (_, format, check, message) => {
    const run = checksOf(format).get(check);
    assert.ok(run, `there is no check "${check}"`);
    await expect(run()).rejects.toThrow(message);
  });

  test("checkFormat accepts a valid format", async () => {
    const names = new Set(flaws.map(([, , check]) => check));
    const checks = checksOf(sound);
    for (const name of names) await checks.get(name)!();
  });

  test("checkFormat detects a sample that differs from its description", async () => {
    const path = scratch.path("two.geojsonl");
    const line = '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"a":1}}\n';
    writeFileSync(path, line + line);
    const known = (layer: object) =>
      checksOf(sound, { samples: [{ path, layers: [layer] }] }).get("reads two.geojsonl as it is known")!;
    await known({ name: "two", features: 2, geometryTypes: ["Point"], fields: { a: "int32" } })();
    await expect(known({ features: 3 })()).rejects.toThrow(/features/);
    await expect(known({ geometryTypes: ["LineString"] })()).rejects.toThrow(/geometry types/);
    await expect(known({ fields: { a: "text" } })()).rejects.toThrow(/fields/);
  });

  test("checkFormat requires samples for a format without a writer", () => {
    const { writer: _, ...readOnly } = sound;
    expect(() => checksOf(readOnly)).toThrow(/needs samples/);
  });

  test("checkFormat requires exact types only on request", async () => {
    const check = "brings back date values, null and absent";
    await checksOf(sound).get(check)!();
    await expect(checksOf(sound, { keepsTypes: ["date"] }).get(check)!()).rejects.toThrow(/date .* became text/);
  });
});
