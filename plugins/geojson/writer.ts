import { createError } from "../../src/errors.js";
import type { Crs } from "../../src/model/index.js";
import type { Assembler, Encoder, Sink, SinkFile, TargetLayer, WriteContext } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { TextBuffer } from "../shared/text/text-buffer.js";
import type { writeOptions } from "./options.js";
import { type FeatureChunk, FeatureEncoder } from "./write/encoder.js";
import { featureSettings } from "./write/feature-settings.js";
import { Bounds, type GeometrySettings } from "./write/geometry-writer.js";

type Options = OptionValues<typeof writeOptions>;

/** Writes features as members of one array, each on its own line. */
export async function createEncoder(
  layer: TargetLayer,
  options: Options,
  context: WriteContext,
): Promise<Encoder<FeatureChunk>> {
  const settings = {
    ...featureSettings(layer, options),
    before: ",\n",
    after: "",
    fileBounds: options.bbox === "file" || options.bbox === "both",
    featureBounds: options.bbox === "features" || options.bbox === "both",
  };
  return new FeatureEncoder(settings, context);
}

export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: Options,
): Promise<Assembler<FeatureChunk>> {
  const crs = options.crs ? formatCrsMember(layers[0]!.crs) : "";
  const file = await sink.create();
  await file.write(Buffer.from(`{"type":"FeatureCollection"${crs},"features":[`));
  return new CollectionAssembler(file, { precision: options.precision, zPrecision: options.zPrecision, wind: false });
}

/** The "crs" member of GeoJSON 2008, section 3.1, with the comma before it. */
function formatCrsMember(crs: Crs | null): string {
  if (crs === null) return "";
  const [authority, code] = crs.id?.split(":") ?? [];
  if (!authority || !code) throw createError("crs-not-writable", { format: "GeoJSON", crs: crs.name });
  // GeoJSON puts longitude first, regardless of EPSG:4326.
  const lonLat = crs.id === "EPSG:4326" || crs.id === "OGC:CRS84";
  const urn = lonLat ? "urn:ogc:def:crs:OGC:1.3:CRS84" : `urn:ogc:def:crs:${authority}::${code}`;
  return `,"crs":${JSON.stringify({ type: "name", properties: { name: urn } })}`;
}

class CollectionAssembler implements Assembler<FeatureChunk> {
  private readonly bounds = new Bounds();
  private empty = true;

  constructor(
    private readonly file: SinkFile,
    private readonly settings: GeometrySettings,
  ) {}

  async append(chunk: FeatureChunk): Promise<void> {
    if (chunk.count === 0) return;
    // Each feature starts with the comma before it, which the first one omits.
    await this.file.write(this.empty ? chunk.bytes.subarray(1) : chunk.bytes);
    this.empty = false;
    if (chunk.least && chunk.most) this.bounds.merge(chunk.least, chunk.most);
  }

  async finish(): Promise<void> {
    const out = new TextBuffer(256);
    out.ascii("\n]");
    this.bounds.write(out, this.settings);
    out.ascii("}\n");
    await this.file.write(out.finish());
  }
}

export { readBack } from "./write/read-back.js";
