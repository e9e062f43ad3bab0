/** The bytes do not have the structure that FlatBuffers and FlatGeobuf prescribe. */
export class FlatDamage extends Error {}

/**
 * Reads tables and vectors of FlatBuffers (flatbuffers.dev, "Internals"). Every offset is checked against the range that
 * was opened, so that damaged bytes are never read as something else.
 */
export class FlatReader {
  view: DataView = new DataView(new ArrayBuffer(0));
  private start = 0;
  private end = 0;
  /** Elements of the last vector. */
  length = 0;

  /** Reads tables in `view[start … end]`. */
  open(view: DataView, start: number, end: number): void {
    this.view = view;
    this.start = start;
    this.end = end;
  }

  private need(at: number, size: number): void {
    if (at < this.start || at + size > this.end) throw new FlatDamage("an offset points outside of its table");
  }

  /** The position to which the offset at `at` points, which is that of a table or a vector. */
  follow(at: number): number {
    this.need(at, 4);
    const to = at + this.view.getUint32(at, true);
    this.need(to, 4);
    return to;
  }

  /** The position of a member of a table, which has `size` bytes; 0 if the table does not have it. */
  member(table: number, index: number, size: number): number {
    const { view } = this;
    const vtable = table - view.getInt32(table, true);
    this.need(vtable, 4);
    const slot = 4 + 2 * index;
    if (slot + 2 > view.getUint16(vtable, true)) return 0;
    this.need(vtable, slot + 2);
    const offset = view.getUint16(vtable + slot, true);
    if (offset === 0) return 0;
    this.need(table + offset, size);
    return table + offset;
  }

  /** The table of a member; 0 if there is none. */
  table(table: number, index: number): number {
    const at = this.member(table, index, 4);
    return at === 0 ? 0 : this.follow(at);
  }

  /** The position of the first element of a vector, whose length is then in `length`; 0 if there is none. */
  vector(table: number, index: number, itemSize: number): number {
    this.length = 0;
    const at = this.member(table, index, 4);
    if (at === 0) return 0;
    const vector = this.follow(at);
    const length = this.view.getUint32(vector, true);
    this.need(vector + 4, length * itemSize);
    this.length = length;
    return vector + 4;
  }

  /** The UTF-8 text of a member, with U+FFFD for invalid bytes; null if there is none. */
  string(table: number, index: number): string | null {
    const at = this.vector(table, index, 1);
    if (at === 0) return null;
    return Buffer.from(this.view.buffer, this.view.byteOffset + at, this.length).toString("utf8");
  }

  boolean(table: number, index: number, otherwise: boolean): boolean {
    const at = this.member(table, index, 1);
    return at === 0 ? otherwise : this.view.getUint8(at) !== 0;
  }

  uint8(table: number, index: number): number {
    const at = this.member(table, index, 1);
    return at === 0 ? 0 : this.view.getUint8(at);
  }
}
