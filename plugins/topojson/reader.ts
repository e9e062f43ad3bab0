/**
 * Reads TopoJSON. The document is parsed as a whole; each geometry is checked, with the arcs that it uses, and decoded by
 * topojson-client when its batch is read.
 */
import { isUtf8 } from "node:buffer";
import type { Crs, Dataset, Layer } from "../../src/model/index.js";
import { createError, type OptionValues, type ReadContext, type Source } from "../../src/plugin/index.js";
import { readCrsMember } from "../shared/json/crs-member.js";
import { isObject, type Json } from "../shared/json/values.js";
import { refuseDocument } from "./memory-limit.js";
import type { readOptions } from "./options.js";
import { FeatureBatches } from "./read/feature-batches.js";
import { GeometryDecoder } from "./read/geometry-decoder.js";
import { parseTopology, type TopologyDocument } from "./read/parse-topology.js";

type Options = OptionValues<typeof readOptions>;

/** Members of a topology (TopoJSON 1.0, 2.1), and `crs`, which older files have as in GeoJSON. */
const knownMembers = new Set(["type", "bbox", "transform", "objects", "arcs", "crs"]);

/** Opens a topology. @throws input-corrupt, input-truncated, unsupported if it does not fit into memory */
export async function open(source: Source, options: Options, context: ReadContext): Promise<Dataset> {
  const document = parseTopology(await readText(source, context), source.name);
  const { crs: member } = document.members;
  const crs = await readCrsMember(member === undefined ? undefined : JSON.stringify(member), context);
  const foreign = Object.keys(document.members).filter((name) => !knownMembers.has(name));
  const layers = Object.entries(document.objects).map(([name, object], k) =>
    // Members of the topology are reported with its first layer.
    createLayer(name, object as Json, document, k === 0 ? foreign : [], crs, source, options, context),
  );
  return { layers, async [Symbol.asyncDispose]() {} };
}

async function readText(source: Source, context: ReadContext): Promise<string> {
  await using file = await source.open();
  const refusal = refuseDocument(file.size);
  if (refusal !== null) throw createError("unsupported", { source: source.name, reason: refusal });
  const bytes = await file.read(0, file.size);
  if (!isUtf8(bytes))
    context.reportNotice("invalid-utf8", undefined, "bytes that are not UTF-8 were replaced by U+FFFD");
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString("utf8", bom);
}

function createLayer(
  name: string,
  object: Json,
  document: TopologyDocument,
  foreign: readonly string[],
  crs: Crs | null,
  source: Source,
  { fid }: Options,
  context: ReadContext,
): Layer {
  const isCollection = object.type === "GeometryCollection";
  const geometries: unknown = isCollection ? object.geometries : [object];
  if (!Array.isArray(geometries)) {
    const reason = `the geometries of "${name.slice(0, 80)}" are not an array`;
    throw createError("input-corrupt", { source: source.name, place: {}, reason });
  }
  return {
    name,
    crs,
    fields: null,
    geometryTypes: null,
    featureCount: null,
    extent: null,
    bytes: source.size,
    async *batches() {
      for (const member of foreign)
        context.reportLoss("foreign-member", member, "a member beside the objects of the topology was left out");
      if (isCollection && (isObject(object.properties) || (object.id !== undefined && object.id !== null)))
        context.reportLoss("foreign-member", name, "id and properties of a whole object were left out");
      const batches = new FeatureBatches(new GeometryDecoder(document), document.mark, fid ?? null, context);
      yield* batches.read(geometries as unknown[]);
    },
  };
}
