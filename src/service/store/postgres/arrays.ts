/**
 * Array parameters in PostgreSQL's binary format (`array_recv` in its arrayfuncs.c), which needs no quoting and
 * escaping of texts.
 */

/** Type OIDs, identical in all PostgreSQL versions (pg_type.dat). */
const elementTypeOids = { bytea: 17, int8: 20, int2: 21, text: 25, uuid: 2950 } as const;
type ElementType = keyof typeof elementTypeOids;

/** Number of dimensions, flags, type; if the array is not empty, also length and lower bound. */
const headerBytes = { empty: 12, filled: 20 } as const;

interface Element {
  readonly bytes: number;
  write(into: Buffer, at: number): void;
}

function binaryArray(type: ElementType, elements: readonly (Element | null)[]): Buffer {
  const length = elements.length;
  const header: number = length === 0 ? headerBytes.empty : headerBytes.filled;
  const array = Buffer.allocUnsafe(elements.reduce<number>((sum, element) => sum + 4 + (element?.bytes ?? 0), header));
  array.writeInt32BE(length === 0 ? 0 : 1, 0);
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(elementTypeOids[type], 8);
  if (length === 0) return array;
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  let at = header;
  for (const element of elements) {
    at = array.writeInt32BE(element ? element.bytes : -1, at);
    element?.write(array, at);
    at += element?.bytes ?? 0;
  }
  return array;
}

export const textArray = (texts: readonly (string | null)[]): Buffer =>
  binaryArray(
    "text",
    texts.map((text) =>
      text === null
        ? null
        : { bytes: Buffer.byteLength(text, "utf8"), write: (into, at) => void into.write(text, at, "utf8") },
    ),
  );

export const uuidArray = (ids: readonly string[]): Buffer =>
  binaryArray(
    "uuid",
    ids.map((id) => ({ bytes: 16, write: (into, at) => void into.write(id.replaceAll("-", ""), at, "hex") })),
  );

/** Byte arrays given as hexadecimal digits. */
export const hexArray = (values: readonly string[]): Buffer =>
  binaryArray(
    "bytea",
    values.map((hex) => ({ bytes: hex.length / 2, write: (into, at) => void into.write(hex, at, "hex") })),
  );

/** Integers up to 2^53. */
export const int8Array = (numbers: readonly number[]): Buffer =>
  binaryArray(
    "int8",
    numbers.map((number) => ({ bytes: 8, write: (into, at) => void into.writeBigInt64BE(BigInt(number), at) })),
  );

export const int2Array = (numbers: readonly number[]): Buffer =>
  binaryArray(
    "int2",
    numbers.map((number) => ({ bytes: 2, write: (into, at) => void into.writeInt16BE(number, at) })),
  );

export const byteaArray = (values: readonly Uint8Array[]): Buffer =>
  binaryArray(
    "bytea",
    values.map((value) => ({ bytes: value.length, write: (into, at) => into.set(value, at) })),
  );

/** Repeats a value for each element of a list, as a column beside it. */
export const repeatInt8 = <T>(value: number, list: readonly T[]): Buffer => int8Array(list.map(() => value));
