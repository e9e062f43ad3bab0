import { promisify } from "node:util";
import { constants, crc32, deflateRaw, deflateRawSync } from "node:zlib";
import { createError } from "../../../src/errors.js";
import type { SinkFile } from "../../../src/plugin/format.js";

const deflate = promisify(deflateRaw);

/** Size of the blocks that are compressed independently, so that several threads compress and the bytes stay the same. */
const blockBytes = 1 << 19;
/** Blocks that are compressed at the same time. */
const maxPending = 4;
const level = 4;
const maxUint32 = 0xffffffff;

const versionNeeded = 20;
/** Sizes and checksum follow the data (APPNOTE 4.4.4). */
const descriptorFlag = 1 << 3;
const utf8Flag = 1 << 11;

interface EntryRecord {
  readonly name: Buffer;
  readonly method: number;
  readonly flags: number;
  readonly offset: number;
  checksum: number;
  packed: number;
  size: number;
}

/** Writes a zip as a stream (APPNOTE 6.3). Sizes of large entries follow their data. */
export class ZipWriter {
  private readonly entries: EntryRecord[] = [];
  private current: EntryRecord | null = null;
  private block = Buffer.allocUnsafeSlow(blockBytes);
  private filled = 0;
  private readonly pending: Promise<Buffer>[] = [];
  private readonly time: number;

  /** @param now the time of all entries, which zips store without a zone: UTC */
  constructor(
    private readonly file: SinkFile,
    private readonly output: string,
    now: Date,
  ) {
    const year = Math.min(2107, Math.max(1980, now.getUTCFullYear()));
    const date = ((year - 1980) << 9) | ((now.getUTCMonth() + 1) << 5) | now.getUTCDate();
    const clock = (now.getUTCHours() << 11) | (now.getUTCMinutes() << 5) | (now.getUTCSeconds() >> 1);
    this.time = date * 0x10000 + clock;
  }

  /** Adds a small entry. @param isStored without compression */
  async add(name: string, content: string | Uint8Array, isStored: boolean = false): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    const packed = isStored ? bytes : deflateRawSync(bytes, { level });
    const entry = this.createEntry(name, isStored ? 0 : 8, 0);
    entry.checksum = crc32(bytes);
    entry.size = bytes.length;
    entry.packed = packed.length;
    await this.file.write(this.header(entry));
    await this.file.write(packed);
  }

  /** Begins a large entry, which `write` fills and `end` ends. */
  async begin(name: string): Promise<void> {
    this.current = this.createEntry(name, 8, descriptorFlag);
    await this.file.write(this.header(this.current));
  }

  /** @throws unsupported if the entry becomes too large */
  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const part = bytes.subarray(from, from + blockBytes - this.filled);
      this.block.set(part, this.filled);
      this.filled += part.length;
      from += part.length;
      if (this.filled === blockBytes) await this.compress(false);
    }
  }

  async end(): Promise<void> {
    await this.compress(true);
    while (this.pending.length > 0) await this.writePending();
    const entry = this.current!;
    this.current = null;
    const descriptor = Buffer.alloc(16);
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(entry.checksum, 4);
    descriptor.writeUInt32LE(entry.packed, 8);
    descriptor.writeUInt32LE(entry.size, 12);
    await this.file.write(descriptor);
  }

  /** Writes the directory. */
  async finish(): Promise<void> {
    const start = this.position();
    const directory = Buffer.concat(this.entries.map((entry) => this.directoryRecord(entry)));
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(this.entries.length, 8);
    end.writeUInt16LE(this.entries.length, 10);
    end.writeUInt32LE(directory.length, 12);
    end.writeUInt32LE(start, 16);
    await this.file.write(Buffer.concat([directory, end]));
  }

  /** Waits for what is being compressed, so that nothing goes on after a failure. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.pending);
  }

  private position(): number {
    if (this.file.size > maxUint32) throw this.tooLarge("the file");
    return this.file.size;
  }

  private tooLarge(what: string): Error {
    const reason = `${what} would be larger than 4 GiB, which is too large for a spreadsheet; choose another format, such as GeoPackage`;
    return createError("unsupported", { source: this.output, reason });
  }

  private createEntry(name: string, method: number, flags: number): EntryRecord {
    const offset = this.position();
    const entry = { name: Buffer.from(name), method, flags: flags | utf8Flag, offset, checksum: 0, packed: 0, size: 0 };
    this.entries.push(entry);
    return entry;
  }

  private async compress(isLast: boolean): Promise<void> {
    const entry = this.current!;
    const bytes = this.block.subarray(0, this.filled);
    entry.checksum = crc32(bytes, entry.checksum);
    entry.size += bytes.length;
    if (entry.size > maxUint32) throw this.tooLarge("a sheet");
    const packing = deflate(bytes, { level, finishFlush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH });
    // It is awaited later.
    packing.catch(() => undefined);
    this.pending.push(packing);
    this.block = Buffer.allocUnsafeSlow(blockBytes);
    this.filled = 0;
    while (this.pending.length >= maxPending) await this.writePending();
  }

  private async writePending(): Promise<void> {
    const bytes = await this.pending.shift()!;
    this.current!.packed += bytes.length;
    await this.file.write(bytes);
  }

  private header({ name, method, flags, checksum, packed, size }: EntryRecord): Buffer {
    const fields = Buffer.alloc(30);
    fields.writeUInt32LE(0x04034b50, 0);
    fields.writeUInt16LE(versionNeeded, 4);
    this.writeCommon(fields, 6, { method, flags, checksum, packed, size });
    fields.writeUInt16LE(name.length, 26);
    return Buffer.concat([fields, name]);
  }

  private directoryRecord(entry: EntryRecord): Buffer {
    const fields = Buffer.alloc(46);
    fields.writeUInt32LE(0x02014b50, 0);
    fields.writeUInt16LE(versionNeeded, 4);
    fields.writeUInt16LE(versionNeeded, 6);
    this.writeCommon(fields, 8, entry);
    fields.writeUInt16LE(entry.name.length, 28);
    fields.writeUInt32LE(entry.offset, 42);
    return Buffer.concat([fields, entry.name]);
  }

  /** The fields that local header and directory have in common, from the flags on. */
  private writeCommon(
    fields: Buffer,
    at: number,
    { method, flags, checksum, packed, size }: Omit<EntryRecord, "name" | "offset">,
  ): void {
    fields.writeUInt16LE(flags, at);
    fields.writeUInt16LE(method, at + 2);
    fields.writeUInt32LE(this.time, at + 4);
    fields.writeUInt32LE(checksum, at + 8);
    fields.writeUInt32LE(packed, at + 12);
    fields.writeUInt32LE(size, at + 16);
  }
}
