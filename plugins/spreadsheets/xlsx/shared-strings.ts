import { createError } from "../../../src/errors.js";
import { ScratchFile } from "../../shared/scratch-file.js";
import { mayHaveEscape, resolveEscapes } from "./string-escapes.js";

/** Text that is kept in memory; more goes to a temporary file. */
const maxMemoryBytes = 32 * 2 ** 20;
const blockBytes = 1 << 16;
const maxBlocks = 128;

/** The shared strings of a workbook, with 8 bytes of memory for each beyond the first 32 MiB of text. */
export class SharedStrings {
  private bytes = Buffer.allocUnsafeSlow(1 << 16);
  private length = 0;
  /** The end of each string. */
  private ends = new Float64Array(1024);
  private count = 0;
  private file: ScratchFile | null = null;
  /** Bytes already in the file. */
  private spilled = 0;
  private readonly blocks = new Map<number, Buffer>();
  /** The string found last: `found[from … to]`. */
  found: Buffer = Buffer.alloc(0);
  from = 0;
  to = 0;

  /** @param maxBytes text kept in memory, for tests */
  constructor(
    private readonly source: string,
    private readonly path: () => Promise<string>,
    private readonly maxBytes: number = maxMemoryBytes,
  ) {}

  add(bytes: Buffer, from: number, to: number): void {
    if (mayHaveEscape(bytes, from, to)) {
      const text = Buffer.from(resolveEscapes(bytes.toString("utf8", from, to)));
      this.append(text, 0, text.length);
    } else this.append(bytes, from, to);
  }

  private append(bytes: Buffer, from: number, to: number): void {
    const size = to - from;
    if (this.length + size > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.length + size, this.bytes.length * 2));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    bytes.copy(this.bytes, this.length, from, to);
    this.length += size;
    if (this.count === this.ends.length) {
      const grown = new Float64Array(this.count * 2);
      grown.set(this.ends);
      this.ends = grown;
    }
    this.ends[this.count++] = this.spilled + this.length;
  }

  /** To be called from time to time while strings are added. */
  async spill(isLast = false): Promise<void> {
    if (this.length <= this.maxBytes && !(isLast && this.file)) return;
    this.file ??= new ScratchFile(this.source, await this.path());
    this.file.write(this.bytes.subarray(0, this.length), this.spilled);
    this.spilled += this.length;
    this.length = 0;
  }

  /** Sets `found`. @throws input-corrupt if there is no such string */
  find(index: number): void {
    if (!(index >= 0 && index < this.count)) {
      const reason = `a cell refers to the shared string ${index}, and there are ${this.count}`;
      throw createError("input-corrupt", { source: this.source, reason });
    }
    const from = index === 0 ? 0 : this.ends[index - 1]!;
    const to = this.ends[index]!;
    if (!this.file) {
      this.found = this.bytes;
      this.from = from;
      this.to = to;
      return;
    }
    const block = Math.floor(from / blockBytes);
    const start = block * blockBytes;
    if (to <= start + blockBytes) {
      this.found = this.block(block);
      this.from = from - start;
      this.to = to - start;
      return;
    }
    this.found = Buffer.allocUnsafeSlow(to - from);
    this.file.read(this.found, from);
    this.from = 0;
    this.to = to - from;
  }

  private block(number: number): Buffer {
    let block = this.blocks.get(number);
    if (block) return block;
    const start = number * blockBytes;
    block = Buffer.allocUnsafeSlow(Math.min(blockBytes, this.spilled - start));
    this.file!.read(block, start);
    if (this.blocks.size >= maxBlocks) this.blocks.delete(this.blocks.keys().next().value!);
    this.blocks.set(number, block);
    return block;
  }

  close(): void {
    this.file?.close();
    this.file = null;
  }
}
