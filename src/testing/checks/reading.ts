import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { GeoferryError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { geometryTypes } from "../../model/geometry.js";
import { type CheckSubject, capabilitiesOf, type Sample, withTemporaryFolder } from "../check-subject.js";
import { assertSameBatches } from "../compare-batches.js";
import { countOf, type LayerContent, layerBatches, openDataset, readFile } from "../read-file.js";
import { RecordingContext } from "../recording-context.js";
import { sampleBatch } from "../sample-layer.js";
import { edgeValues } from "../sample-values.js";
import { folderFingerprint } from "../temporary-folder.js";
import { SourceMonitor } from "../watched-source.js";
import { writeFile } from "../write-file.js";
import { assertLayerInfo } from "./round-trip.js";

/** Copies a file and those that share its stem into a folder of their own; gives the path of the copy. */
export function copyWithCompanions(path: string, folder: string): string {
  const stem = basename(path, extname(path)).toLowerCase();
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(dirname(path))) {
    const from = join(dirname(path), entry);
    if (entry.toLowerCase().startsWith(`${stem}.`) && statSync(from).isFile()) cpSync(from, join(folder, entry));
  }
  return join(folder, basename(path));
}

/** A file to read, and the options that it takes. */
interface ReadCase {
  readonly path: string;
  readonly options: Readonly<Record<string, string>>;
}

/** Files large enough to have several splits, small enough to be read often; the samples, where there is no writer. */
async function writeLargeFiles(subject: CheckSubject, folder: string): Promise<ReadCase[]> {
  const { format, readerOptions, writerOptions, samples } = subject;
  if (!format.writer) return samples.map(({ path, options }) => ({ path, options: { ...readerOptions, ...options } }));
  const accepts = capabilitiesOf(subject);
  const types = accepts.families?.at(-1)?.types ?? accepts.geometryTypes;
  const text = { name: "f_text", type: "text", values: edgeValues.text } as const;
  const padding = { name: "f_padding", type: "text", values: ["lorem ipsum dolor sit amet ".repeat(40)] } as const;
  const int = { name: "f_int32", type: "int32", values: edgeValues.int32 } as const;
  const batch = sampleBatch({
    features: 5000,
    types,
    fields: [text, int, padding],
    ids: "int32",
    seed: subject.seed,
  });
  const written = await writeFile(format, folder, batch, { options: writerOptions });
  return written.map(({ path }) => ({ path, options: readerOptions }));
}

/** Whether a reader reads the same however it is asked, and leaves everything as it was. */
export function checkReading(subject: CheckSubject): void {
  const { format, check, samples, readerOptions } = subject;
  if (!format.reader) return;

  for (const sample of samples) {
    check(`reads ${basename(sample.path)} as it is known`, async () => {
      await withTemporaryFolder(async (scratch) => {
        const path = copyWithCompanions(sample.path, scratch.path("copy"));
        const before = folderFingerprint(dirname(path));
        const layers = await readFile(format, path, { options: { ...readerOptions, ...sample.options } });
        checkSampleContent(sample, layers);
        layers.forEach(assertLayerInfo);
        assert.equal(folderFingerprint(dirname(path)), before, "reading changed the input, or its folder");
      });
    });
  }
  check("reads by splits what it reads whole, and leaves the input as it was", async () => {
    await withTemporaryFolder(async (scratch) => {
      const files = await writeLargeFiles(subject, scratch.path("."));
      const before = folderFingerprint(scratch.folder);
      for (const file of files) await checkSplits(subject, file);
      assert.equal(folderFingerprint(scratch.folder), before, "reading changed the input, or its folder");
    });
  });
  check("stops when it is aborted, and closes its files", async () => {
    await withTemporaryFolder(async (scratch) => {
      for (const file of await writeLargeFiles(subject, scratch.folder)) await checkAbort(subject, file);
    });
  });
}

function checkSampleContent(sample: Sample, layers: readonly LayerContent[]): void {
  if (!sample.layers) return;
  assert.equal(layers.length, sample.layers.length, `layers: ${layers.map(({ info }) => info.name).join(", ")}`);
  for (const [index, known] of sample.layers.entries()) {
    const { info, batches, rejects } = layers[index]!;
    const where = `layer ${info.name}`;
    if (known.name !== undefined) assert.equal(info.name, known.name);
    if (known.features !== undefined) assert.equal(countOf(batches), known.features, `${where}: features`);
    if (known.rejects !== undefined) assert.equal(rejects.length, known.rejects, `${where}: rejects`);
    if (known.geometryTypes) {
      const kinds = new Set(batches.flatMap((batch) => [...batch.geometry.kinds]));
      const types = geometryTypes.filter((type, kind) => type !== null && kinds.has(kind));
      assert.deepEqual([...types].sort(), [...known.geometryTypes].sort(), `${where}: geometry types`);
    }
    if (known.fields) {
      const fields = info.fields ?? batches.flatMap((batch) => batch.fields);
      assert.deepEqual(
        Object.fromEntries(fields.map(({ name, type }) => [name, type])),
        known.fields,
        `${where}: fields`,
      );
    }
  }
}

async function checkSplits(subject: CheckSubject, { path, options }: ReadCase): Promise<void> {
  const { format } = subject;
  const whole = await readFile(format, path, { options });
  const split = await readFile(format, path, { options, bySplits: true });
  assert.equal(split.length, whole.length, "a second open() gives another number of layers");
  for (const [index, layer] of split.entries()) {
    const other = whole[index]!;
    assertSameBatches(other.batches, layer.batches, "read by splits, not as when read whole");
    assert.deepEqual(layer.records, other.records, "the records (made absolute) are others by splits than whole");
    const said = ({ rejects }: LayerContent) => rejects.map(({ code, place }) => [code, place.record]);
    assert.deepEqual(said(layer), said(other), "other rejects by splits than whole");
  }
  const context = new RecordingContext();
  await using dataset = await openDataset(format, path, context, options);
  const scanResult: unknown = structuredClone(dataset.scanResult);
  // Opened as another thread does it; the splits come from the first.
  await using elsewhere = await openDataset(format, path, new RecordingContext(false, scanResult), options);
  for (const [index, layer] of dataset.layers.entries()) {
    const there = elsewhere.layers[index]!;
    const batchesOfSplits: (readonly Batch[])[] = [];
    for (const time of ["first", "second"]) {
      const batches: Batch[] = [];
      for await (const batch of layerBatches(layer)) batches.push(batch);
      assertSameBatches(whole[index]!.batches, batches, `batches() called again (a ${time} time on one dataset)`);
    }
    if (!layer.splits) continue;
    const first = split[index]!.splits!;
    const second: unknown[] = [];
    let bytes = 0;
    for await (const split of layer.splits()) {
      const copy = structuredClone(split);
      assert.deepEqual(copy, split, "a split must be plain data that crosses between threads");
      assert.ok(Number.isFinite(split.bytes) && split.bytes >= 0, `a split's bytes are ${split.bytes}`);
      bytes += split.bytes;
      second.push(copy);
      const batches: Batch[] = [];
      for await (const batch of layerBatches(there, copy)) batches.push(batch);
      batchesOfSplits.push(batches);
    }
    assert.deepEqual(second, first, "splits() must give the same splits at every call");
    assertSameBatches(
      whole[index]!.batches,
      batchesOfSplits.flat(),
      "splits read by a second open() with the scan result",
    );
    if (layer.bytes > 0) {
      assert.ok(
        bytes <= layer.bytes * 1.01 + 4096,
        `the splits have ${bytes} bytes together, the layer ${layer.bytes}`,
      );
    }
    // The last one first, as a thread that takes what is left does.
    const last = first.at(-1);
    if (!last) continue;
    const batches: Batch[] = [];
    for await (const batch of layerBatches(there, last)) batches.push(batch);
    assertSameBatches(batchesOfSplits.at(-1)!, batches, "the last split read again, out of order");
  }
}

async function checkAbort(subject: CheckSubject, { path, options }: ReadCase): Promise<void> {
  const { format } = subject;
  const watch = new SourceMonitor();
  const aborter = new AbortController();
  const reason = new Error("aborted by the check");
  const allowed = (error: unknown) =>
    assert.ok(
      error === reason || (error instanceof GeoferryError && error.code === "interrupted"),
      `aborted, it must end with the signal's reason or "interrupted", not with ${String(error)}`,
    );
  {
    await using dataset = await openDataset(
      format,
      path,
      new RecordingContext(false, undefined, aborter.signal),
      options,
      watch,
    );
    for (const layer of dataset.layers) {
      // The host stops asking between batches; what is left open then must be closed with the dataset.
      for await (const batch of layer.batches()) if (batch.length > 0) break;
    }
    aborter.abort(reason);
    for (const layer of dataset.layers) {
      try {
        for await (const _ of layer.batches()) break;
        if (layer.splits) for await (const _ of layer.splits()) break;
      } catch (error) {
        allowed(error);
      }
    }
  }
  assert.deepEqual(watch.stillOpen(), [], "files stay open after reading was broken off and the dataset disposed of");
  try {
    await using _ = await openDataset(
      format,
      path,
      new RecordingContext(false, undefined, aborter.signal),
      options,
      watch,
    );
  } catch (error) {
    allowed(error);
  }
  assert.deepEqual(watch.stillOpen(), [], "files stay open after open() with an aborted signal");
}
