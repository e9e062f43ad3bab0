/**
 * Reads TopoJSON. `scanTopology` finds the arcs and where the features of each object begin; `FeatureBatches` reads the
 * features from the same bytes, with the columns of GeoJSON; each geometry is checked, with the arcs that it uses, and
 * decoded by topojson-client.
 */
import type { Crs, Dataset, Layer } from "../../src/model/index.js";
import { createError, type OptionValues, type ReadContext, type Source } from "../../src/plugin/index.js";
import { readCrsMember } from "../shared/json/crs-member.js";
import { refuseDocument } from "./memory-limit.js";
import type { readOptions } from "./options.js";
import { FeatureBatches } from "./read/feature-batches.js";
import { GeometryDecoder } from "./read/geometry-decoder.js";
import { scanTopology, type TopologyDocument, type TopologyObject } from "./read/scan-topology.js";

type Options = OptionValues<typeof readOptions>;

/** Opens a topology. @throws input-corrupt, input-truncated, unsupported if it does not fit into memory */
export async function open(source: Source, options: Options, context: ReadContext): Promise<Dataset> {
  const document = scanTopology(await readBytes(source), source.name);
  const crs = await readCrsMember(document.crs, context);
  const layers = document.objects.map((object, k) =>
    // Members of the topology are reported with its first layer.
    createLayer(object, document, k === 0 ? document.foreign : [], crs, source, options, context),
  );
  return { layers, async [Symbol.asyncDispose]() {} };
}

async function readBytes(source: Source): Promise<Buffer> {
  await using file = await source.open();
  const refusal = refuseDocument(file.size);
  if (refusal !== null) throw createError("unsupported", { source: source.name, reason: refusal });
  return file.read(0, file.size);
}

function createLayer(
  { name, features, hasOwnAttributes }: TopologyObject,
  document: TopologyDocument,
  foreign: readonly string[],
  crs: Crs | null,
  source: Source,
  { fid }: Options,
  context: ReadContext,
): Layer {
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
      if (hasOwnAttributes)
        context.reportLoss("foreign-member", name, "id and properties of a whole object were left out");
      yield* new FeatureBatches(document, new GeometryDecoder(document), fid, context).read(features);
    },
  };
}
