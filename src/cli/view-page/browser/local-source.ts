/** Answers from the data in the page itself. */
import { featureDetail, pickFeatures } from "../../../view/feature-detail.js";
import { type LayerHead, MemoryLayer } from "../../../view/file/layer-bytes.js";
import { type Analysis, shownFields, type ViewSource } from "../../../view/protocol.js";
import { ViewLayer } from "../../../view/view-layer.js";

/** Decodes what `viewToBytes` made, in Base64. */
export async function readLayers(base64: string): Promise<ViewLayer[]> {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const [length] = new Uint32Array(buffer, 0, 1) as unknown as [number];
  const heads = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as LayerHead[];
  return heads.map((head) => new ViewLayer(new MemoryLayer(head, buffer, 4 + length)));
}

export function localSource(layers: readonly ViewLayer[], analysis: Analysis): ViewSource {
  const layerAt = (id: number): ViewLayer => layers[id]!;
  return {
    tile: ({ layer, where }, address, color) => layerAt(layer).tile(address, where, color),
    count: ({ layer, where }) => layerAt(layer).count(where),
    rows: (layer, query, from, count) =>
      layerAt(layer).rows(query, from, count, shownFields(layerAt(layer).data.fields.length)),
    positionOf: (layer, query, row) => layerAt(layer).positionOf(query, row),
    feature: async (layer, row, zoom) => featureDetail(layerAt(layer), row, zoom, null),
    pick: (filters, x, y, zoom) =>
      pickFeatures(
        filters.map(({ layer: id, where }) => ({ id, where, layer: layerAt(id) })),
        x,
        y,
        zoom,
      ),
    legend: async (layer, choice) => (await layerAt(layer).classes(choice)).legend,
    locate: async () => null,
    analysis: async () => analysis,
  };
}
