import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Batch, type Dataset, type Layer, type Split, uniqueName } from "../../src/model/index.js";
import type { OptionValues, ReadContext, Source, SourceFile } from "../../src/plugin/index.js";
import { readSplitBytes, releaseSplitBytes } from "../shared/split-bytes.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { XmlReader } from "../shared/xml/reader.js";
import { FeatureBatches, fieldsOf } from "./gml/feature-batches.js";
import { FeatureWalker } from "./gml/feature-walker.js";
import type { GmlLayerPlan, GmlPlan, GmlSplit } from "./gml/plan.js";
import { crsKeyOf, DocumentScan, noSystem, systemNameOf } from "./gml/scan-document.js";
import { ApplicationSchema, memoryFile, readXmlTree } from "./gml/schema.js";
import type { gmlOptions } from "./index.js";

export type GmlFileOptions = OptionValues<typeof gmlOptions>;

/** Opens a GML document (OGC 07-036r1, 03-105r1, 02-069). @throws input-corrupt, input-truncated, unsupported */
export function open(source: Source, options: GmlFileOptions, context: ReadContext): Promise<Dataset> {
  return openGml(source, options, context, defaultSplitBytes);
}

/** Opens a document with splits of about `splitSize` bytes. */
export async function openGml(
  source: Source,
  options: GmlFileOptions,
  context: ReadContext,
  splitSize: number,
): Promise<Dataset> {
  const file = await source.open();
  try {
    const plan =
      (context.scanResult as GmlPlan | undefined) ?? (await scanFile(source, file, options, context, splitSize));
    const splits = splitsByLayer(plan);
    const layers = plan.layers.map((layer, number) =>
      createLayer(source, file, plan, layer, splits[number]!, options, context),
    );
    return { layers, scanResult: plan, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function scanFile(
  source: Source,
  file: SourceFile,
  options: GmlFileOptions,
  context: ReadContext,
  splitSize: number,
): Promise<GmlPlan> {
  const scan = new DocumentScan(source.name, options, context, splitSize);
  const attributes = await scan.run(file);
  return scan.plan(options.types === "text" ? null : await readSchema(source, attributes, context));
}

/** Largest schema that is read. */
const maxSchemaBytes = 1 << 24;

/**
 * The application schema beside the document: the file of the same name, else those that `schemaLocation` names, with
 * what these include, as far as they are in the same folder. Null if there is none.
 */
async function readSchema(
  source: Source,
  attributes: ReadonlyMap<string, string>,
  context: ReadContext,
): Promise<ApplicationSchema | null> {
  const schema = new ApplicationSchema();
  const sibling = source.findSibling("xsd");
  const seen = new Set<string>();
  const waiting: string[] = [];
  let isFound = false;
  if (sibling) {
    await using file = await sibling.open();
    const tree = await readXmlTree(file, sibling.name, context);
    schema.add(tree);
    waiting.push(...ApplicationSchema.includesOf(tree));
    isFound = true;
  } else {
    const locations = attributes.get("schemaLocation")?.trim().split(/\s+/) ?? [];
    waiting.push(...locations.filter((_, k) => k % 2 === 1));
    waiting.push(...(attributes.get("noNamespaceSchemaLocation")?.trim().split(/\s+/) ?? []));
  }
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (basename(next) !== next || seen.has(next)) continue;
    seen.add(next);
    const path = join(dirname(source.path), next);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile() || found.size > maxSchemaBytes) continue;
    const tree = await readXmlTree(memoryFile(await readFile(path)), next, context);
    schema.add(tree);
    waiting.push(...ApplicationSchema.includesOf(tree));
    isFound = true;
  }
  return isFound ? schema : null;
}

function splitsByLayer({ layers, splits }: GmlPlan): GmlSplit[][] {
  const found = layers.map((): GmlSplit[] => []);
  for (const split of splits) for (const number of split.layers) found[number]!.push(split);
  return found;
}

function createLayer(
  source: Source,
  file: SourceFile,
  plan: GmlPlan,
  layer: GmlLayerPlan,
  own: readonly GmlSplit[],
  { fid, geometry }: GmlFileOptions,
  context: ReadContext,
): Layer {
  const idName =
    fid === undefined || !layer.hasIds ? null : uniqueName(fid, new Set(fieldsOf(layer).map((f) => f.name)));
  return {
    name: layer.name,
    crs: layer.crs,
    fields: idName === null ? fieldsOf(layer) : [...fieldsOf(layer), { name: idName, type: "text" }],
    geometryTypes: layer.geometryTypes,
    featureCount: layer.featureCount,
    extent: null,
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    async *splits() {
      for (const split of own) yield { ...split };
    },
    async prefetch(split: Split) {
      const { start, to } = split as Split & GmlSplit;
      return start?.encoding === "utf-8" && to !== undefined ? readSplitBytes(file, start.byte, to) : undefined;
    },
    async *batches(split?: Split, fetched?: unknown) {
      const batches = new FeatureBatches(layer, plan.systems, context);
      for (const part of split ? [split as Split & GmlSplit] : own) {
        const bytes = fetched as Buffer | undefined;
        for await (const batch of readPart(source.name, file, part, plan, layer, geometry, batches, context, bytes))
          yield idName === null ? batch : withIdField(batch, idName);
        releaseSplitBytes(bytes);
      }
      context.splitFinished(batches.records, 0);
    },
  };
}

const withIdField = (batch: Batch, name: string): Batch =>
  batch.with({ fields: [...batch.fields, { name, type: "text" }], columns: [...batch.columns, batch.ids!] });

async function* readPart(
  source: string,
  file: SourceFile,
  { start, to, state }: GmlSplit,
  plan: GmlPlan,
  layer: GmlLayerPlan,
  wanted: string | undefined,
  batches: FeatureBatches,
  context: ReadContext,
  fetched: Buffer | undefined,
): AsyncGenerator<Batch> {
  const range = { ...(start && { start, fetched }), ...(to === undefined ? {} : { to }), leaves: true };
  const xml = new XmlReader(file, { source, context: silent(context), vocabulary: {}, ...range });
  const walker = new FeatureWalker(xml, source, { leftOut: () => undefined }, state);
  const keys = new Map(plan.systems.map((system) => [system.srsName, crsKeyOf(system)]));
  for (;;) {
    const event = walker.next();
    if (event === "more") await xml.fill();
    else if (event === "end") break;
    else if (event === "feature") {
      const feature = walker.feature!;
      if (feature.local !== layer.typeName || feature.namespace !== layer.namespace) continue;
      const name = systemNameOf(feature, walker.srsName, wanted);
      if (name === null ? !layer.hasNullGeometries : keys.get(name || noSystem) !== layer.crsKey) continue;
      batches.add(feature, walker.srsName);
      if (!batches.isFull) continue;
      const batch = batches.finish();
      if (batch) yield batch;
    }
  }
  const batch = batches.finish();
  if (batch) yield batch;
}

/** What the scan reported is not reported again. */
function silent(context: ReadContext) {
  const { signal, skipErrors } = context;
  return {
    ...{ signal, skipErrors, reportLoss: () => undefined, reportNotice: () => undefined },
    getTextDecoder: (encoding: string) => context.getTextDecoder(encoding),
  };
}
