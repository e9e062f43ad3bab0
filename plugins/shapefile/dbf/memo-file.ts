import type { Source, SourceFile } from "../../../src/plugin/index.js";
import type { TableField } from "./fields.js";
import type { DbfHeader } from "./header.js";

/** Size of the read if the memos of a batch are close together; also the limit of a memo's length. */
const windowBytes = 16 * 1024 * 1024;
/** Bytes read of a memo before its length is known. */
const firstReadBytes = 512;

/** Determines how the end of a memo is found. */
type MemoKind = "dbase3" | "dbase4" | "foxpro";

/** The number of a memo's block from the cell: 4 bytes in Visual FoxPro, digits elsewhere. 0 means no memo. */
function readBlockNumber(bytes: Buffer, at: number, width: number): number {
  if (width === 4) return bytes.readUInt32LE(at);
  const text = bytes.toString("latin1", at, at + width).trim();
  return /^\d+$/.test(text) ? Number(text) : 0;
}

/** The memo file of a table: `.dbt` of dBASE III and IV, `.fpt` of FoxPro. */
export class MemoFile {
  private constructor(
    private readonly file: SourceFile,
    private readonly kind: MemoKind,
    private readonly blockBytes: number,
  ) {}

  static async open(table: Source, header: DbfHeader): Promise<MemoFile | null> {
    const foxpro = table.findSibling("fpt");
    const source = foxpro ?? table.findSibling("dbt");
    if (!source) return null;
    const file = await source.open();
    const head = await file.read(0, 32);
    if (head.length < 32) {
      await file.close();
      return null;
    }
    if (foxpro) return new MemoFile(file, "foxpro", head.readUInt16BE(6) || 64);
    // 0x83 is dBASE III with memos; its blocks have neither a size nor a length.
    const dbase4 = header.version !== 0x83 && ((header.version & 7) === 3 || header.version === 0x8c);
    return new MemoFile(file, dbase4 ? "dbase4" : "dbase3", (dbase4 && head.readUInt16LE(20)) || 512);
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** The memos of a column for the records that start at `starts`, by start; omits unreadable ones. */
  async fetch(field: TableField, bytes: Buffer, starts: Int32Array): Promise<Map<number, Uint8Array>> {
    const { offset, width } = field.column;
    const places: { start: number; at: number }[] = [];
    for (const start of starts) {
      const block = start < 0 ? 0 : readBlockNumber(bytes, start + offset, width);
      const at = block * this.blockBytes;
      if (block > 0 && at < this.file.size) places.push({ start, at });
    }
    const memos = new Map<number, Uint8Array>();
    if (places.length === 0) return memos;
    const from = places.reduce((least, place) => Math.min(least, place.at), Number.POSITIVE_INFINITY);
    const last = places.reduce((most, place) => Math.max(most, place.at), 0);
    const together = last - from <= windowBytes;
    const window = together ? await this.file.read(from, last - from + 65_536) : null;
    for (const { start, at } of places) {
      const near = window ? window.subarray(at - from) : await this.file.read(at, firstReadBytes);
      const memo = await this.memoAt(at, near);
      if (memo) memos.set(start, memo);
    }
    return memos;
  }

  private async memoAt(at: number, near: Buffer): Promise<Uint8Array | null> {
    if (near.length < 8) return null;
    if (this.kind === "dbase3") return this.untilEnd(at, near);
    const known = this.kind === "foxpro" || near.readUInt32LE(0) === 0x0008ffff;
    if (!known) return this.untilEnd(at, near);
    const length = this.kind === "foxpro" ? near.readUInt32BE(4) : near.readUInt32LE(4) - 8;
    if (length < 0 || length > windowBytes || at + 8 + length > this.file.size) return null;
    const whole = 8 + length <= near.length ? near : await this.file.read(at, 8 + length);
    return whole.subarray(8, 8 + length);
  }

  /** dBASE III memos end with 0x1A. */
  private async untilEnd(at: number, near: Buffer): Promise<Uint8Array | null> {
    let bytes = near;
    for (let size = 8192; ; size *= 4) {
      const end = bytes.indexOf(0x1a);
      if (end >= 0) return bytes.subarray(0, end);
      if (at + bytes.length >= this.file.size || size > windowBytes) return bytes;
      bytes = await this.file.read(at, size);
    }
  }
}
