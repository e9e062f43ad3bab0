import type { BytesBuilder } from "../../../src/model/index.js";
import type { Decode } from "../../../src/plugin/index.js";
import { isValidUtf8 } from "../../shared/text/utf8.js";

const asciiBytes = Uint8Array.from({ length: 95 }, (_, i) => i + 32);
const asciiText = String.fromCharCode(...asciiBytes);
const highBytes = Uint8Array.from({ length: 128 }, (_, i) => i + 128);

/** Converts the text cells of a table to UTF-8. */
export interface TextCellDecoder {
  /** Adds a cell's text without its padding; a blank cell is null. */
  push(builder: BytesBuilder, bytes: Buffer, from: number, to: number): void;
  /** The number of cells since the last call that are invalid in the encoding, and the first of them. */
  takeUndecodable(): { count: number; example: string };
  decode(bytes: Uint8Array): string;
}

/**
 * Number of bytes of a character that the end of the cell truncates: a writer fills a field by bytes, not by
 * characters.
 */
function truncatedCharacterBytes(bytes: Buffer, from: number, to: number): number {
  for (let back = 1; back <= 3 && to - back >= from; back++) {
    const byte = bytes[to - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** Whether the bytes are UTF-8, apart from a truncated last character. */
export function isUtf8Cell(bytes: Buffer, from: number, to: number): boolean {
  if (isValidUtf8(bytes, from, to)) return true;
  const cut = truncatedCharacterBytes(bytes, from, to);
  return cut > 0 && to - cut > from && isValidUtf8(bytes, from, to - cut);
}

/** The UTF-8 bytes for each byte from 128 of a single-byte encoding; null for any other encoding. */
function singleByteTable(decode: Decode): readonly Uint8Array[] | null {
  const text = decode(highBytes);
  if (text.length !== 128) return null;
  return Array.from(text, (character) => Buffer.from(character, "utf8"));
}

class AsciiCompatibleDecoder implements TextCellDecoder {
  private readonly table: readonly Uint8Array[] | null;
  private scratch = Buffer.alloc(1024);
  private undecodable = { count: 0, example: "" };

  /** If the encoding is unknown, each cell is UTF-8 if valid, else decoded by `decode`. */
  constructor(
    private readonly decoder: Decode,
    private readonly utf8: "always" | "where-valid" | "never",
  ) {
    this.table = utf8 === "always" ? null : singleByteTable(decoder);
  }

  decode(bytes: Uint8Array): string {
    if (this.utf8 !== "never" && isValidUtf8(bytes, 0, bytes.length)) return Buffer.from(bytes).toString("utf8");
    return this.decoder(bytes);
  }

  push(builder: BytesBuilder, bytes: Buffer, from: number, to: number): void {
    let end = from;
    let highs = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte === 0) break;
      if (byte !== 32) end = at + 1;
      if (byte > 127) highs++;
    }
    if (end === from) builder.pushNull();
    else if (highs === 0) builder.pushBytes(bytes, from, end);
    else this.pushHigh(builder, bytes, from, end);
  }

  private pushHigh(builder: BytesBuilder, bytes: Buffer, from: number, end: number): void {
    if (this.utf8 !== "never") {
      if (isValidUtf8(bytes, from, end)) {
        builder.pushBytes(bytes, from, end);
        return;
      }
      const cut = end - truncatedCharacterBytes(bytes, from, end);
      if (cut < end && isValidUtf8(bytes, from, cut) && (this.utf8 === "always" || cut - from > 8)) {
        this.note(bytes.toString("utf8", from, cut));
        builder.pushBytes(bytes, from, cut);
        return;
      }
    }
    if (this.table) this.pushByTable(builder, this.table, bytes, from, end);
    else {
      const text = this.decode(bytes.subarray(from, end));
      if (text.includes("\uFFFD")) this.note(text);
      builder.push(text);
    }
  }

  private pushByTable(builder: BytesBuilder, table: readonly Uint8Array[], bytes: Buffer, from: number, end: number) {
    if ((end - from) * 3 > this.scratch.length) this.scratch = Buffer.alloc((end - from) * 3);
    const { scratch } = this;
    let size = 0;
    for (let at = from; at < end; at++) {
      const byte = bytes[at]!;
      if (byte < 128) scratch[size++] = byte;
      else {
        const character = table[byte - 128]!;
        if (character[0] === 0xef && character[1] === 0xbf && character[2] === 0xbd) {
          this.note(bytes.toString("latin1", from, end));
        }
        for (let i = 0; i < character.length; i++) scratch[size++] = character[i]!;
      }
    }
    builder.pushBytes(scratch, 0, size);
  }

  private note(example: string): void {
    if (this.undecodable.count++ === 0) this.undecodable.example = example;
  }

  takeUndecodable() {
    const taken = this.undecodable;
    this.undecodable = { count: 0, example: "" };
    return taken;
  }
}

/** For encodings that are not supersets of ASCII (UTF-16 and similar): decodes every cell as a whole. */
class WholeCellDecoder implements TextCellDecoder {
  constructor(readonly decode: Decode) {}

  push(builder: BytesBuilder, bytes: Buffer, from: number, to: number): void {
    if (bytes.subarray(from, to).every((byte) => byte === 32 || byte === 0)) {
      builder.pushNull();
      return;
    }
    const text = this.decode(bytes.subarray(from, to))
      .replace(/\0.*$/s, "")
      .replace(/[ \u2020]+$/, "")
      .replace(/^\uFEFF/, "");
    if (text === "") builder.pushNull();
    else builder.push(text);
  }

  takeUndecodable() {
    return { count: 0, example: "" };
  }
}

/**
 * Creates a decoder for text cells. If `encoding` is null (unknown), a cell is UTF-8 if valid, else decoded by
 * `decode`.
 */
export function createTextCellDecoder(encoding: string | null, decode: Decode): TextCellDecoder {
  if (encoding === "utf-8") return new AsciiCompatibleDecoder(decode, "always");
  if (encoding === null) return new AsciiCompatibleDecoder(decode, "where-valid");
  return decode(asciiBytes) === asciiText ? new AsciiCompatibleDecoder(decode, "never") : new WholeCellDecoder(decode);
}
