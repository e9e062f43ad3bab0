import type { Decode, SourceFile } from "../../../src/plugin/format.js";

/** Bytes of the first read. It is small, so that V8 sees the code at the end of a window before it optimizes the loop. */
const firstChunkBytes = 1 << 13;
/** The rest of a window is rarely longer: part of a tag, or of a text. */
const headroomBytes = 1 << 16;

/** The encoding of a document. Plain data. */
export interface XmlEncoding {
  /** The label of the decoder; `utf-8` needs none. */
  readonly name: string;
  /** The start of the document, after its byte order mark and blank lines. */
  readonly start: number;
}

const byteOrderMarks: readonly (readonly [string, readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];
/** `<` in UTF-16, where there is no byte order mark (XML 1.0, appendix F.1). */
const utf16WithoutMark: readonly (readonly [string, readonly number[]])[] = [
  ["utf-16le", [0x3c, 0x00]],
  ["utf-16be", [0x00, 0x3c]],
];
const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean => bytes.every((byte, i) => head[i] === byte);

/**
 * Detects the encoding of a document that begins with `head`: from its byte order mark, else its XML declaration, else
 * UTF-8. A declaration of UTF-16 that is itself readable as ASCII counts as UTF-8.
 */
export function detectXmlEncoding(head: Buffer): XmlEncoding {
  for (const [name, mark] of byteOrderMarks) if (startsWith(head, mark)) return { name, start: mark.length };
  for (const [name, bytes] of utf16WithoutMark) if (startsWith(head, bytes)) return { name, start: 0 };
  const declaration = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/.exec(
    head.toString("latin1", 0, 1024),
  );
  const declared = declaration?.[1]?.toLowerCase() ?? "utf-8";
  return {
    name: /^(utf-?8|us-ascii|ascii|utf-?16.*|ucs-2.*|iso-10646.*)$/.test(declared) ? "utf-8" : declared,
    start: 0,
  };
}

/** A buffer for one read, with space before it for the rest of the previous window. */
class ReadBuffer {
  private readonly bytes: Buffer;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(headroomBytes + size);
  }

  async read(file: SourceFile, position: number, length: number): Promise<Buffer> {
    const place = this.bytes.subarray(headroomBytes, headroomBytes + length);
    const bytes = await file.read(position, length, place);
    if (bytes.buffer === place.buffer) return bytes;
    bytes.copy(place);
    return place.subarray(0, bytes.length);
  }

  /** Returns the bytes that were read, after `rest`. */
  appendTo(rest: Buffer, block: Buffer): Buffer {
    if (rest.length > headroomBytes) return Buffer.concat([rest, block]);
    rest.copy(this.bytes, headroomBytes - rest.length);
    return this.bytes.subarray(headroomBytes - rest.length, headroomBytes + block.length);
  }
}

/**
 * The bytes of a file from `from` to `to` as UTF-8, in blocks. The next block is read while the caller parses the last.
 * For other encodings, positions in the UTF-8 are mapped back to positions in the file.
 */
export class XmlInput {
  private position: number;
  private readonly decode: Decode | null;
  private readonly unit: number;
  private blockSize: number;
  /** One holds the current block, the other receives the next. */
  private buffers: readonly [ReadBuffer, ReadBuffer] | null = null;
  private next: Promise<Buffer> | null = null;

  constructor(
    private readonly file: SourceFile,
    private readonly encoding: string,
    decoder: (encoding: string) => Decode,
    private readonly range: {
      readonly from: number;
      readonly to: number;
      readonly blockSize: number;
      /** All bytes, where they have been read already. */
      readonly fetched: Buffer | null;
    },
  ) {
    this.position = range.from;
    this.blockSize = Math.min(firstChunkBytes, range.blockSize);
    this.decode = encoding === "utf-8" ? null : decoder(encoding);
    this.unit = encoding.startsWith("utf-16") ? 2 : 1;
  }

  get ended(): boolean {
    return this.position >= this.range.to;
  }

  /** Returns `rest` followed by the next block, in a buffer that is valid until the next call. */
  async after(rest: Buffer): Promise<Buffer> {
    if (this.ended) return rest;
    const { fetched, to } = this.range;
    if (fetched) {
      this.position = to;
      return fetched;
    }
    if (this.decode) return this.decoded(rest, this.decode);
    const block = await (this.next ?? this.read());
    this.next = null;
    this.passed(block);
    const [buffer, other] = this.buffers!;
    this.buffers = [other, buffer];
    const window = buffer.appendTo(rest, block);
    if (!this.ended) {
      this.next = this.read();
      // The caller may never request it.
      this.next.catch(() => undefined);
    }
    return window;
  }

  private read(): Promise<Buffer> {
    const { from, to, blockSize } = this.range;
    const size = Math.min(blockSize, to - from);
    this.buffers ??= [new ReadBuffer(size), new ReadBuffer(size)];
    return this.buffers[0].read(this.file, this.position, this.wanted);
  }

  private get wanted(): number {
    return Math.min(this.blockSize, this.range.to - this.position);
  }

  private passed(bytes: Buffer): void {
    this.position = bytes.length === 0 ? this.range.to : this.position + bytes.length;
    this.blockSize = this.range.blockSize;
  }

  private async decoded(rest: Buffer, decode: Decode): Promise<Buffer> {
    let bytes = await this.file.read(this.position, this.wanted);
    if (this.position + bytes.length < this.range.to)
      bytes = bytes.subarray(0, findCharacterBoundary(bytes, this.encoding));
    this.passed(bytes);
    return Buffer.concat([rest, Buffer.from(decode(bytes), "utf8")]);
  }

  /** Returns the number of bytes of the file that the UTF-8 `bytes[from … to]` was decoded from. */
  sourceLength(bytes: Buffer, from: number, to: number): number {
    if (!this.decode) return to - from;
    // Exact for UTF-16 and for single-byte encodings; an approximation for others.
    return bytes.toString("utf8", from, to).length * this.unit;
  }
}

/** Returns the last position where a block can be cut without cutting a character. */
function findCharacterBoundary(bytes: Buffer, encoding: string): number {
  if (encoding.startsWith("utf-16")) {
    const even = bytes.length & ~1;
    const high = bytes[encoding === "utf-16be" ? even - 2 : even - 1]! >> 2;
    // Both halves of a surrogate pair stay together.
    return high === 0x36 && even > 2 ? even - 2 : even;
  }
  // In multi-byte encodings, none of these bytes is the second of a character.
  const end = Math.max(bytes.lastIndexOf(0x3e), bytes.lastIndexOf(0x0a)) + 1;
  return end > 0 ? end : bytes.length;
}
