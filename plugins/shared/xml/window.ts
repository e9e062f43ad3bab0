import { isUtf8 } from "node:buffer";
import { createError, type GeoferryError } from "../../../src/errors.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
import { greaterThan } from "./bytes.js";
import { detectXmlEncoding, XmlInput } from "./input.js";

export interface XmlWindowSettings {
  /** The name of the source, for messages. */
  readonly source: string;
  readonly context: Pick<ReadContext, "getTextDecoder" | "signal" | "skipErrors">;
  /** Where to begin; absent: at the beginning, which finds the encoding. */
  readonly start?: { readonly byte: number; readonly encoding: string };
  /** Where to end, in bytes of the file; absent: at its end. */
  readonly to?: number;
  /** What stands between the two, in UTF-8, where that has been read already. */
  readonly fetched?: Buffer | undefined;
  /** Bytes asked of the file at once; absent: a MiB. */
  readonly pieceSize?: number;
}

/** The part of a document that is available, as UTF-8, and where in the file it is. It moves on with each `fill`. */
export class XmlWindow {
  bytes: Buffer = Buffer.alloc(0);
  /** How far it is read: `fill` keeps what comes after. */
  at = 0;
  /** The end of what can be looked at: a character cut in two is left out. */
  end = 0;
  /** Where the token given last began. */
  tokenAt = 0;
  /** Whether nothing comes after it. */
  last = false;
  /** Whether all of it is UTF-8. */
  valid = true;
  encoding: string;
  /** Where it begins in the file. */
  private base = 0;
  /** A place in it, and how many bytes of the file stand before that place. */
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

  /** Gets more of the file behind what is still to be read. @throws unsupported */
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
      const range = { from, to: to ?? this.file.size, pieceSize: this.settings.pieceSize ?? 1 << 20, fetched };
      this.input = new XmlInput(this.file, this.encoding, decoder, range);
    } catch (error) {
      const reason = `its encoding is said to be "${this.encoding}", which is not known`;
      throw createError("unsupported", { source, reason }, error);
    }
    this.base = from;
    return this.input;
  }

  /** The place in the file, in bytes from its start, of a place in the window. */
  byteAt(at: number): number {
    if (at < this.measuredAt) {
      this.measuredAt = 0;
      this.measured = 0;
    }
    // From place to place, as measuring what was decoded takes its time.
    this.measured += this.input?.sourceLength(this.bytes, this.measuredAt, at) ?? 0;
    this.measuredAt = at;
    return this.base + this.measured;
  }

  /** Whether damage was found that has not been told yet. */
  get isDamaged(): boolean {
    return this.damage !== null;
  }

  /** Notes that the document is damaged here. What was found first counts. */
  fail(at: number, reason: string): void {
    this.damage ??= { at, reason, truncated: false };
  }

  /** Notes that the file ends within `what`. */
  failAtEnd(what: string): void {
    this.damage ??= { at: this.end, reason: `${what} is not closed`, truncated: true };
  }

  /** The error for the damage, with its line, which is counted only now. */
  async damageFound(): Promise<GeoferryError> {
    const { at, reason, truncated } = this.damage!;
    this.damage = null;
    const byte = this.byteAt(at);
    const place = { line: await this.lineOf(byte), byte };
    const { source, context } = this.settings;
    if (truncated) return createError("input-truncated", { source, place, reason, canSkip: !context.skipErrors });
    // Where nothing stands before it, nothing is to be read past it either.
    return createError("input-corrupt", { source, place, reason, canSkip: byte > 0 && !context.skipErrors });
  }

  /** The line, from 1, of a byte of the file. */
  private async lineOf(byte: number): Promise<number> {
    let line = 1;
    for (let from = 0; from < byte; ) {
      const piece = await this.file.read(from, Math.min(1 << 20, byte - from));
      if (piece.length === 0) break;
      for (let i = piece.indexOf(10); i >= 0; i = piece.indexOf(10, i + 1)) line++;
      from += piece.length;
    }
    return line;
  }
}

/**
 * The length of `bytes` without the tag or text that is cut in two at their end, where those from `rest` on tell. In the
 * middle of a token the reading would end in many places, which V8 does not foresee: each throws out compiled code once.
 */
function completeTokensLength(bytes: Buffer, rest: number): number {
  const tagEnd = bytes.lastIndexOf(greaterThan);
  return tagEnd >= rest ? tagEnd + 1 : completeCharactersLength(bytes);
}

/** The length of `bytes` without a character at their end that is cut in two. */
function completeCharactersLength(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length - back : length;
  }
  return length;
}
