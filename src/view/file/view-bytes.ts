/** The data of a view as one sequence of bytes, of at most a given size, for a page that needs no server. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { groupDigits } from "../../format-count.js";
import type { LayerData } from "../layer-data.js";
import { fullZoom } from "../shape-record.js";
import { noLevel, unitsPerPixel } from "../world.js";
import { type LayerHead, layerToBytes, SectionWriter } from "./layer-bytes.js";

const compress = promisify(gzip);

/** The greatest zoom whose pixels shapes are exact to, from exact shapes on. */
const zooms = [fullZoom, 16, 13, 10] as const;

/** The zoom of shapes when features are left out. */
const reducedZoom = 13;

/** Features of a layer from which the size of all is estimated. */
const sampleRows = 20_000;

/** How often features are left out until the size is reached. */
const maxAttempts = 6;

export interface ViewBytes {
  /** Compressed with gzip: the length of the head in four bytes, the head as JSON, sections. */
  readonly compressed: Uint8Array;
  /** Features of each layer, and how many of them are on the map. */
  readonly counts: readonly { readonly rows: number; readonly located: number }[];
  /** What was left out: sentences. */
  readonly generalized: readonly string[];
}

/** @param maxBytes of the compressed bytes */
export async function viewToBytes(layers: readonly LayerData[], maxBytes: number): Promise<ViewBytes> {
  const finish = (compressed: Uint8Array, zoom: number, share: number): ViewBytes => ({
    compressed,
    counts: layers.map((layer) => countKept(layer, share)),
    generalized: describe(layers, zoom, share),
  });
  for (const zoom of zooms) {
    if ((await estimate(layers, zoom)) > maxBytes) continue;
    const compressed = await pack(layers, zoom, 1);
    if (compressed.length <= maxBytes) return finish(compressed, zoom, 1);
  }
  let share = Math.min(1, maxBytes / (await estimate(layers, reducedZoom)));
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    share *= 0.95;
    const compressed = await pack(layers, reducedZoom, share);
    if (compressed.length <= maxBytes) return finish(compressed, reducedZoom, share);
    share *= maxBytes / compressed.length;
  }
  return finish(await pack(layers, reducedZoom, 0), reducedZoom, 0);
}

function countKept({ rows, levels }: LayerData, share: number): ViewBytes["counts"][number] {
  const kept = spread(rows, share);
  const some = kept ? Uint8Array.from(kept, (row) => levels[row]!) : levels;
  return { rows: some.length, located: some.filter((level) => level !== noLevel).length };
}

/** Features evenly spread over a layer. */
export function spread(count: number, share: number): Uint32Array | null {
  if (share >= 1) return null;
  const kept = Math.floor(count * share);
  return Uint32Array.from({ length: kept }, (_, at) => Math.floor((at * count) / kept));
}

async function pack(layers: readonly LayerData[], zoom: number, share: number): Promise<Uint8Array> {
  const writer = new SectionWriter();
  const heads = layers.map((layer) => layerToBytes(layer, spread(layer.rows, share), zoom, writer));
  return compress(joinParts(heads, writer));
}

function joinParts(heads: readonly LayerHead[], writer: SectionWriter): Buffer {
  const text = Buffer.from(JSON.stringify(heads));
  // Sections begin at a multiple of eight.
  const head = Buffer.alloc((4 + text.length + 7) & ~7, " ");
  head.writeUInt32LE(head.length - 4);
  text.copy(head, 4);
  return Buffer.concat([head, ...writer.parts]);
}

async function estimate(layers: readonly LayerData[], zoom: number): Promise<number> {
  const sizes = await Promise.all(
    layers.map(async (layer) => {
      const share = Math.min(1, sampleRows / Math.max(1, layer.rows));
      return (await pack([layer], zoom, share)).length / share;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function describe(layers: readonly LayerData[], zoom: number, share: number): string[] {
  const sentences: string[] = [];
  if (share < 1) {
    const all = layers.reduce((sum, { rows }) => sum + rows, 0);
    const kept = layers.reduce((sum, { rows }) => sum + Math.floor(rows * share), 0);
    sentences.push(
      `This page has ${groupDigits(kept)} of ${groupDigits(all)} features, evenly spread over each layer, so that it is not too large; --max-size allows more. Its statistics are those of all features.`,
    );
  }
  const hasShapes = layers.some((layer) =>
    layer.levels.some((level, row) => level !== noLevel && layer.record(row, 0) !== null),
  );
  if (zoom !== fullZoom && hasShapes) {
    const metres = unitsPerPixel(zoom) * (40_075_016.686 / 2 ** 30);
    sentences.push(
      `Lines and areas are generalized to ${metres.toPrecision(2)} m (at the equator), so that the page is not too large.`,
    );
  }
  return sentences;
}
