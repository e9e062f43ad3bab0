import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { crsContext } from "../../crs/index.js";
import { createError } from "../../errors.js";
import { Batch, type BatchData } from "../../model/batch.js";
import type { Sink } from "../../plugin/format.js";
import { type CheckSubject, capabilitiesOf, withTemporaryFolder } from "../check-subject.js";
import { cloneThroughThread } from "../read-file.js";
import { RecordingContext } from "../recording-context.js";
import { sampleBatch } from "../sample-layer.js";
import { folderContents } from "../temporary-folder.js";
import { fittedBatches, openWriter, planTargets, writeFile, writeLayers } from "../write-file.js";

function generatedBatch(subject: CheckSubject, features: number): Batch {
  const accepts = capabilitiesOf(subject);
  return sampleBatch({
    features,
    types: accepts.geometryTypes,
    dimensions: accepts.z ? (accepts.m ? "xyzm" : "xyz") : accepts.m ? "xym" : "xy",
    nulls: accepts.nullGeometry,
    fieldTypes: accepts.fieldTypes,
    ids: "int32",
    seed: subject.seed,
  });
}

/** Whether encoding is pure and the output does not depend on how the features came. */
export function checkEncoding(subject: CheckSubject): void {
  const { format, check, writerOptions } = subject;
  if (!format.writer) return;

  check("encodes the same batch to the same chunk, on any thread", async () => {
    const { module, options, capabilities } = await openWriter(format, writerOptions);
    const batch = generatedBatch(subject, 120);
    for (const target of planTargets(format, capabilities, batch, "sample", crsContext.wgs84)) {
      const one = await module.createEncoder(target.layer, options, new RecordingContext());
      const other = await module.createEncoder(
        structuredClone(target.layer),
        structuredClone(options),
        new RecordingContext(),
      );
      for (const given of fittedBatches(target, batch, 50)) {
        const before = structuredClone<BatchData>(given.toData());
        const expected = structuredClone(one.encode(given));
        assert.deepEqual(structuredClone<BatchData>(given.toData()), before, "encode must not change the batch");
        // Handing a chunk over tears from the encoder what it keeps of it.
        assert.deepEqual(cloneThroughThread(one.encode(given)), expected, "encode gave another chunk the second time");
        assert.deepEqual(
          structuredClone(one.encode(given)),
          expected,
          "encode gave another chunk once one was handed over",
        );
        const copy = new Batch(structuredClone<BatchData>(given.toData()));
        assert.deepEqual(structuredClone(other.encode(copy)), expected, "another encoder gave another chunk");
      }
    }
  });

  check("writes the same bytes for every size of batches", async () => {
    await withTemporaryFolder(async (scratch) => {
      const batch = generatedBatch(subject, 2100);
      let expected: Map<string, Buffer> | undefined;
      for (const batchSize of [1000, 1, 7]) {
        const folder = scratch.path(String(batchSize));
        mkdirSync(folder);
        await writeFile(format, folder, batch, { options: writerOptions, batchSize, throughThreads: batchSize !== 1 });
        const contents = folderContents(folder);
        expected ??= contents;
        assert.deepEqual([...contents.keys()], [...expected.keys()], "other files were written");
        for (const [name, bytes] of contents) {
          const same = bytes.equals(expected.get(name)!);
          assert.ok(same, `${name} is another file with batches of ${batchSize} than with batches of 1000`);
        }
      }
    });
  });

  if (!capabilitiesOf(subject).supportsStreaming) return;
  check("writes to a stream what it writes to a file", async () => {
    await withTemporaryFolder(async (scratch) => {
      const batch = generatedBatch(subject, 100);
      const writer = await openWriter(format, writerOptions);
      const files = await writeFile(format, scratch.folder, batch, { options: writerOptions });
      const contents = folderContents(scratch.folder);
      for (const target of planTargets(format, writer.capabilities, batch, "sample", crsContext.wgs84)) {
        const { sink, bytes } = createStreamSink();
        const layers = [{ target: target.layer, batches: fittedBatches(target, batch, 1000) }];
        await writeLayers(writer, sink, layers, new RecordingContext(), false);
        const file = files.find(({ layer }) => layer === target.layer.name)!;
        const same = bytes().equals(contents.get(file.path.slice(scratch.folder.length + 1))!);
        assert.ok(same, `${target.layer.name}: other bytes go to a stream than to a file`);
      }
    });
  });
}

/** A sink like stdout: one file, no path, no way back. */
function createStreamSink(): { sink: Sink; bytes: () => Buffer } {
  const written: Uint8Array[] = [];
  let size = 0;
  const refuse = () =>
    createError("output-not-stream", { format: "the format (its capabilities.supportsStreaming is true)" });
  const sink: Sink = {
    name: "stdout",
    inPlaceTarget: null,
    async create(extension) {
      if (extension !== undefined) throw refuse();
      return {
        path: null,
        get size() {
          return size;
        },
        async write(bytes) {
          written.push(Uint8Array.from(bytes));
          size += bytes.length;
        },
        async patch() {
          throw refuse();
        },
      };
    },
  };
  return { sink, bytes: () => Buffer.concat(written) };
}
