import type { Crs } from "../../src/model/index.js";
import {
  type Assembler,
  createError,
  type Sink,
  type SinkFile,
  type TargetLayer,
  type WriteContext,
} from "../../src/plugin/index.js";
import type { Zones } from "./write/column-encoder.js";
import type { ParquetChunk } from "./write/encoder.js";
import {
  addGeometries,
  type ChunkEntry,
  createGeometrySummary,
  encodeFooter,
  type FileEntry,
  type GroupEntry,
  leavesOf,
  mergeGeometries,
} from "./write/footer.js";
import { createLayout, type WriteOptions } from "./write/layout.js";
import { type EncodedPage, PageBuilder } from "./write/page-builder.js";
import { mergeBounds, noBounds } from "./write/statistics.js";

export { createEncoder } from "./write/encoder.js";

const magic = Buffer.from("PAR1");
/** A page ends at the first of these limits: rows, and bytes of all columns before compression. */
const maxPageRows = 1 << 14;
const maxPageBytes = 1 << 22;
/** Most bytes of a row group before compression. */
const maxGroupBytes = 1 << 27;
/** Pages that are compressed at the same time. */
const maxPendingPages = 16;

/** @throws option-invalid, crs-not-writable, output-failed */
export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<ParquetChunk>> {
  const layer = layers[0]!;
  const layout = createLayout(layer, options);
  const projJson = layout.geometry === null ? undefined : await projJsonOf(layer.crs, context);
  const srid = /^EPSG:(\d+)$/.exec(layer.crs?.id ?? "")?.[1] ?? null;
  const file = await sink.create();
  await file.write(magic);
  const isLogical = options.geometryType === "parquet";
  return new ParquetAssembler(file, options.rowGroup, { layout, projJson, srid, isLogical }, context);
}

/** PROJJSON; undefined for WGS 84, which is the default of the format. */
async function projJsonOf(crs: Crs | null, context: WriteContext): Promise<FileEntry["projJson"]> {
  if (crs === null) return null;
  if (crs.id === context.crs.wgs84.id || crs.id === "OGC:CRS84") return undefined;
  const json = await context.crs.toProjJson(crs);
  if (json === null) throw createError("crs-not-writable", { format: "GeoParquet", crs: crs.id ?? crs.name });
  return json;
}

/** The file does not depend on the sizes of the chunks: pages and row groups end at rows. */
class ParquetAssembler implements Assembler<ParquetChunk> {
  private readonly groups: GroupEntry[] = [];
  private readonly zones: Zones[];
  private readonly leaves: ReturnType<typeof leavesOf>;
  private readonly builders: readonly PageBuilder[];
  /** The pages of the row group in progress, by leaf column. */
  private pages: Promise<EncodedPage>[][];
  private readonly pending: Promise<EncodedPage>[] = [];
  private pageRows = 0;
  private pageBytes = 0;
  private groupRows = 0;
  private groupBytes = 0;
  private groupGeometry = createGeometrySummary();
  /** Bytes of the file. */
  private end = magic.length;

  constructor(
    private readonly file: SinkFile,
    private readonly maxGroupRows: number,
    private readonly plan: Pick<FileEntry, "layout" | "projJson" | "srid" | "isLogical">,
    private readonly context: WriteContext,
  ) {
    this.leaves = leavesOf(plan.layout);
    this.zones = plan.layout.fields.map(() => ({ utc: 0, local: 0 }));
    this.builders = this.leaves.map(({ kind }) => new PageBuilder(kind, maxPageRows));
    this.pages = this.leaves.map(() => []);
  }

  async append(chunk: ParquetChunk): Promise<void> {
    chunk.zones.forEach(({ utc, local }, f) => {
      this.zones[f]!.utc += utc;
      this.zones[f]!.local += local;
    });
    const sizes = rowSizes(chunk);
    for (let from = 0; from < chunk.rows; ) {
      const to = this.fill(sizes, from, chunk.rows);
      this.builders.forEach((builder, leaf) => {
        builder.add(chunk, leaf, from, to);
      });
      addGeometries(this.groupGeometry, chunk, from, to);
      from = to;
      const endsGroup = this.groupRows >= this.maxGroupRows || this.groupBytes >= maxGroupBytes;
      if (endsGroup || this.pageRows >= maxPageRows || this.pageBytes >= maxPageBytes) await this.endPage();
      if (endsGroup) await this.endGroup();
    }
  }

  /** Counts rows from `from` on until the page or the row group is full. @returns the row after them */
  private fill(sizes: Uint32Array, from: number, rows: number): number {
    let row = from;
    while (row < rows && this.pageRows < maxPageRows && this.groupRows < this.maxGroupRows) {
      if (this.pageBytes >= maxPageBytes || this.groupBytes >= maxGroupBytes) break;
      this.pageBytes += sizes[row]!;
      this.groupBytes += sizes[row]!;
      this.pageRows++;
      this.groupRows++;
      row++;
    }
    return row;
  }

  private async endPage(): Promise<void> {
    const { codec } = this.plan.layout;
    for (const [leaf, builder] of this.builders.entries()) {
      const page = builder.finish(codec);
      // A failure is thrown where the pages are awaited.
      page.catch(() => {});
      this.pages[leaf]!.push(page);
      this.pending.push(page);
      if (this.pending.length > maxPendingPages) await this.pending.shift();
    }
    this.pageRows = 0;
    this.pageBytes = 0;
  }

  private async endGroup(): Promise<void> {
    const offset = this.end;
    const chunks: ChunkEntry[] = [];
    for (const [leaf, pages] of this.pages.entries())
      chunks.push(await this.writeChunk(await Promise.all(pages), leaf));
    this.groups.push({ rows: this.groupRows, offset, chunks, geometry: this.groupGeometry });
    this.pages = this.pages.map(() => []);
    this.pending.length = 0;
    this.groupRows = 0;
    this.groupBytes = 0;
    this.groupGeometry = createGeometrySummary();
  }

  private async writeChunk(pages: readonly EncodedPage[], leaf: number): Promise<ChunkEntry> {
    const offset = this.end;
    for (const { header, content } of pages) {
      await this.file.write(header);
      await this.file.write(content);
      this.end += header.length + content.length;
    }
    const { kind } = this.leaves[leaf]!;
    return {
      offset,
      size: this.end - offset,
      uncompressed: pages.reduce((sum, page) => sum + page.uncompressed, 0),
      nulls: pages.reduce((sum, page) => sum + page.nulls, 0),
      bounds: pages.reduce((bounds, page) => mergeBounds(kind, bounds, page.bounds), noBounds),
    };
  }

  async finish(): Promise<void> {
    if (this.pageRows > 0) await this.endPage();
    if (this.groupRows > 0) await this.endGroup();
    this.plan.layout.fields.forEach(({ name }, f) => {
      const { utc, local } = this.zones[f]!;
      if (utc === 0 || local === 0) return;
      const example = "a time without a zone was written as UTC, since others have a zone";
      this.context.reportLoss("zone-assumed", name, example, local);
    });
    const { plan, groups, zones } = this;
    const geometry = mergeGeometries(groups.map((group) => group.geometry));
    const footer = encodeFooter({ ...plan, groups, zones, geometry });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(footer.length);
    await this.file.write(Buffer.concat([footer, size, magic]));
  }
}

/** The bytes that the values of each row take, without those of equal sizes. */
function rowSizes({ rows, parts }: ParquetChunk): Uint32Array {
  const sizes = new Uint32Array(rows);
  for (const { offsets } of parts) {
    if (!offsets) continue;
    for (let row = 0; row < rows; row++) sizes[row] = sizes[row]! + offsets[row + 1]! - offsets[row]!;
  }
  return sizes;
}
