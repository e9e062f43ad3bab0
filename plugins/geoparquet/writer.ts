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
import { emptyBox, type GeometrySummary, type ParquetChunk, widen } from "./write/encoder.js";
import { type ChunkEntry, encodeFooter, type FileEntry, type GroupEntry } from "./write/footer.js";
import { createLayout, type WriteOptions } from "./write/layout.js";
import type { EncodedPage } from "./write/page-encoder.js";

export { createEncoder } from "./write/encoder.js";

const magic = Buffer.from("PAR1");
/** Pages that are kept for a row group, at most, in bytes. */
const maxGroupBytes = 1 << 26;

/** @throws option-invalid, crs-not-writable, output-failed */
export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<ParquetChunk>> {
  const layer = layers[0]!;
  const layout = createLayout(layer, options);
  const system = layout.geometry === null ? undefined : await projJsonOf(layer.crs, context);
  const srid = /^EPSG:(\d+)$/.exec(layer.crs?.id ?? "")?.[1] ?? null;
  const file = await sink.create();
  await file.write(magic);
  const isLogical = options.geometryType === "parquet";
  return new ParquetAssembler(file, options.rowGroup, { layout, projJson: system, srid, isLogical }, context);
}

/** PROJJSON; undefined for WGS 84, which is the default of the format. */
async function projJsonOf(crs: Crs | null, context: WriteContext): Promise<FileEntry["projJson"]> {
  if (crs === null) return null;
  if (crs.id === context.crs.wgs84.id || crs.id === "OGC:CRS84") return undefined;
  const json = await context.crs.toProjJson(crs);
  if (json === null) throw createError("crs-not-writable", { format: "GeoParquet", crs: crs.id ?? crs.name });
  return json;
}

const createSummary = (): GeometrySummary => ({ types: new Uint32Array(32), box: emptyBox() });

function addSummary(into: GeometrySummary, summary: GeometrySummary): void {
  widen(into.box, summary.box);
  for (let at = 0; at < into.types.length; at++) into.types[at] = into.types[at]! + summary.types[at]!;
}

class ParquetAssembler implements Assembler<ParquetChunk> {
  private readonly groups: GroupEntry[] = [];
  private readonly zones: Zones[];
  private readonly geometry = createSummary();
  /** The pages of the row group in progress, by leaf column. */
  private pages: EncodedPage[][] = [];
  private rows = 0;
  private bytes = 0;
  private groupGeometry = createSummary();
  /** Bytes of the file. */
  private end = magic.length;

  constructor(
    private readonly file: SinkFile,
    private readonly groupRows: number,
    private readonly plan: Pick<FileEntry, "layout" | "projJson" | "srid" | "isLogical">,
    private readonly context: WriteContext,
  ) {
    this.zones = plan.layout.fields.map(() => ({ utc: 0, local: 0 }));
  }

  async append(chunk: ParquetChunk): Promise<void> {
    if (chunk.rows === 0) return;
    chunk.pages.forEach((page, leaf) => {
      this.pages[leaf] ??= [];
      // The host frees the bytes of the chunk.
      this.pages[leaf].push({
        ...page,
        bytes: page.bytes.slice(),
        least: copy(page.least),
        greatest: copy(page.greatest),
      });
      this.bytes += page.bytes.length;
    });
    chunk.zones.forEach(({ utc, local }, f) => {
      this.zones[f]!.utc += utc;
      this.zones[f]!.local += local;
    });
    addSummary(this.geometry, chunk.geometry);
    addSummary(this.groupGeometry, chunk.geometry);
    this.rows += chunk.rows;
    if (this.rows >= this.groupRows || this.bytes >= maxGroupBytes) await this.endGroup();
  }

  private async endGroup(): Promise<void> {
    const offset = this.end;
    const chunks: ChunkEntry[] = [];
    for (const [leaf, pages] of this.pages.entries()) chunks.push(await this.writeChunk(pages, leaf));
    this.groups.push({ rows: this.rows, offset, chunks, geometry: this.groupGeometry });
    this.pages = [];
    this.rows = 0;
    this.bytes = 0;
    this.groupGeometry = createSummary();
  }

  private async writeChunk(pages: readonly EncodedPage[], leaf: number): Promise<ChunkEntry> {
    const offset = this.end;
    const bytes = Buffer.concat(pages.map((page) => page.bytes));
    await this.file.write(bytes);
    this.end += bytes.length;
    const compare = this.comparison(leaf);
    return {
      offset,
      size: bytes.length,
      uncompressed: pages.reduce((sum, page) => sum + page.uncompressed, 0),
      nulls: pages.reduce((sum, page) => sum + page.nulls, 0),
      ...boundsOf(pages, compare),
    };
  }

  /** Orders encoded values of a column. */
  private comparison(leaf: number): (a: Uint8Array, b: Uint8Array) => number {
    const type = this.plan.layout.fields[leaf]?.type;
    const number = (bytes: Uint8Array): number | bigint => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      if (type === "double") return view.getFloat64(0, true);
      if (type === "int32" || type === "date") return view.getInt32(0, true);
      if (type === undefined) return view.getFloat32(0, true);
      return type === "boolean" ? bytes[0]! : view.getBigInt64(0, true);
    };
    if (type === "text") return (a, b) => Buffer.compare(a, b);
    return (a, b) => {
      const [left, right] = [number(a), number(b)];
      return left < right ? -1 : left > right ? 1 : 0;
    };
  }

  async finish(): Promise<void> {
    if (this.rows > 0) await this.endGroup();
    this.plan.layout.fields.forEach(({ name }, f) => {
      const { utc, local } = this.zones[f]!;
      if (utc > 0 && local > 0)
        this.context.reportLoss(
          "zone-assumed",
          name,
          "a time without a zone was written as UTC, as others have one",
          local,
        );
    });
    const { plan, groups, zones, geometry } = this;
    const footer = encodeFooter({ ...plan, groups, zones, geometry });
    const tail = Buffer.alloc(4);
    tail.writeUInt32LE(footer.length);
    await this.file.write(Buffer.concat([footer, tail, magic]));
  }
}

const copy = (bytes: Uint8Array | null): Uint8Array | null => bytes?.slice() ?? null;

/** The bounds of a chunk; null if a page with values has none. */
function boundsOf(
  pages: readonly EncodedPage[],
  compare: (a: Uint8Array, b: Uint8Array) => number,
): Pick<ChunkEntry, "least" | "greatest"> {
  let least: Uint8Array | null = null;
  let greatest: Uint8Array | null = null;
  for (const page of pages) {
    if (!page.least || !page.greatest) {
      if (page.isEmpty) continue;
      return { least: null, greatest: null };
    }
    if (!least || compare(page.least, least) < 0) least = page.least;
    if (!greatest || compare(page.greatest, greatest) > 0) greatest = page.greatest;
  }
  return { least, greatest };
}
