import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { crsContext } from "../../crs/index.js";
import { GeoferryError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import type { FieldType } from "../../model/field.js";
import { geometryTypes as allTypes, type GeometryType, positionRange } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import type { WriterCapabilities } from "../../plugin/format.js";
import { type CheckSubject, capabilitiesOf, comparisonRulesFor, withTemporaryFolder } from "../check-subject.js";
import { assertOnlyReportedChanges } from "../compare-batches.js";
import { countOf, type LayerContent, readFile } from "../read-file.js";
import { RecordingContext } from "../recording-context.js";
import type { Dimensions } from "../sample-geometries.js";
import { type SampleLayer, sampleBatch } from "../sample-layer.js";
import { edgeFieldNames, edgeValues, longTexts, nonFinite } from "../sample-values.js";
import { TestFolderSink } from "../temporary-folder.js";
import { fittedBatches, openWriter, planTargets, writeFile, writeLayers } from "../write-file.js";

/** Whether what a layer says of itself before it is read is true of what is then read. */
export function assertLayerInfo({ info, batches, rejects }: LayerContent): void {
  assert.ok(typeof info.name === "string" && info.name !== "", "a layer has a name");
  if (info.featureCount !== null) {
    const count = countOf(batches) + rejects.length;
    assert.equal(count, info.featureCount, "the layer says another featureCount than it has features and rejects");
  }
  const { geometryTypes, extent } = info;
  for (const { geometry, length } of batches) {
    for (let i = 0; i < length; i++) {
      const type = allTypes[geometry.kinds[i]!];
      if (type && geometryTypes) assert.ok(geometryTypes.includes(type), `the layer's geometryTypes lack ${type}`);
      if (!extent) continue;
      const [from, to] = positionRange(geometry, i);
      for (let k = from; k < to; k++) {
        const [x, y] = [geometry.xy[2 * k]!, geometry.xy[2 * k + 1]!];
        const inside = !(x < extent[0] || y < extent[1] || x > extent[2] || y > extent[3]);
        assert.ok(inside, `the layer's extent ${extent.join(" ")} leaves out the position ${x} ${y}`);
      }
    }
  }
}

/** The features in the order in which a format that sorts them gives them back. */
function sortByGroup(batches: readonly Batch[], groupOf: CheckSubject["groupOf"]): readonly Batch[] {
  if (!groupOf) return batches;
  const groups = batches.map((batch) => [...batch.features()].map(({ geometry }) => groupOf(geometry)));
  const numbers = [...new Set(groups.flat())].sort((a, b) => a - b);
  return numbers.flatMap((number) =>
    batches.map((batch, index) => {
      const rows = groups[index]!.flatMap((group, row) => (group === number ? [row] : []));
      return batch.take(Uint32Array.from(rows));
    }),
  );
}

/** Writes generated features, reads them, and compares; gives what was read of each file. */
async function roundTrip(subject: CheckSubject, layer: SampleLayer, crs?: Crs | null): Promise<LayerContent[]> {
  const { format, readerOptions, writerOptions } = subject;
  const accepts = capabilitiesOf(subject);
  const read: LayerContent[] = [];
  await withTemporaryFolder(async (scratch) => {
    const wanted = { options: writerOptions, ...(crs === undefined ? {} : { crs }) };
    for (const file of await writeFile(format, scratch.folder, sampleBatch(layer), wanted)) {
      // The host refuses a file without a byte before any reader sees it.
      if (countOf(file.input) === 0 && statSync(file.path).size === 0) continue;
      const [only, ...others] = await readFile(format, file.path, { options: readerOptions });
      assert.ok(
        only && others.length === 0,
        `one layer was written to ${file.path} and ${others.length + 1} came back`,
      );
      assert.deepEqual(only.rejects, [], "the reader rejects what the writer wrote");
      assertLayerInfo(only);
      const declares = only.info.fields !== null;
      const given = sortByGroup(file.input, subject.groupOf);
      assertOnlyReportedChanges(file.losses, given, only.batches, comparisonRulesFor(subject, accepts, declares));
      read.push(only);
    }
  });
  return read;
}

const supportedDimensions = (accepts: WriterCapabilities): Dimensions[] => [
  "xy",
  ...(accepts.z ? (["xyz", "some-z"] as const) : []),
  ...(accepts.m ? (["xym"] as const) : []),
  ...(accepts.z && accepts.m ? (["xyzm"] as const) : []),
];

/** Whether what the writer writes is what the reader reads. */
export function checkRoundTrip(subject: CheckSubject): void {
  const { format, check } = subject;
  if (!format.reader || !format.writer) return;
  const accepts = capabilitiesOf(subject);
  const { geometryTypes } = accepts;
  const [first] = geometryTypes;
  checkGeometries(subject, accepts);
  if (first !== undefined) checkFields(subject, accepts, first);

  for (const features of [0, 1, 3000]) {
    check(`brings back ${features} features`, async () => {
      const types = accepts.families?.[0]?.types ?? geometryTypes;
      const text = { name: "f_text", type: "text", values: edgeValues.text } as const;
      await roundTrip(subject, { features, types, fields: [text], ids: "int32", seed: subject.seed });
    });
  }
  if (accepts.layers === "many") {
    check("brings back several layers of one file", () => checkSeveralLayers(subject, accepts));
  }
  check("claims no other reference system than the one written", () => checkReferenceSystems(subject, accepts));
}

function checkGeometries(subject: CheckSubject, accepts: WriterCapabilities): void {
  const { check, seed } = subject;
  for (const type of accepts.geometryTypes) {
    for (const dimensions of supportedDimensions(accepts)) {
      check(`brings back ${type}s (${dimensions})`, async () => {
        await roundTrip(subject, { features: 12, types: [type], dimensions, fieldTypes: ["int32"], seed });
      });
    }
    check(`brings back empty ${type}s, or says that it cannot`, async () => {
      await roundTrip(subject, { features: 8, types: [type], empty: true, fieldTypes: ["int32"], seed });
    });
  }
  if (accepts.geometryTypes.length > 1) {
    check("brings back geometries of all its types together", async () => {
      await roundTrip(subject, {
        features: 60,
        types: accepts.geometryTypes,
        nulls: accepts.nullGeometry,
        fieldTypes: ["int32"],
        seed,
      });
    });
  }
  if (!accepts.nullGeometry) return;
  check("brings back features without geometry", async () => {
    await roundTrip(subject, { features: 10, types: [], fieldTypes: ["text"] });
  });
}

function checkFields(subject: CheckSubject, accepts: WriterCapabilities, type: GeometryType): void {
  const { check } = subject;
  const types = [type];
  for (const fieldType of accepts.fieldTypes) {
    check(`brings back ${fieldType} values, null and absent`, async () => {
      const features = edgeValues[fieldType].length + 2;
      await roundTrip(subject, { features, types, fieldTypes: [fieldType] });
    });
  }
  check("brings back long texts, or says what it cut", async () => {
    const long = { name: "f_long", type: "text", values: longTexts } as const;
    await roundTrip(subject, { features: longTexts.length, types, fields: [long] });
  });
  check("brings back fields without any value", async () => {
    const fields = accepts.fieldTypes.map((each: FieldType) => ({ name: `f_${each}`, type: each, values: [null] }));
    await roundTrip(subject, { features: 3, types, fields });
  });
  if (accepts.fieldTypes.includes("double")) {
    check("brings back numbers that are none, or says that it cannot", async () => {
      const odd = { name: "f_odd", type: "double", values: [1.5, ...nonFinite] } as const;
      await roundTrip(subject, { features: 8, types, fields: [odd] });
    });
  }
  check("brings back fields of any name", async () => {
    const fields = edgeFieldNames.map((name, n) => ({ name, type: "text" as const, values: [`value ${n}`] }));
    await roundTrip(subject, { features: 3, types, fields });
  });
  check("brings back layers without fields", async () => {
    await roundTrip(subject, { features: 5, types });
  });
  for (const ids of ["int32", "text"] as const) {
    check(`brings back feature ids that are ${ids === "text" ? "texts" : "numbers"}`, async () => {
      await roundTrip(subject, { features: 10, types, fieldTypes: ["int32"], ids });
    });
  }
}

async function checkSeveralLayers(subject: CheckSubject, accepts: WriterCapabilities): Promise<void> {
  const { format, seed } = subject;
  await withTemporaryFolder(async (scratch) => {
    const writer = await openWriter(format, subject.writerOptions);
    const parts = ["first", "second", "third"].flatMap((name, n) => {
      const batch = sampleBatch({
        features: 10 + n,
        types: accepts.geometryTypes,
        fieldTypes: ["text"],
        seed: seed + n,
      });
      const targets = planTargets(format, accepts, batch, name, crsContext.wgs84);
      return targets.map((target) => ({ target: target.layer, batches: fittedBatches(target, batch, 4) }));
    });
    const path = scratch.path(`several.${format.extensions[0]}`);
    const sink = new TestFolderSink(path);
    const context = new RecordingContext();
    await writeLayers(writer, sink, parts, context, false).finally(() => sink.close());
    const read = await readFile(format, path, { options: subject.readerOptions });
    const names = (layers: readonly { readonly name: string }[]) => layers.map((layer) => layer.name);
    assert.deepEqual(
      names(read.map(({ info }) => info)),
      names(parts.map(({ target }) => target)),
      "other layers came back",
    );
    const all = (batches: readonly (readonly Batch[])[]) => batches.flat();
    const how = comparisonRulesFor(
      subject,
      accepts,
      read.some(({ info }) => info.fields !== null),
    );
    assertOnlyReportedChanges(
      context.losses,
      all(parts.map((part) => part.batches)),
      all(read.map((layer) => layer.batches)),
      how,
    );
  });
}

async function checkReferenceSystems(subject: CheckSubject, accepts: WriterCapabilities): Promise<void> {
  const codes = accepts.crs === "any" ? ["EPSG:4326", "EPSG:25832", "EPSG:2154"] : ["EPSG:4326"];
  for (const code of codes) {
    const crs = await crsContext.parse(code).catch((error: unknown) => {
      if (error instanceof GeoferryError) return null;
      throw error;
    });
    const layer = { features: 4, types: accepts.geometryTypes.slice(0, 1), fieldTypes: ["int32"] } as const;
    for (const { info } of await roundTrip(subject, layer, crs)) {
      const same = info.crs === null || info.crs.id === crs?.id || (isWgs84(info.crs) && isWgs84(crs));
      assert.ok(same, `written in ${crs?.id}, read in ${info.crs?.id ?? info.crs?.name}`);
    }
  }
  if (accepts.crs === "any") {
    for (const { info } of await roundTrip(subject, { features: 4, types: accepts.geometryTypes.slice(0, 1) }, null)) {
      const quiet = info.crs === null || isWgs84(info.crs);
      assert.ok(quiet, `written without a reference system, read in ${info.crs?.id ?? info.crs?.name}`);
    }
  }
}

const isWgs84 = (crs: Crs | null): boolean => crs?.id === "EPSG:4326" || crs?.id === "OGC:CRS84";
