/** A layer as bytes for a page that needs no server, and back. */
import { type Column, takeColumn } from "../../model/column.js";
import type { Field } from "../../model/field.js";
import type { LayerData } from "../layer-data.js";
import { fullZoom, versionAt } from "../shape-record.js";
import { columnFromBytes, columnToBytes } from "../spool/column-bytes.js";
import { maxZoom, unitsPerPixel } from "../world.js";

/** Start and length of a section in bytes; length 0: there is none. */
type Section = readonly [start: number, length: number];

interface BatchSections {
  readonly rows: number;
  readonly ids: Section;
  readonly columns: readonly Section[];
}

export interface LayerHead {
  readonly name: string;
  readonly rows: number;
  readonly fields: readonly Field[];
  readonly batches: readonly BatchSections[];
  readonly x: Section;
  readonly y: Section;
  readonly levels: Section;
  readonly kinds: Section;
  /** Words of each record, and the records: positions as differences, divided by 2^shift. Length 0: all are points. */
  readonly lengths: Section;
  readonly words: Section;
  readonly shift: number;
}

const none: Section = [0, 0];

/** Collects sections, each at a multiple of eight bytes. */
export class SectionWriter {
  readonly parts: Uint8Array[] = [];
  size = 0;

  add(view: ArrayBufferView): Section {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const start = this.size;
    const padding = -bytes.length & 7;
    this.parts.push(bytes, new Uint8Array(padding));
    this.size += bytes.length + padding;
    return [start, bytes.length];
  }
}

/** Binary digits of a position that a pixel of a zoom does not show. */
export const shiftFor = (zoom: number): number => Math.max(0, Math.floor(Math.log2(unitsPerPixel(zoom) / 2)));

/**
 * @param rows the features to keep, in order; null: all
 * @param zoom shapes are exact to half a pixel of it
 */
export function layerToBytes(
  data: LayerData,
  rows: Uint32Array | null,
  zoom: number,
  writer: SectionWriter,
): LayerHead {
  const kept = rows ?? Uint32Array.from({ length: data.rows }, (_, row) => row);
  const shift = zoom > maxZoom ? 0 : shiftFor(zoom);
  const take = <A extends Uint32Array | Uint8Array>(values: A): A =>
    rows === null ? values : (kept.map((row) => values[row]!) as A);
  const levels = rows === null ? data.levels : Uint8Array.from(kept, (row) => data.levels[row]!);
  const kinds = rows === null ? data.kinds : Uint8Array.from(kept, (row) => data.kinds[row]!);
  return {
    name: data.name,
    rows: kept.length,
    fields: data.fields,
    batches: writeBatches(data, rows, writer),
    x: writer.add(take(data.x)),
    y: writer.add(take(data.y)),
    levels: writer.add(levels),
    kinds: writer.add(kinds),
    ...writeShapes(data, kept, zoom, shift, writer),
    shift,
  };
}

function writeBatches(data: LayerData, rows: Uint32Array | null, writer: SectionWriter): BatchSections[] {
  const batches: BatchSections[] = [];
  let next = 0;
  for (let batch = 0; batch + 1 < data.firstRows.length; batch++) {
    const [first, end] = [data.firstRows[batch]!, data.firstRows[batch + 1]!];
    let own: Uint32Array | null = null;
    if (rows) {
      const start = next;
      while (next < rows.length && rows[next]! < end) next++;
      own = rows.subarray(start, next).map((row) => row - first);
      if (own.length === 0) continue;
    }
    const write = (column: Column | null) =>
      column === null ? none : writer.add(columnToBytes(own ? takeColumn(column, own) : column));
    batches.push({
      rows: own?.length ?? end - first,
      ids: write(data.ids(batch)),
      columns: data.fields.map((_, field) => write(data.column(batch, field))),
    });
  }
  return batches;
}

function writeShapes(
  data: LayerData,
  rows: Uint32Array,
  zoom: number,
  shift: number,
  writer: SectionWriter,
): Pick<LayerHead, "lengths" | "words"> {
  const lengths = new Uint32Array(rows.length);
  const records: Int32Array[] = [];
  rows.forEach((row, at) => {
    const record = data.record(row, zoom);
    if (record === null) return;
    const packed = packRecord(record, zoom, shift);
    lengths[at] = packed.length;
    records.push(packed);
  });
  if (records.length === 0) return { lengths: none, words: none };
  const words = new Int32Array(records.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const record of records) {
    words.set(record, at);
    at += record.length;
  }
  return { lengths: writer.add(lengths), words: writer.add(words) };
}

/** The version for a zoom: the number of rings, their heads, and the positions as differences. */
function packRecord(record: Int32Array, zoom: number, shift: number): Int32Array {
  const at = versionAt(record, zoom);
  const [start, length] = [record[at + 1]!, record[at + 2]!];
  const packed = record.slice(start, start + length);
  let [x, y] = [0, 0];
  for (let k = 1 + packed[0]!; k < packed.length; k += 2) {
    const [left, top] = [packed[k]! >> shift, packed[k + 1]! >> shift];
    packed[k] = left - x;
    packed[k + 1] = top - y;
    [x, y] = [left, top];
  }
  return packed;
}

/** A record with one version. */
function unpackRecord(words: Int32Array, from: number, length: number, shift: number): Int32Array {
  const record = new Int32Array(4 + length);
  record.set([1, fullZoom, 4, length]);
  record.set(words.subarray(from, from + length), 4);
  let [x, y] = [0, 0];
  for (let k = 5 + record[4]!; k < record.length; k += 2) {
    x += record[k]!;
    y += record[k + 1]!;
    record[k] = x << shift;
    record[k + 1] = y << shift;
  }
  return record;
}

/** The layer of a page. */
export class MemoryLayer implements LayerData {
  readonly name: string;
  readonly rows: number;
  readonly fields: readonly Field[];
  readonly x: Uint32Array;
  readonly y: Uint32Array;
  readonly levels: Uint8Array;
  readonly kinds: Uint8Array;
  readonly firstRows: number[] = [0];
  private readonly words: Int32Array;
  private readonly starts: Uint32Array | null;

  constructor(
    private readonly head: LayerHead,
    private readonly buffer: ArrayBuffer,
    /** Where sections start in the buffer. */
    private readonly offset: number,
  ) {
    this.name = head.name;
    this.rows = head.rows;
    this.fields = head.fields;
    this.x = this.numbers(Uint32Array, head.x);
    this.y = this.numbers(Uint32Array, head.y);
    this.levels = this.numbers(Uint8Array, head.levels);
    this.kinds = this.numbers(Uint8Array, head.kinds);
    this.words = this.numbers(Int32Array, head.words);
    this.starts = head.lengths[1] === 0 ? null : startsOf(this.numbers(Uint32Array, head.lengths));
    for (const { rows } of head.batches) this.firstRows.push(this.firstRows.at(-1)! + rows);
  }

  private numbers<A>(
    Type: { readonly BYTES_PER_ELEMENT: number; new (buffer: ArrayBuffer, start: number, length: number): A },
    [start, length]: Section,
  ): A {
    return new Type(this.buffer, this.offset + start, length / Type.BYTES_PER_ELEMENT);
  }

  private columnAt([start, length]: Section): Column | null {
    return length === 0 ? null : columnFromBytes(new Uint8Array(this.buffer, this.offset + start, length));
  }

  column(batch: number, field: number): Column | null {
    return this.columnAt(this.head.batches[batch]!.columns[field]!);
  }

  ids(batch: number): Column | null {
    return this.columnAt(this.head.batches[batch]!.ids);
  }

  record(row: number): Int32Array | null {
    if (this.starts === null) return null;
    const [from, to] = [this.starts[row]!, this.starts[row + 1]!];
    return from === to ? null : unpackRecord(this.words, from, to - from, this.head.shift);
  }
}

function startsOf(lengths: Uint32Array): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, at) => {
    starts[at + 1] = starts[at]! + length;
  });
  return starts;
}
