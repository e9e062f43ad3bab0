/**
 * A test format that can be changed in place: JSON text of all its layers. It changes the file with each `append`, so
 * that only `abort` restores the previous content.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { crsContext } from "../../../src/crs/index.js";
import { type Batch, type Feature, type Field, geometryTypes } from "../../../src/model/index.js";
import { defineFormat, type Sink, type TargetLayer } from "../../../src/plugin/format.js";

export interface LedgerLayer {
  name: string;
  crs: string | null;
  fields: Field[];
  rows: Feature[];
}

const load = (path: string): LedgerLayer[] => JSON.parse(readFileSync(path, "utf8"));

/** Calls of the host to writers, in order. */
export const recordedCalls: string[] = [];
/** Error with which `commit` fails. */
export const injectedFailure: { ofCommit: Error | null } = { ofCommit: null };

function added(layers: LedgerLayer[], target: TargetLayer, replace: boolean): LedgerLayer {
  const fields = [...(target.fields ?? [])];
  const held = layers.find((layer) => layer.name === target.name);
  if (held && !replace) {
    held.fields.push(...fields.filter((field) => !held.fields.some(({ name }) => name === field.name)));
    return held;
  }
  const layer = { name: target.name, crs: target.crs?.definition ?? null, fields, rows: [] };
  if (held) layers.splice(layers.indexOf(held), 1, layer);
  else layers.push(layer);
  return layer;
}

async function assembler(sink: Sink, targets: readonly TargetLayer[]) {
  const { inPlaceTarget } = sink;
  const before = inPlaceTarget ? readFileSync(inPlaceTarget.path) : null;
  const layers = inPlaceTarget ? load(inPlaceTarget.path) : [];
  const own = targets.map((target) => added(layers, target, inPlaceTarget?.mode === "replace"));
  const bytes = () => Buffer.from(JSON.stringify(layers));
  recordedCalls.push(inPlaceTarget ? inPlaceTarget.mode : "make");
  return {
    async append({ features }: { features: Feature[] }, layer: number) {
      own[layer]!.rows.push(...features);
      if (inPlaceTarget) writeFileSync(inPlaceTarget.path, bytes());
    },
    async finish() {
      recordedCalls.push("finish");
      if (inPlaceTarget) writeFileSync(inPlaceTarget.path, bytes());
      else await (await sink.create()).write(bytes());
    },
    async commit() {
      recordedCalls.push("commit");
      if (injectedFailure.ofCommit) throw injectedFailure.ofCommit;
    },
    async abort() {
      recordedCalls.push("abort");
      if (inPlaceTarget) writeFileSync(inPlaceTarget.path, before!);
    },
  };
}

export const ledger = defineFormat({
  apiVersion: 1,
  id: "ledger",
  label: "Ledger",
  extensions: ["ledger"],
  identify: (_, source) => (source.name.endsWith(".ledger") ? "yes" : "no"),
  reader: {
    options: {},
    load: async () => ({
      async open(source) {
        const layers = load(source.path).map(async ({ name, crs, fields, rows }) => ({
          name,
          crs: crs === null ? null : await crsContext.parse(crs),
          fields,
          geometryTypes: null,
          featureCount: rows.length,
          extent: null,
          bytes: source.size,
          async *batches() {
            yield rows;
          },
        }));
        return { layers: await Promise.all(layers), [Symbol.asyncDispose]: async () => {} };
      },
    }),
  },
  writer: {
    options: {},
    capabilities: () => ({
      crs: "any",
      layers: "many",
      geometryTypes: geometryTypes.filter((type) => type !== null),
      nullGeometry: true,
      z: true,
      m: false,
      fieldTypes: ["boolean", "int32", "int64", "double", "text", "date"],
      ids: true,
      requiredScan: "summary",
      supportsStreaming: false,
      updatesInPlace: true,
    }),
    load: async () => ({
      createEncoder: async () => ({ encode: (batch: Batch) => ({ features: [...batch.features()] }) }),
      createAssembler: assembler,
    }),
  },
});
