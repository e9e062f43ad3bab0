/** A member of a table: an integer of some bytes, or what an offset points to. */
export type FlatValue =
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | { readonly text: string }
  | { readonly doubles: readonly number[] }
  | { readonly table: FlatTable }
  | { readonly tables: readonly FlatTable[] };

/** Members of a table by their index. */
export type FlatTable = ReadonlyMap<number, FlatValue>;

const isScalar = (value: FlatValue): value is { bytes: 1 | 2 | 4 | 8; value: number } => "bytes" in value;

/** Encodes tables of FlatBuffers (flatbuffers.dev, "Internals"): parents first, so that all offsets point forward. */
export class FlatWriter {
  private bytes = Buffer.alloc(1024);
  private at = 0;

  /** The root table with its size before it; a multiple of eight bytes together. */
  encode(root: FlatTable): Buffer {
    this.at = 8;
    this.reserve(0);
    const table = this.table(root);
    this.align(8);
    this.bytes.writeUInt32LE(this.at - 4, 0);
    this.bytes.writeUInt32LE(table - 4, 4);
    return Buffer.from(this.bytes.subarray(0, this.at));
  }

  private reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const grown = Buffer.alloc(2 * (this.at + size));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
  }

  private align(size: number, before = 0): void {
    while ((this.at + before) % size !== 0) this.take(1);
  }

  private take(size: number): number {
    this.reserve(size);
    this.at += size;
    return this.at - size;
  }

  private table(members: FlatTable): number {
    const last = Math.max(-1, ...members.keys());
    const vtableBytes = 4 + 2 * (last + 1);
    this.align(2);
    const vtable = this.take(vtableBytes);
    this.align(4);
    const table = this.take(4);
    // The largest first, so that few bytes are left empty.
    const entries = [...members].sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
    const offsets: [at: number, value: FlatValue][] = [];
    for (const [index, value] of entries) {
      const size = sizeOf(value);
      this.align(size);
      const at = this.take(size);
      this.bytes.writeUInt16LE(at - table, vtable + 4 + 2 * index);
      if (isScalar(value)) this.scalar(at, value.bytes, value.value);
      else offsets.push([at, value]);
    }
    this.bytes.writeUInt16LE(vtableBytes, vtable);
    this.bytes.writeUInt16LE(this.at - table, vtable + 2);
    this.bytes.writeInt32LE(table - vtable, table);
    for (const [at, value] of offsets) {
      const to = this.target(value);
      this.bytes.writeUInt32LE(to - at, at);
    }
    return table;
  }

  private scalar(at: number, size: 1 | 2 | 4 | 8, value: number): void {
    if (size === 8) this.bytes.writeBigUInt64LE(BigInt(value), at);
    else if (value < 0) this.bytes.writeIntLE(value, at, size);
    else this.bytes.writeUIntLE(value, at, size);
  }

  /** @returns the position of what an offset points to */
  private target(value: FlatValue): number {
    if ("table" in value) return this.table(value.table);
    if ("text" in value) return this.text(value.text);
    if ("tables" in value) return this.tables(value.tables);
    return this.doubles("doubles" in value ? value.doubles : []);
  }

  private doubles(values: readonly number[]): number {
    this.align(8, 4);
    const vector = this.vector(values.length, 8);
    values.forEach((number, n) => {
      this.bytes.writeDoubleLE(number, vector + 4 + 8 * n);
    });
    return vector;
  }

  private vector(length: number, itemSize: number): number {
    this.align(4);
    const vector = this.take(4 + length * itemSize);
    this.bytes.writeUInt32LE(length, vector);
    return vector;
  }

  /** UTF-8 with a byte 0 behind it, which is not counted. */
  private text(text: string): number {
    const bytes = Buffer.from(text, "utf8");
    const vector = this.vector(bytes.length, 1);
    this.bytes.set(bytes, vector + 4);
    this.take(1);
    return vector;
  }

  private tables(tables: readonly FlatTable[]): number {
    const vector = this.vector(tables.length, 4);
    for (const [n, each] of tables.entries()) {
      const at = vector + 4 + 4 * n;
      const table = this.table(each);
      this.bytes.writeUInt32LE(table - at, at);
    }
    return vector;
  }
}

const sizeOf = (value: FlatValue): number => (isScalar(value) ? value.bytes : 4);
