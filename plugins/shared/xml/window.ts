import { isUtf8 } from "node:buffer";
import { createError, type GeoferryError } from "../../../src/errors.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
import { greaterThan } from "./bytes.js";
import { detectXmlEncoding, XmlInput } from "./input.js";

export interface XmlWindowSettings {
  /** The name of the source, for messages. */
  readonly source: string;
  readonly context: Pick<ReadContext, "getTextDecoder" | "signal" | "skipErrors">;
  /** Where to begin; by default at the beginning of the file, where the encoding is detected. */
  readonly start?: { readonly byte: number; readonly encoding: string };
  /** Where to end, in bytes of the file; by default at its end. */
  readonly to?: number;
  /** The bytes between the two, in UTF-8, where they have been read already. */
  readonly fetched?: Buffer | undefined;
  /** Bytes per read; 1 MiB by default. */
  readonly blockSize?: number;
}

/** The part of a document in memory, as UTF-8, with its position in the file. Each `fill` moves it forward. */
export class XmlWindow {
  bytes: Buffer = Buffer.alloc(0);
  /** The position of the parser: `fill` keeps the bytes after it. */
  at = 0;
  /** The end of the readable bytes; a character that is cut in two is excluded. */
  end = 0;
  /** The start of the last token. */
  tokenAt = 0;
  /** Whether it contains the end of the file or range. */
  last = false;
  /** Whether all of it is valid UTF-8. */
  valid = true;
  encoding: string;
  /** Its start in the file. */
  private base = 0;
  /** A position in it, with the number of bytes of the file before that position. */
  private measuredAt = 0;
  private measured = 0;
  private input: XmlInput | null = null;
  private damage: { readonly at: number; readonly reason: string; readonly truncated: boolean } | null = null;

  constructor(
    private readonly file: SourceFile,
    private readonly settings: XmlWindowSettings,
  ) {
    this.encoding = settings.start?.encoding ?? "utf-8";
  }

  /** Reads more of the file, and appends it to the bytes that are not parsed yet. @throws unsupported */
  async fill(): Promise<void> {
    this.settings.context.signal.throwIfAborted();
    const input = this.input ?? (await this.begin());
    const { at } = this;
    const rest = this.bytes.length - at;
    this.base = this.byteAt(at);
    this.measuredAt = 0;
    this.measured = 0;
    this.bytes = await input.after(this.bytes.subarray(at));
    this.at = this.tokenAt = 0;
    this.last = input.ended;
    this.end = this.last ? this.bytes.length : completeTokensLength(this.bytes, rest);
    this.valid = isUtf8(this.bytes.subarray(0, this.end));
  }

  private async begin(): Promise<XmlInput> {
    const { start, to, context, source, fetched = null } = this.settings;
    let from = start?.byte ?? 0;
    if (!start) {
      const found = detectXmlEncoding(await this.file.read(0, 4096));
      this.encoding = found.name;
      from = found.start;
    }
    try {
      const decoder = (name: string) => context.getTextDecoder(name);
      const range = { from, to: to ?? this.file.size, blockSize: this.settings.blockSize ?? 1 << 20, fetched };
      this.input = new XmlInput(this.file, this.encoding, decoder, range);
    } catch (error) {
      const reason = `its declared encoding "${this.encoding}" is unknown`;
      throw createError("unsupported", { source, reason }, error);
    }
    this.base = from;
    return this.input;
  }

  /** Converts a position in the window to a position in the file, in bytes from its start. */
  byteAt(at: number): number {
    if (at < this.measuredAt) {
      this.measuredAt = 0;
      this.measured = 0;
    }
    // Counts from the last position, because measuring decoded text is slow.
    this.measured += this.input?.sourceLength(this.bytes, this.measuredAt, at) ?? 0;
    this.measuredAt = at;
    return this.base + this.measured;
  }

  /** Whether damage was found that `damageFound` has not returned yet. */
  get isDamaged(): boolean {
    return this.damage !== null;
  }

  /** Records damage at a position. Only the first is kept. */
  fail(at: number, reason: string): void {
    this.damage ??= { at, reason, truncated: false };
  }

  /** Records that the file ends within `what`. */
  failAtEnd(what: string): void {
    this.damage ??= { at: this.end, reason: `${what} is not closed`, truncated: true };
  }

  /** Returns the error for the damage, and counts its line. */
  async damageFound(): Promise<GeoferryError> {
    const { at, reason, truncated } = this.damage!;
    this.damage = null;
    const byte = this.byteAt(at);
    const place = { line: await this.lineOf(byte), byte };
    const { source, context } = this.settings;
    if (truncated) return createError("input-truncated", { source, place, reason, canSkip: !context.skipErrors });
    // Nothing precedes damage at byte 0, so that skipping it is not offered.
    return createError("input-corrupt", { source, place, reason, canSkip: byte > 0 && !context.skipErrors });
  }

  /** Returns the line of a byte of the file, counted from 1. */
  private async lineOf(byte: number): Promise<number> {
    let line = 1;
    for (let from = 0; from < byte; ) {
      const block = await this.file.read(from, Math.min(1 << 20, byte - from));
      if (block.length === 0) break;
      for (let i = block.indexOf(10); i >= 0; i = block.indexOf(10, i + 1)) line++;
      from += block.length;
    }
    return line;
  }
}

/**
 * Returns the length of `bytes` without the tag or text that is cut in two at their end, if the bytes after `rest` show
 * where it begins. Ending a window within a token would leave the parser by many paths, each of which deoptimizes its
 * compiled code once.
 */
function completeTokensLength(bytes: Buffer, rest: number): number {
  const tagEnd = bytes.lastIndexOf(greaterThan);
  return tagEnd >= rest ? tagEnd + 1 : completeCharactersLength(bytes);
}

/** Returns the length of `bytes` without a character at their end that is cut in two. */
function completeCharactersLength(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length - back : length;
  }
  return length;
}
