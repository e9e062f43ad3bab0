/**
 * Writes TopoJSON. The encoder writes ids and properties, which the topology does not change, as JSON. The assembler
 * collects the geometries of all layers, topojson-server finds their shared arcs, and the document is written at the end.
 */
import { topology } from "topojson-server";
import { formatCount } from "../../src/format-count.js";
import { geometryAt } from "../../src/model/index.js";
import {
  type Assembler,
  createError,
  type Encoder,
  type OptionValues,
  type ReadBack,
  type Sink,
  type SinkFile,
  type TargetLayer,
  type WriteContext,
} from "../../src/plugin/index.js";
import { refusePositions } from "./memory-limit.js";
import type { writeOptions } from "./options.js";
import { collapses, type Grid } from "./write/collapse.js";
import { type TopologyChunk, TopologyEncoder } from "./write/encoder.js";
import {
  formatGeometry,
  type GeometryShape,
  type LibraryGeometry,
  type LibraryResult,
  toLibrary,
} from "./write/geometry-shape.js";

type Options = OptionValues<typeof writeOptions>;

/** Text is written in pieces of about this many characters. */
const pieceLength = 1 << 16;

export async function createEncoder(
  _layer: TargetLayer,
  { ids, idField }: Options,
  context: WriteContext,
): Promise<Encoder<TopologyChunk>> {
  return new TopologyEncoder({ ids, idField }, context);
}

export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: Options,
  context: WriteContext,
): Promise<Assembler<TopologyChunk>> {
  return new TopologyAssembler(sink.name, await sink.create(), layers, options.quantization ?? 0, context);
}

/** The features of a layer. */
class LayerFeatures {
  readonly shapes: GeometryShape[] = [];
  readonly geometries: (LibraryGeometry | null)[] = [];
  /** The ids and properties of the chunks, and the end of each row in its chunk. */
  readonly attributes: { readonly bytes: Buffer; readonly ends: Uint32Array }[] = [];

  constructor(readonly name: string) {}
}

/** The result of topojson-server. */
interface LibraryTopology {
  readonly bbox?: readonly number[];
  readonly transform?: Grid;
  readonly objects: Readonly<Record<string, { readonly geometries: readonly LibraryResult[] }>>;
  readonly arcs: readonly unknown[];
}

class TopologyAssembler implements Assembler<TopologyChunk> {
  private readonly layers: readonly LayerFeatures[];
  private positions = 0;
  private pieces: string[] = [];
  private length = 0;

  constructor(
    private readonly output: string,
    private readonly file: SinkFile,
    layers: readonly TargetLayer[],
    private readonly quantization: number,
    private readonly context: WriteContext,
  ) {
    this.layers = layers.map(({ name }) => new LayerFeatures(name));
  }

  async append({ geometry, attributes, ends }: TopologyChunk, layer: number): Promise<void> {
    const { shapes, geometries, attributes: kept } = this.layers[layer]!;
    this.positions += geometry.xy.length / 2 + (geometry.members?.xy.length ?? 0) / 2;
    const refusal = refusePositions(this.positions);
    if (refusal !== null) throw createError("output-failed", { output: this.output, reason: refusal });
    for (let row = 0; row < geometry.length; row++) {
      const whole = geometryAt(geometry, row);
      const converted = whole && toLibrary(whole);
      shapes.push(converted?.shape ?? { type: null, parts: null, members: null });
      geometries.push(converted?.geometry ?? null);
    }
    kept.push({ bytes: Buffer.from(attributes), ends: ends.slice() });
  }

  async finish(): Promise<void> {
    const { bbox, transform, objects, arcs } = this.makeTopology();
    await this.write('{"type":"Topology"');
    if (bbox) await this.write(`,"bbox":${JSON.stringify(bbox)}`);
    if (transform) await this.write(`,"transform":${JSON.stringify(transform)}`);
    await this.write(',"objects":{');
    for (const [k, layer] of this.layers.entries()) await this.writeObject(k, layer, objects[k]!.geometries);
    await this.write('},\n"arcs":[');
    for (const [k, arc] of arcs.entries()) await this.write(`${k === 0 ? "" : ","}\n${JSON.stringify(arc)}`);
    await this.write("\n]}\n");
    await this.flush();
  }

  private makeTopology(): LibraryTopology {
    const { layers, quantization } = this;
    const inputs = layers.map(({ geometries }) => ({
      type: "FeatureCollection",
      features: geometries.map((geometry) => ({ type: "Feature", properties: null, geometry })),
    }));
    // The declarations of the library have neither null geometries nor types that it ignores.
    const made = topology(
      inputs as unknown as Parameters<typeof topology>[0],
      quantization,
    ) as unknown as LibraryTopology;
    if (made.transform) this.reportQuantization(made.transform);
    return made;
  }

  private reportQuantization(grid: Grid): void {
    const [x, y] = grid.scale.map((each) => (each / 2).toPrecision(3));
    const example = `positions moved by up to ${x} in x and ${y} in y, to a grid of ${formatCount(this.quantization, "column")}`;
    this.context.reportNotice("quantized", undefined, example, this.positions);
    let collapsed = 0;
    for (const { shapes, geometries } of this.layers)
      for (const [k, geometry] of geometries.entries())
        if (geometry && collapses(shapes[k]!, geometry, grid)) collapsed++;
    if (collapsed > 0) {
      const what = `a line became one place or a ring lost its area: quantization=${this.quantization} cannot tell its positions apart`;
      this.context.reportLoss("rounded-away", undefined, what, collapsed);
    }
  }

  private async writeObject(
    index: number,
    { name, shapes, attributes }: LayerFeatures,
    results: readonly LibraryResult[],
  ): Promise<void> {
    const comma = index === 0 ? "" : ",";
    await this.write(`${comma}\n${JSON.stringify(name)}:{"type":"GeometryCollection","geometries":[`);
    let row = 0;
    for (const { bytes, ends } of attributes) {
      let from = 0;
      for (const to of ends) {
        const geometry = formatGeometry(shapes[row]!, results[row]!);
        await this.write(`${row === 0 ? "" : ","}\n{${geometry}${bytes.toString("utf8", from, to)}}`);
        from = to;
        row++;
      }
    }
    await this.write("\n]}");
  }

  private async write(text: string): Promise<void> {
    this.pieces.push(text);
    this.length += text.length;
    if (this.length >= pieceLength) await this.flush();
  }

  private async flush(): Promise<void> {
    const text = this.pieces.join("");
    this.pieces = [];
    this.length = 0;
    await this.file.write(Buffer.from(text));
  }
}

/** JSON has a type for each value. A grid moves positions by as much as half a cell. @throws unsupported */
export function readBack([layer]: readonly TargetLayer[], { quantization, ids, idField }: Options): ReadBack {
  if (quantization) {
    const reason =
      "--verify compares coordinates exactly or by decimals, and the option quantization moves them to a grid; omit one of them";
    throw createError("unsupported", { source: layer!.name, reason });
  }
  return {
    types: "value",
    ...(idField === undefined ? {} : { readerOptions: { fid: idField }, addedFields: [idField] }),
    ...(ids && idField === undefined ? {} : { ids: false }),
  };
}
