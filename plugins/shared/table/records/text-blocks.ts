import { isUtf8 } from "node:buffer";
import { acquireBuffer, releaseBuffer } from "../../../../src/model/buffer-pool.js";
import type { ReadContext, SourceFile } from "../../../../src/plugin/format.js";

/** The text encoding of a file, as plain data. */
export interface TextEncoding {
  /** `utf-8`, `utf-16le`, `windows-1252` … */
  readonly name: string;
  /** Length of the byte order mark, in bytes. */
  readonly mark: number;
  /** The text was written by a reader of spreadsheets: it needs no verification, and its offsets mean nothing to users. */
  readonly isSpooled?: true;
}

const isUtf16 = (name: string) => name === "utf-16le" || name === "utf-16be";

/** Common names for the encodings that need no table. */
const encodingAliases: Readonly<Record<string, string>> = {
  utf8: "utf-8",
  ascii: "utf-8",
  "utf-16": "utf-16le",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  "ucs-2": "utf-16le",
};

/**
 * The encoding by option, by byte order mark, or by the NULs that UTF-16 has between ASCII characters; otherwise UTF-8,
 * which the caller must verify.
 */
export function detectEncoding(head: Buffer, option: string | undefined): TextEncoding {
  const asked = option && option !== "auto" ? option.toLowerCase() : undefined;
  const marks: readonly (readonly [string, string])[] = [
    ["utf-8", "efbbbf"],
    ["utf-16le", "fffe"],
    ["utf-16be", "feff"],
  ];
  const start = head.toString("hex", 0, 3);
  const marked = marks.find(([, mark]) => start.startsWith(mark));
  const wanted = asked === undefined ? undefined : (encodingAliases[asked] ?? asked);
  if (marked && (wanted === undefined || wanted === marked[0] || (asked === "utf-16" && isUtf16(marked[0])))) {
    return { name: marked[0], mark: marked[1].length / 2 };
  }
  if (wanted !== undefined) return { name: wanted, mark: 0 };
  let [even, odd] = [0, 0];
  const size = Math.min(head.length, 4096) & ~1;
  for (let i = 0; i < size; i += 2) {
    if (head[i] === 0) even++;
    if (head[i + 1] === 0) odd++;
  }
  if (odd > size / 5 && even < odd / 4) return { name: "utf-16le", mark: 0 };
  if (even > size / 5 && odd < even / 4) return { name: "utf-16be", mark: 0 };
  return { name: "utf-8", mark: 0 };
}

/** A range of the source as UTF-8. */
export interface TextBlock {
  readonly bytes: Buffer;
  /** Whether the bytes equal those of the source. */
  readonly direct: boolean;
  /** Whether it needs no verification (`TextEncoding.isSpooled`). */
  readonly isTrusted: boolean;
  /** Number of source bytes before `offset` of `bytes`, which is after a line end or at the end. */
  sourceBytes(offset: number): number;
  /** Frees the bytes for the next blocks; they must not be used afterwards. */
  release(): void;
}

const isBreak = (byte: number) => byte === 10 || byte === 13;

function countBreaks(bytes: Uint8Array, to: number): number {
  let count = 0;
  for (let i = 0; i < to; i++) if (isBreak(bytes[i]!)) count++;
  return count;
}

/** Reads ranges of a file in any encoding, converted to UTF-8. */
export class TextBlockReader {
  constructor(
    private readonly file: SourceFile,
    readonly encoding: TextEncoding,
    private readonly context: ReadContext,
  ) {}

  /**
   * Reads about `length` bytes from `position`. In encodings other than UTF-8 the block ends after its last line end,
   * so that no character is cut, unless the file ends first.
   */
  async read(position: number, length: number): Promise<TextBlock> {
    this.context.signal.throwIfAborted();
    const raw = await this.file.read(position, length, acquireBuffer(length));
    const release = () => void releaseBuffer(raw.buffer);
    const { name, isSpooled: isTrusted = false } = this.encoding;
    if (name === "utf-8") return { bytes: raw, direct: true, isTrusted, sourceBytes: (offset) => offset, release };
    const wide = isUtf16(name);
    const last = position + raw.length >= this.file.size;
    const end = last ? raw.length : this.lastBreak(raw, wide);
    const whole = raw.subarray(0, end);
    const bytes = this.transcode(whole);
    return {
      bytes,
      direct: false,
      isTrusted,
      release,
      sourceBytes: (offset) => {
        if (offset >= bytes.length) return end;
        let wanted = countBreaks(bytes, offset);
        if (wanted === 0) return 0;
        const unit = wide ? 2 : 1;
        for (let i = 0; i + unit <= end; i += unit) {
          if (isBreak(this.unitAt(whole, i, wide)) && --wanted === 0) return i + unit;
        }
        return end;
      },
    };
  }

  private unitAt(raw: Uint8Array, i: number, wide: boolean): number {
    if (!wide) return raw[i]!;
    return this.encoding.name === "utf-16le" ? raw[i]! | (raw[i + 1]! << 8) : (raw[i]! << 8) | raw[i + 1]!;
  }

  /** The offset after the last line end; 0 if there is none. */
  private lastBreak(raw: Uint8Array, wide: boolean): number {
    const unit = wide ? 2 : 1;
    for (let i = (wide ? raw.length & ~1 : raw.length) - unit; i >= 0; i -= unit) {
      if (isBreak(this.unitAt(raw, i, wide))) return i + unit;
    }
    return 0;
  }

  private transcode(raw: Buffer): Buffer {
    if (!isUtf16(this.encoding.name)) return Buffer.from(this.context.getTextDecoder(this.encoding.name)(raw), "utf8");
    const even = raw.subarray(0, raw.length & ~1);
    const little = this.encoding.name === "utf-16le" ? even : Buffer.from(even).swap16();
    return Buffer.from(little.toString("utf16le"), "utf8");
  }
}

/** Replaces every invalid UTF-8 sequence by U+FFFD; returns the same buffer if there is none. */
export function repairUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString("utf8"), "utf8");
}

/**
 * Whether bytes that are not UTF-8 look like a single-byte encoding: more bytes beyond ASCII than well-formed sequences
 * can explain.
 */
export function looksSingleByte(bytes: Buffer): boolean {
  const text = bytes.toString("utf8");
  let [good, bad] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0xfffd) bad++;
    else if (code > 127) good++;
  }
  return bad > good;
}
