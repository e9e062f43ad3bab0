import { createError } from "../../../../src/errors.js";
import type { TableSplit } from "../plan/plan.js";
import type { RecordScanner } from "./record-scanner.js";
import type { TextBlock, TextBlockReader } from "./text-blocks.js";

/** A longer record indicates a quote that is never closed. */
const maxRecordBytes = 64 * 1024 * 1024;
const lineFeed = 10;

/**
 * Position of a block: the file continues after it, ends with it, or continues although the first record has no end
 * yet.
 */
export type BlockEnd = "more" | "file" | "limit";

/** Processes a block; returns the offset of the end of its last whole record, 0 if it holds none. */
export type BlockVisitor = (block: TextBlock, position: number, blockEnd: BlockEnd) => number;

/** A range of a source to scan, and the approximate size of its splits, in bytes. */
export interface ScanRange {
  readonly from: number;
  readonly to: number;
  /** Size of the source. */
  readonly size: number;
  readonly length: number;
}

/** Reads each block while the previous one is processed, if it begins at the predicted position. */
class BlockPrefetcher {
  private next: { readonly position: number; readonly length: number; readonly block: Promise<TextBlock> } | null =
    null;

  constructor(
    private readonly blocks: TextBlockReader,
    private readonly range: ScanRange,
  ) {}

  async read(position: number, length: number): Promise<TextBlock> {
    const { next } = this;
    this.next = null;
    if (next?.position === position && next.length === length) return next.block;
    return this.blocks.read(position, length);
  }

  /** Prefetches from the last line end of a block. */
  expect(position: number, { bytes, direct }: TextBlock): void {
    const { to, length } = this.range;
    const expected = position + bytes.lastIndexOf(lineFeed) + 1;
    if (!direct || expected === position || expected >= to) return;
    const wanted = Math.min(length, to - expected);
    const block = this.blocks.read(expected, wanted);
    // The block may never be awaited.
    block.catch(() => undefined);
    this.next = { position: expected, length: wanted, block };
  }
}

/**
 * Cuts a range of a source into splits of whole records while `visit` processes them; reads again only the record that
 * a block cuts off. Passes a block without a whole record to `visit` again, extended.
 * @throws input-corrupt
 */
export async function* splitRecordBlocks(
  blocks: TextBlockReader,
  source: string,
  range: ScanRange,
  visit: BlockVisitor,
): AsyncGenerator<TableSplit> {
  const { from, to, size, length } = range;
  const ahead = new BlockPrefetcher(blocks, range);
  let position = from;
  let wanted = length;
  while (position < to) {
    const asked = Math.min(wanted, to - position);
    const block = await ahead.read(position, asked);
    ahead.expect(position, block);
    const read = block.sourceBytes(block.bytes.length);
    const isLong = asked >= maxRecordBytes;
    const end = visit(block, position, position + read >= size ? "file" : isLong ? "limit" : "more");
    const bytes = block.sourceBytes(end);
    block.release();
    if (end === 0) {
      if (isLong || position + read >= size) throw recordTooLong(source, position);
      if (position + read >= to) break;
      wanted = Math.min(maxRecordBytes, wanted * 2);
      continue;
    }
    yield { bytes, from: position, to: position + bytes };
    position += bytes;
    wanted = length;
  }
}

const recordTooLong = (source: string, byte: number) =>
  createError("input-corrupt", {
    source,
    place: { byte },
    reason: `a line is longer than ${maxRecordBytes} bytes: is this a table of text?`,
  });

/** The progress of `forEachRecord`: the end of the last whole record, and the line ends before it. */
export interface RecordProgress {
  readonly end: number;
  readonly lines: number;
}

/** Passes over records that need no visit; `end` is behind the last ones, and `lines` is the number of their lines. */
export interface RecordPasser {
  readonly end: number;
  readonly lines: number;
  /** @returns whether it passed over records from `at` on */
  pass(bytes: Uint8Array, at: number): boolean;
}

/** Iterates over the whole records of a block, without blank lines; counts lines from 1 within the block. */
export function forEachRecord(
  bytes: Uint8Array,
  blockEnd: BlockEnd,
  scanner: RecordScanner,
  visit: (from: number, line: number) => void,
  unterminated: (from: number, line: number) => void,
  passer: RecordPasser | null = null,
): RecordProgress {
  let at = 0;
  let lines = 0;
  while (at < bytes.length) {
    if (passer?.pass(bytes, at)) {
      lines += passer.lines;
      at = passer.end;
      continue;
    }
    const final = blockEnd === "file" || (blockEnd === "limit" && at === 0);
    const found = scanner.scan(bytes, at, bytes.length, final);
    if (found === "incomplete") break;
    if (found === "unterminated") {
      unterminated(at, lines + 1);
      lines += scanner.openLine + 1;
      at = scanner.recovery;
      continue;
    }
    if (scanner.lines === 0 && blockEnd === "limit") break;
    if (!scanner.isBlank(bytes)) visit(at, lines + 1);
    lines += scanner.lines;
    at = scanner.next;
  }
  return { end: at, lines };
}
