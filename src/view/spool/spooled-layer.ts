import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readFully, writeFully } from "../../canonical/whole-reads.js";
import { spoolError } from "../../io/input/spool.js";
import type { Column } from "../../model/column.js";
import { commonType, type Field, type FieldType } from "../../model/field.js";
import { type Geometry, type GeometryType, geometryAt, geometryTypes } from "../../model/geometry.js";
import { batchOf, type LayerData } from "../layer-data.js";
import { versionAt } from "../shape-record.js";
import { columnFromBytes } from "./column-bytes.js";
import { concatenate } from "./concatenate.js";
import {
  type ByteRange,
  decodeGeometry,
  type SpooledBatchParts,
  type ViewChunk,
  type ViewManifest,
} from "./view-format.js";

const noRange: ByteRange = [0, 0];

/** Words that are read with the head of a record: most records are no longer. */
const headWords = 128;

/** A column or a geometry is read again less often if the last ones are kept. */
const cachedParts = 64;

/**
 * The features of a layer: columns, geometries and shapes in temporary files, in memory ten bytes a feature, and four
 * more if features have more than one position.
 */
export class SpooledLayer implements LayerData, Disposable {
  rows = 0;
  hasZ = false;
  hasIds = false;
  x = new Uint32Array(0);
  y = new Uint32Array(0);
  levels = new Uint8Array(0);
  kinds = new Uint8Array(0);
  readonly firstRows: number[] = [0];
  private starts: Uint32Array | null = null;
  private readonly path: string;
  private readonly handle: number;
  private readonly shapesHandle: number;
  private size = 0;
  private words = 0;
  private readonly batches: { readonly rows: number; geometry: ByteRange; ids: ByteRange; columns: ByteRange[] }[] = [];
  private readonly fieldIndex = new Map<string, number>();
  private readonly allFields: { name: string; type: FieldType }[] = [];
  private chunks: ViewChunk["shapes"][] = [];
  private readonly cache = new Map<number, unknown>();

  constructor(
    folder: string,
    readonly name: string,
    /** As the source declares them; null if only its features have fields. */
    declared: readonly Field[] | null,
  ) {
    this.path = join(folder, "batches");
    this.handle = openSync(this.path, "wx+", 0o600);
    this.shapesHandle = openSync(join(folder, "shapes"), "wx+", 0o600);
    for (const field of declared ?? []) this.addField(field);
  }

  get fields(): readonly Field[] {
    return this.allFields;
  }

  private addField({ name, ...field }: Field): number {
    this.fieldIndex.set(name, this.allFields.length);
    return this.allFields.push({ name, ...field }) - 1;
  }

  private indexOf(field: Field): number {
    const known = this.fieldIndex.get(field.name);
    if (known === undefined) return this.addField(field);
    const own = this.allFields[known]!;
    if (own.type !== field.type) own.type = commonType(own.type, field.type);
    return known;
  }

  /** @throws output-failed */
  add({ rows, fields, columns, ids, geometry, shapes, hasZ }: ViewChunk): void {
    const ranges: ByteRange[] = [];
    fields.forEach((field, f) => {
      ranges[this.indexOf(field)] = this.write(columns[f]!);
    });
    this.batches.push({
      rows,
      geometry: this.write(geometry),
      ids: ids ? this.write(ids) : noRange,
      columns: ranges,
    });
    // Starts become words of the whole file.
    const { starts, words } = shapes;
    for (let i = 0; i < starts.length; i++) starts[i]! += this.words;
    this.chunks.push({ ...shapes, words: new Int32Array(0) });
    if (words.length > 0) this.writeTo(this.shapesHandle, new Uint8Array(words.buffer, 0, words.byteLength));
    this.words += words.length;
    this.rows += rows;
    this.firstRows.push(this.rows);
    this.hasZ ||= hasZ;
    this.hasIds ||= ids !== null;
  }

  private write(bytes: Uint8Array): ByteRange {
    this.writeTo(this.handle, bytes);
    this.size += bytes.length;
    return [this.size - bytes.length, bytes.length];
  }

  private writeTo(handle: number, bytes: Uint8Array): void {
    try {
      writeFully(handle, bytes);
    } catch (error) {
      throw spoolError(this.path, error);
    }
  }

  /** Call after the last chunk. */
  finish(): void {
    const { chunks, rows } = this;
    this.x = concatenate(
      new Uint32Array(rows),
      chunks.map((chunk) => chunk.x),
    );
    this.y = concatenate(
      new Uint32Array(rows),
      chunks.map((chunk) => chunk.y),
    );
    this.levels = concatenate(
      new Uint8Array(rows),
      chunks.map((chunk) => chunk.levels),
    );
    this.kinds = concatenate(
      new Uint8Array(rows),
      chunks.map((chunk) => chunk.kinds),
    );
    if (chunks.some(({ starts }) => starts.length > 0)) this.starts = this.joinStarts();
    this.chunks = [];
  }

  /** Batches of points only have no starts. */
  private joinStarts(): Uint32Array {
    const joined = new Uint32Array(this.rows + 1);
    let [row, end] = [0, 0];
    for (const { x, starts } of this.chunks) {
      if (starts.length > 0) joined.set(starts, row);
      else joined.fill(end, row, row + x.length);
      row += x.length;
      end = starts.at(-1) ?? end;
      joined[row] = end;
    }
    return joined;
  }

  private cached<T>(key: number, read: () => T): T {
    const known = this.cache.get(key) as T | undefined;
    if (known !== undefined) return known;
    const found = read();
    if (this.cache.size >= cachedParts) this.cache.delete(this.cache.keys().next().value!);
    this.cache.set(key, found);
    return found;
  }

  private readColumn(batch: number, part: number, [start, length]: ByteRange): Column | null {
    if (length === 0) return null;
    return this.cached(batch * 65_536 + part, () => columnFromBytes(readFully(this.handle, start, length)));
  }

  column(batch: number, field: number): Column | null {
    return this.readColumn(batch, field + 2, this.batches[batch]!.columns[field] ?? noRange);
  }

  ids(batch: number): Column | null {
    return this.readColumn(batch, 0, this.batches[batch]!.ids);
  }

  /** In longitude and latitude. */
  geometry(row: number): Geometry | null {
    const batch = batchOf(this, row);
    const [start, length] = this.batches[batch]!.geometry;
    const column = this.cached(batch * 65_536 + 1, () => decodeGeometry(readFully(this.handle, start, length)));
    return geometryAt(column, row - this.firstRows[batch]!);
  }

  record(row: number, zoom: number): Int32Array | null {
    if (this.starts === null) return null;
    const [start, end] = [this.starts[row]!, this.starts[row + 1]!];
    if (start === end) return null;
    const head = this.readWords(start, Math.min(headWords, end - start));
    if (head.length === end - start) return head;
    const at = versionAt(head, zoom);
    const [from, length] = [head[at + 1]!, head[at + 2]!];
    if (from + length <= head.length) return head;
    const record = new Int32Array(from + length);
    record.set(head.subarray(0, Math.min(head.length, record.length)));
    record.set(this.readWords(start + from, length), from);
    return record;
  }

  private readWords(start: number, count: number): Int32Array {
    const bytes = readFully(this.shapesHandle, 4 * start, 4 * count);
    return new Int32Array(bytes.buffer, bytes.byteOffset, count);
  }

  get geometryTypes(): GeometryType[] {
    const seen = new Set(this.kinds);
    return geometryTypes.filter((type, kind): type is GeometryType => type !== null && seen.has(kind));
  }

  /** A file that the reader of views opens, to inspect the layer. */
  writeManifest(path: string, crs: ViewManifest["crs"]): void {
    const { name, allFields: fields } = this;
    const batches = this.batches.map(
      ({ columns, ...others }): SpooledBatchParts => ({
        ...others,
        columns: fields.map((_, f) => columns[f] ?? noRange),
      }),
    );
    const manifest: ViewManifest = { name, crs, fields, path: this.path, batches };
    writeFileSync(path, JSON.stringify(manifest), { mode: 0o600 });
  }

  [Symbol.dispose](): void {
    closeSync(this.handle);
    closeSync(this.shapesHandle);
  }
}
