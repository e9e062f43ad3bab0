import { clearBox } from "../../src/model/feature-box.js";
import type {
  Assembler,
  OptionValues,
  ReadBack,
  Sink,
  SinkFile,
  TargetLayer,
  WriteContext,
} from "../../src/plugin/index.js";
import { ScratchFile } from "../shared/scratch-file.js";
import type { writeOptions } from "./index.js";
import { designLayer, HeaderEncoder } from "./write/encode-header.js";
import type { FgbChunk } from "./write/encoder.js";
import { FeatureSpool } from "./write/feature-spool.js";
import { TreeWriter, writtenNodeSize } from "./write/tree-writer.js";

export { createEncoder } from "./write/encoder.js";

/** @throws crs-not-writable, output-failed */
export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  { index }: OptionValues<typeof writeOptions>,
  context: WriteContext,
): Promise<Assembler<FgbChunk>> {
  const layer = layers[0]!;
  reportLostMetadata(layer, context);
  const header = await HeaderEncoder.create(layer, designLayer(layer), context);
  const file = await sink.create();
  return index ? new IndexedAssembler(file, header, sink.name, context) : SequentialAssembler.begin(file, header);
}

/** A column has a title and a description, and no other metadata. */
function reportLostMetadata({ metadata }: TargetLayer, context: WriteContext): void {
  for (const { column, name, title, mediaType, constraint } of metadata?.columns ?? []) {
    const lost = [
      ...(name !== undefined && title !== undefined && name !== title ? ["a name"] : []),
      ...(mediaType === undefined ? [] : ["a media type"]),
      ...(constraint === undefined ? [] : ["a constraint"]),
    ];
    const example = `FlatGeobuf has no place for ${lost.join(" and ")} of the column`;
    if (lost.length > 0) context.reportLoss("metadata-left-out", column, example);
  }
}

/** What all features have together. */
class Totals {
  featureCount = 0;
  private readonly box = new Float64Array(4);

  constructor() {
    clearBox(this.box);
  }

  add({ sizes, extent }: FgbChunk): void {
    this.featureCount += sizes.length;
    for (let side = 0; side < 4; side++)
      this.box[side] = side < 2 ? Math.min(this.box[side]!, extent[side]!) : Math.max(this.box[side]!, extent[side]!);
  }

  /** Null without positions. */
  get extent(): Float64Array | null {
    return this.box[0]! <= this.box[2]! ? this.box : null;
  }
}

/**
 * Writes features in the order in which they come, without an index. Their number and extent are not known when the
 * header is written, which is the same in files and streams.
 */
class SequentialAssembler implements Assembler<FgbChunk> {
  private constructor(private readonly file: SinkFile) {}

  static async begin(file: SinkFile, header: HeaderEncoder): Promise<SequentialAssembler> {
    await file.write(header.encode({ featureCount: 0, nodeSize: 0, extent: null }));
    return new SequentialAssembler(file);
  }

  append({ bytes }: FgbChunk): Promise<void> {
    return this.file.write(bytes);
  }

  async finish(): Promise<void> {}
}

/** Sorts the features and writes them behind their index. */
class IndexedAssembler implements Assembler<FgbChunk> {
  private readonly totals = new Totals();
  private readonly spool: FeatureSpool;
  private scratchFiles = 0;

  constructor(
    private readonly file: SinkFile,
    private readonly header: HeaderEncoder,
    output: string,
    context: WriteContext,
  ) {
    this.spool = new FeatureSpool(output, async () => {
      const path = await context.createTemporaryPath(`features-${this.scratchFiles++}`);
      return new ScratchFile(output, path);
    });
  }

  async append(chunk: FgbChunk): Promise<void> {
    this.totals.add(chunk);
    await this.spool.add(chunk);
  }

  async finish(): Promise<void> {
    const { file, spool } = this;
    const { featureCount, extent } = this.totals;
    const nodeSize = featureCount === 0 ? 0 : writtenNodeSize;
    await file.write(this.header.encode({ featureCount, nodeSize, extent: extent && [...extent] }));
    if (featureCount === 0) return;
    const tree = new TreeWriter(file, file.size, featureCount);
    await tree.reserve();
    for await (const part of spool.sorted(extent ?? new Float64Array(4))) {
      await file.write(part.features);
      await tree.addFeatures(part);
    }
    await tree.finish();
    spool.close();
  }

  async abort(): Promise<void> {
    this.spool.close();
  }
}

/** An index sorts the features along a Hilbert curve. */
export const readBack = (_: readonly TargetLayer[], { index }: OptionValues<typeof writeOptions>): ReadBack => ({
  order: index ? "any" : "written",
});
