import { createError } from "../../../src/errors.js";
import type { CsvSplit } from "../plan/plan.js";
import type { RecordScanner } from "./record-scanner.js";
import type { TextBlock, TextBlockReader } from "./text-blocks.js";

/** A record beyond this is taken for a quote that is never closed. */
const maxRecordBytes = 64 * 1024 * 1024;
const lineFeed = 10;

/** Where a block stands: the file goes on behind it, ends with it, or goes on though its first record has no end. */
export type BlockEnd = "more" | "file" | "limit";

/** What is done with a block; gives where its last whole record ends, 0 where it holds none. */
export type BlockVisitor = (block: TextBlock, position: number, blockEnd: BlockEnd) => number;

/** A part of a source that is looked through, in bytes, and how long its stretches are, about. */
export interface ScanRange {
  readonly from: number;
  readonly to: number;
  /** Of the source. */
  readonly size: number;
  readonly length: number;
}

/** Blocks one after the other, each read while the one before it is looked at, if it begins where it was expected to. */
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

  /** Expects the block behind the last line end of one. */
  expect(position: number, { bytes, direct }: TextBlock): void {
    const { to, length } = this.range;
    const expected = position + bytes.lastIndexOf(lineFeed) + 1;
    if (!direct || expected === position || expected >= to) return;
    const wanted = Math.min(length, to - expected);
    const block = this.blocks.read(expected, wanted);
    // It may never be asked for.
    block.catch(() => undefined);
    this.next = { position: expected, length: wanted, block };
  }
}

/**
 * Cuts a range of a source into stretches of whole records while `visit` looks at them; only the record that a block
 * cuts off is read again. A block without a whole record is shown again, longer.
 * @throws input-corrupt
 */
export async function* splitRecordBlocks(
  blocks: TextBlockReader,
  source: string,
  range: ScanRange,
  visit: BlockVisitor,
): AsyncGenerator<CsvSplit> {
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
    if (end === 0) {
      if (isLong || position + read >= size) throw recordTooLong(source, position);
      if (position + read >= to) break;
      wanted = Math.min(maxRecordBytes, wanted * 2);
      continue;
    }
    const bytes = block.sourceBytes(end);
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

/** What `forEachRecord` went over: where the last whole record ends, and the line ends up to there. */
export interface RecordProgress {
  readonly end: number;
  readonly lines: number;
}

/** Goes over the whole records of a block, blank lines left out; lines count from 1 in it. */
export function forEachRecord(
  bytes: Uint8Array,
  blockEnd: BlockEnd,
  scanner: RecordScanner,
  visit: (from: number, line: number) => void,
  unterminated: (from: number, line: number) => void,
): RecordProgress {
  let at = 0;
  let lines = 0;
  while (at < bytes.length) {
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
