/** Writes structs in Thrift's compact protocol. */

const typeCodes = { true: 1, false: 2, i16: 4, i32: 5, i64: 6, double: 7, binary: 8, list: 9, struct: 12 } as const;

/** Values of fields, by their ids in ascending order; null and undefined are left out. */
export type ThriftStruct = readonly (readonly [id: number, value: ThriftValue | null | undefined])[];

export type ThriftValue =
  | boolean
  | { readonly i16: number }
  | { readonly i32: number }
  | { readonly i64: number | bigint }
  | { readonly double: number }
  | { readonly binary: string | Uint8Array }
  | { readonly list: readonly ThriftValue[] }
  | { readonly struct: ThriftStruct };

type TypeName = keyof typeof typeCodes;

const typeNameOf = (value: ThriftValue): TypeName =>
  typeof value === "boolean" ? (value ? "true" : "false") : (Object.keys(value)[0] as TypeName);

export class ThriftWriter {
  private readonly parts: Buffer[] = [];
  private bytes = Buffer.alloc(4096);
  private at = 0;

  private reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    this.parts.push(this.bytes.subarray(0, this.at));
    this.bytes = Buffer.alloc(Math.max(4096, size));
    this.at = 0;
  }

  private byte(value: number): void {
    this.reserve(1);
    this.bytes[this.at++] = value;
  }

  private varint(value: bigint): void {
    let rest = value;
    for (; rest > 127n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    this.byte(Number(rest));
  }

  private zigzag(value: number | bigint): void {
    const wide = BigInt(value);
    this.varint(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n)));
  }

  struct(fields: ThriftStruct): void {
    let last = 0;
    for (const [id, value] of fields) {
      if (value === null || value === undefined) continue;
      const code = typeCodes[typeNameOf(value)];
      if (id - last < 16) this.byte(((id - last) << 4) | code);
      else {
        this.byte(code);
        this.zigzag(id);
      }
      last = id;
      this.value(value);
    }
    this.byte(0);
  }

  private value(value: ThriftValue): void {
    // The type of a boolean field is its value.
    if (typeof value === "boolean") return;
    if ("struct" in value) this.struct(value.struct);
    else if ("list" in value) this.list(value.list);
    else if ("binary" in value) {
      const bytes = typeof value.binary === "string" ? Buffer.from(value.binary) : value.binary;
      this.varint(BigInt(bytes.length));
      this.reserve(bytes.length);
      this.bytes.set(bytes, this.at);
      this.at += bytes.length;
    } else if ("double" in value) {
      this.reserve(8);
      this.at = this.bytes.writeDoubleLE(value.double, this.at);
    } else this.zigzag("i64" in value ? value.i64 : "i32" in value ? value.i32 : value.i16);
  }

  private list(items: readonly ThriftValue[]): void {
    const code = items.length === 0 ? typeCodes.struct : typeCodes[typeNameOf(items[0]!)];
    if (items.length < 15) this.byte((items.length << 4) | code);
    else {
      this.byte(0xf0 | code);
      this.varint(BigInt(items.length));
    }
    for (const item of items) this.value(item);
  }

  finish(): Buffer {
    return Buffer.concat([...this.parts, this.bytes.subarray(0, this.at)]);
  }
}

export function encodeStruct(fields: ThriftStruct): Buffer {
  const writer = new ThriftWriter();
  writer.struct(fields);
  return writer.finish();
}
