/**
 * The hash of a layer as it was passed to the encoders. It does not depend on how the layer was cut into batches: each kind
 * of content is a stream of its own, which is hashed with SHA-256, and the hash of the layer is that of all these hashes.
 */
import { createHash, type Hash } from "node:crypto";
import type { Batch } from "../../model/batch.js";
import { type BytesColumn, type Column, isBytesColumn, Presence } from "../../model/column.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { cellTags } from "./proof-cell.js";

const bytesOf = ({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): Uint8Array<ArrayBuffer> =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

/** States of a cell beside the tags of values. */
const absent = 255;

/** The tag of a column's values. Numeric types share one, and so do text and dates: a reader may infer either from the same values. */
function tagOf({ type }: Column): number {
  if (type === "boolean" || type === "binary" || type === "json") return cellTags[type];
  return type === "int32" || type === "int64" || type === "double" ? cellTags.number : cellTags.text;
}

/** The values of one field: which rows have which kind of value, as runs; lengths of texts; numbers and bytes. */
class FieldStream {
  private readonly runs = createHash("sha256");
  private readonly values = createHash("sha256");
  private readonly lengths = createHash("sha256");
  private state = absent;

  private enter(state: number, row: number): void {
    if (state === this.state) return;
    this.state = state;
    this.runs.update(bytesOf(Float64Array.of(row, state)));
  }

  /** The rows from `row` on have no value. */
  skip(row: number): void {
    this.enter(absent, row);
  }

  /** @param firstRow the row of the layer that the first one of the column is */
  add(column: Column, firstRow: number, absentIsNull: boolean): void {
    const { presence } = column;
    const tag = tagOf(column);
    const isFull = !presence.includes(Presence.null) && !presence.includes(Presence.absent);
    let count = isFull ? presence.length : 0;
    if (isFull && count > 0) this.enter(tag, firstRow);
    else count = this.addRuns(presence, tag, firstRow, absentIsNull);
    if (count === 0) return;
    if (isBytesColumn(column)) this.addBytes(column, count);
    else if (column.type === "int64") this.addIntegers(column.values, presence);
    else if (isFull)
      this.values.update(bytesOf(column.type === "double" ? column.values : new Float64Array(column.values)));
    else this.addNumbers(column.values, presence, count);
  }

  /** @returns the number of values */
  private addRuns(presence: Uint8Array, tag: number, firstRow: number, absentIsNull: boolean): number {
    let count = 0;
    for (let row = 0; row < presence.length; row++) {
      const isValue = presence[row] === Presence.value;
      if (isValue) count++;
      const isNull = !isValue && presence[row] === Presence.null && !absentIsNull;
      this.enter(isValue ? tag : isNull ? cellTags.null : absent, firstRow + row);
    }
    return count;
  }

  private addNumbers(values: ArrayLike<number>, presence: Uint8Array, count: number): void {
    const numbers = new Float64Array(count);
    let at = 0;
    for (let row = 0; row < presence.length; row++) {
      if (presence[row] !== Presence.value) continue;
      numbers[at++] = values[row]!;
    }
    this.values.update(bytesOf(numbers));
  }

  /** As numbers, and as text those that a double does not hold. */
  private addIntegers(values: BigInt64Array, presence: Uint8Array): void {
    for (let row = 0; row < presence.length; row++) {
      if (presence[row] !== Presence.value) continue;
      const number = Number(values[row]!);
      this.values.update(Number.isSafeInteger(number) ? bytesOf(Float64Array.of(number)) : `${values[row]!} `);
    }
  }

  private addBytes({ bytes, offsets, presence }: BytesColumn, count: number): void {
    const lengths = new Uint32Array(count);
    let at = 0;
    let size = 0;
    for (let row = 0; row < presence.length; row++) {
      if (presence[row] !== Presence.value) continue;
      const length = offsets[row + 1]! - offsets[row]!;
      size += length;
      lengths[at++] = length;
    }
    this.lengths.update(bytesOf(lengths));
    const [from, to] = [offsets[0]!, offsets[presence.length]!];
    if (size === to - from) {
      this.values.update(bytes.subarray(from, to));
      return;
    }
    // Rows without a value may have bytes.
    for (let row = 0; row < presence.length; row++)
      if (presence[row] === Presence.value) this.values.update(bytes.subarray(offsets[row]!, offsets[row + 1]!));
  }

  digest(): Buffer<ArrayBuffer> {
    return Buffer.concat([this.runs, this.values, this.lengths].map((hash) => hash.digest()));
  }
}

/** Geometries: kinds, numbers of parts, rings, positions and members, x and y, and the heights and measures that exist. */
class GeometryStream {
  private readonly kinds = createHash("sha256");
  private readonly parts = createHash("sha256");
  private readonly rings = createHash("sha256");
  private readonly positions = createHash("sha256");
  private readonly xy = createHash("sha256");
  private readonly z = createHash("sha256");
  private readonly m = createHash("sha256");
  private members: { readonly counts: Hash; readonly stream: GeometryStream } | null = null;
  private count = 0;

  /** All features of a column. */
  add({ length, kinds, partOffsets, ringOffsets, positionOffsets, xy, z, m, members, memberOffsets }: GeometryColumn) {
    const [parts, firstPart] = [partOffsets[length]!, partOffsets[0]!];
    const [rings, firstRing] = [ringOffsets[parts]!, ringOffsets[firstPart]!];
    const [end, first] = [positionOffsets[rings]!, positionOffsets[firstRing]!];
    this.kinds.update(kinds.subarray(0, length));
    addCounts(this.parts, partOffsets, 0, length);
    addCounts(this.rings, ringOffsets, firstPart, parts);
    addCounts(this.positions, positionOffsets, firstRing, rings);
    this.xy.update(bytesOf(xy.subarray(2 * first, 2 * end)));
    for (const [hash, numbers] of [
      [this.z, z],
      [this.m, m],
    ] as const)
      if (numbers) this.addNumbers(hash, numbers.subarray(first, end));
    this.count += end - first;
    if (!members || !memberOffsets || memberOffsets[length] === 0) return;
    this.members ??= { counts: createHash("sha256"), stream: new GeometryStream() };
    for (let row = 0; row < length; row++) {
      const size = memberOffsets[row + 1]! - memberOffsets[row]!;
      if (size > 0) this.members.counts.update(bytesOf(Uint32Array.of(size)));
    }
    this.members.stream.add(members);
  }

  /** Numbers with the position that has them. */
  private addNumbers(hash: Hash, numbers: Float64Array): void {
    const found = new Float64Array(2 * numbers.length);
    let at = 0;
    for (let k = 0; k < numbers.length; k++) {
      if (Number.isNaN(numbers[k])) continue;
      found[at++] = this.count + k;
      found[at++] = numbers[k]!;
    }
    hash.update(bytesOf(found.subarray(0, at)));
  }

  digest(): Buffer<ArrayBuffer> {
    const hashes = [this.kinds, this.parts, this.rings, this.positions, this.xy, this.z, this.m];
    const digests = hashes.map((hash) => hash.digest());
    if (this.members) digests.push(this.members.counts.digest(), this.members.stream.digest());
    return Buffer.concat(digests);
  }
}

function addCounts(hash: Hash, offsets: Uint32Array, from: number, to: number): void {
  const counts = new Uint32Array(to - from);
  for (let at = from; at < to; at++) counts[at - from] = offsets[at + 1]! - offsets[at]!;
  hash.update(bytesOf(counts));
}

export class LayerHash {
  private readonly geometry = new GeometryStream();
  private readonly fields = new Map<string, FieldStream>();
  private readonly ids = new FieldStream();
  private rows = 0;

  constructor(private readonly absentIsNull: boolean) {}

  add(batch: Batch): void {
    const seen = new Set<string>();
    this.geometry.add(batch.geometry);
    batch.fields.forEach(({ name }, f) => {
      seen.add(name);
      this.fieldOf(name).add(batch.columns[f]!, this.rows, this.absentIsNull);
    });
    for (const [name, field] of this.fields) if (!seen.has(name)) field.skip(this.rows);
    if (batch.ids) this.ids.add(batch.ids, this.rows, true);
    else this.ids.skip(this.rows);
    this.rows += batch.length;
  }

  private fieldOf(name: string): FieldStream {
    let field = this.fields.get(name);
    if (!field) {
      field = new FieldStream();
      this.fields.set(name, field);
    }
    return field;
  }

  /** SHA-256 in hexadecimal digits; only once. */
  digest(): string {
    const hash = createHash("sha256").update(bytesOf(Float64Array.of(this.rows)));
    hash.update(this.geometry.digest()).update(this.ids.digest());
    for (const name of [...this.fields.keys()].sort()) {
      hash.update(bytesOf(Uint32Array.of(Buffer.byteLength(name)))).update(name);
      hash.update(this.fields.get(name)!.digest());
    }
    return hash.digest("hex");
  }
}
