import type { SourceFile, Split } from "../../../src/plugin/index.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import { headerBytes } from "./header.js";
import { plainShapeType } from "./shape-types.js";

/** Rows of a layer and the location of their shapes. Rows count from 0. */
export interface ShapeSplit extends Split {
  readonly kind: "run" | "index" | "rows";
  readonly first: number;
  readonly count: number;
  /** For a run: the byte range of the .shp with its consecutive records; `from` also where records begin to be cut off. */
  readonly from: number;
  readonly to: number;
  /** For rows: the truncated file that lacks them; null if they never had a shape. */
  readonly lost: "shp" | "dbf" | null;
  /** Whether the .shx locates the records. */
  readonly indexed: boolean;
}

/** The properties of the files that determine the splits. */
export interface ShapeFiles {
  readonly shp: SourceFile;
  readonly shx: SourceFile | null;
  /** Number of records in the index. */
  readonly indexed: number;
  /** The length in the header of the .shp, in bytes. */
  readonly declaredBytes: number;
  /** Number of rows of the table, null without one, and bytes per row. */
  readonly tableRows: number | null;
  readonly rowBytes: number;
  /** Whether the table has fewer rows than its header counts. */
  readonly tableTruncated: boolean;
  /** Called once if the index and the shapes do not match. */
  readonly onIndexMismatch: (record: number) => void;
  /** Called when bytes between two records had to be skipped. */
  readonly onGap: (record: number, byte: number) => void;
  /** Called when records follow those in the index. */
  readonly onUnindexed: (byte: number) => void;
}

/** Row limit of a split, beside its byte limit. */
const maxSplitRows = 20_000;
const indexBlockEntries = 8192;
const windowBytes = 1024 * 1024;
/** Search range for a lost record. */
const searchBytes = 65_536;
/** Number of out-of-sequence records checked before the index is trusted. */
const maxOutOfOrderRecords = 64;

const recordHeaderBytes = 8;

/** Collects rows into splits. */
class SplitBuilder {
  first: number;
  count = 0;
  from = 0;
  to = 0;
  private bytes = 0;
  kind: "run" | "index" = "run";

  constructor(
    first: number,
    private readonly rowBytes: number,
    private readonly indexed: boolean,
  ) {
    this.first = first;
  }

  add(from: number, to: number): void {
    if (this.count === 0) {
      this.from = from;
      this.kind = "run";
    } else if (from !== this.to) this.kind = "index";
    this.count++;
    this.to = to;
    this.bytes += Math.max(0, to - from) + this.rowBytes;
  }

  /** Whether a record of `size` bytes belongs to the next split. */
  full(size: number): boolean {
    return this.count > 0 && (this.count >= maxSplitRows || this.bytes + size + this.rowBytes > defaultSplitBytes);
  }

  /** The rows so far, if the last one is known to end elsewhere than its length indicates. */
  endingAt(to: number): ShapeSplit {
    this.to = to;
    return this.take();
  }

  take(): ShapeSplit {
    const { kind, first, count, from, to, bytes, indexed } = this;
    this.first += count;
    this.count = 0;
    this.bytes = 0;
    return { kind, first, count, from, to, bytes, lost: null, indexed };
  }
}

/** A window of a file's bytes, read in large chunks. */
class FileWindow {
  private start = 0;
  private buffer: Buffer = Buffer.alloc(0);

  constructor(private readonly file: SourceFile) {}

  /** The bytes from `position`, at least `length` of them unless the file ends. */
  async at(position: number, length: number): Promise<Buffer> {
    const inside = position >= this.start && position + length <= this.start + this.buffer.length;
    if (!inside) {
      this.start = position;
      this.buffer = await this.file.read(position, Math.max(length, windowBytes));
    }
    return this.buffer.subarray(position - this.start);
  }

  /** Whether `at(position, length)` would not have to read. */
  has(position: number, length: number): boolean {
    return position >= this.start && position + length <= this.start + this.buffer.length;
  }

  here(position: number): Buffer {
    return this.buffer.subarray(position - this.start);
  }
}

/** Content size of the record at the start of `bytes`; -1 if it does not look like a record. */
function readContentBytes(bytes: Buffer): number {
  if (bytes.length < recordHeaderBytes + 4) return -1;
  const words = bytes.readInt32BE(4);
  if (words < 2 || plainShapeType(bytes.readInt32LE(8)) < 0) return -1;
  return words * 2;
}

/**
 * Yields the splits of a Shapefile in row order: located by the index, or by scanning records if the index is missing or
 * wrong; then the table rows without a shape. Deterministic: depends on the files only.
 */
export async function* planShapeSplits(files: ShapeFiles): AsyncGenerator<ShapeSplit> {
  const { tableRows, rowBytes, shp, declaredBytes } = files;
  const walk = new RecordWalk(files);
  yield* walk.splits();
  const truncated = walk.cutOff || (declaredBytes > shp.size && walk.scanned && walk.row !== tableRows);
  const rest = Math.max(0, (tableRows ?? 0) - walk.row);
  // The table shows which rows are missing; each is rejected.
  if (truncated && rest === 0 && (!walk.cutOff || tableRows === null)) yield truncationSplit("shp", walk.row);
  if (walk.cutRecord) yield { ...truncationSplit("shp", walk.cutRecord.row), from: walk.cutRecord.byte };
  yield* planTableSplits(walk.row, rest, rowBytes, truncated ? "shp" : null);
  if (files.tableTruncated && walk.row <= (tableRows ?? 0)) yield truncationSplit("dbf", tableRows ?? 0);
}

/** A split without rows; reading it reports that the file is truncated. */
export function truncationSplit(lost: "shp" | "dbf", first: number): ShapeSplit {
  return { kind: "rows", first, count: 0, from: 0, to: 0, bytes: 0, lost, indexed: false };
}

/** Rows of a table without shapes. */
export function* planTableSplits(
  first: number,
  count: number,
  rowBytes: number,
  lost: "shp" | null,
): Generator<ShapeSplit> {
  const perSplit = Math.max(1, Math.min(maxSplitRows, Math.floor(defaultSplitBytes / rowBytes)));
  for (let at = first; at < first + count; at += perSplit) {
    const rows = Math.min(perSplit, first + count - at);
    yield { kind: "rows", first: at, count: rows, from: 0, to: 0, bytes: rows * rowBytes, lost, indexed: false };
  }
}

class RecordWalk {
  /** Rows found so far. */
  row = 0;
  /** Whether the .shp ended within a record. */
  cutOff = false;
  scanned = false;
  /** The first record in the file that the .shx has and the .shp ends in or before. Rows count from 0. */
  cutRecord: { readonly row: number; readonly byte: number } | null = null;
  /** Expected start of the next record. */
  private position = headerBytes;
  private readonly window: FileWindow;
  private checkedOutOfOrder = 0;

  constructor(private readonly files: ShapeFiles) {
    this.window = new FileWindow(files.shp);
  }

  async *splits(): AsyncGenerator<ShapeSplit> {
    const { shx, shp, indexed, declaredBytes } = this.files;
    if (shx) yield* this.byIndex(shx);
    const whole = this.row >= indexed && shx !== null;
    if (whole) {
      // The index names what follows, and the file ends in it.
      if (this.cutRecord && this.cutRecord.byte <= this.position) return;
      // An index that is older than the .shp lacks the last records.
      if (this.position + recordHeaderBytes + 4 > Math.min(declaredBytes, shp.size)) return;
      const next = await this.window.at(this.position, recordHeaderBytes + 4);
      if (readContentBytes(next) < 0) return;
      if (next.readInt32BE(0) !== this.row + 1) {
        this.files.onUnindexed(this.position);
        return;
      }
      this.files.onIndexMismatch(this.row + 1);
    }
    yield* this.byScan();
  }

  /** Follows the index as long as it matches the .shp. */
  private async *byIndex(shx: SourceFile): AsyncGenerator<ShapeSplit> {
    const { indexed, shp, declaredBytes, rowBytes } = this.files;
    const rows = new SplitBuilder(0, rowBytes, true);
    let expected = headerBytes;
    for (let block = 0; block < indexed; block += indexBlockEntries) {
      const count = Math.min(indexBlockEntries, indexed - block);
      const entries = await shx.read(headerBytes + 8 * block, 8 * count);
      for (let i = 0; i < count; i++) {
        const from = entries.readUInt32BE(8 * i) * 2;
        const to = from + recordHeaderBytes + entries.readUInt32BE(8 * i + 4) * 2;
        const opens = rows.count === 0 || rows.full(to - from);
        if (opens || from !== expected) {
          const missing = from === 0 && to === recordHeaderBytes;
          // The reader reports a truncated file; otherwise the index is wrong.
          const beyond = to > shp.size && declaredBytes > shp.size;
          const record = rows.first + rows.count + 1;
          const fits = missing
            ? !(await this.isRecordAt(expected, record))
            : beyond || (await this.fits(from, to, from !== expected));
          if (!fits) {
            if (rows.count > 0) yield rows.take();
            this.row = rows.first;
            this.cutRecord = null;
            this.files.onIndexMismatch(rows.first + 1);
            return;
          }
        }
        if (opens && rows.count > 0) yield rows.take();
        rows.add(from, to);
        expected = to;
        if (to > this.position && to <= shp.size) this.position = to;
        if (to > shp.size && declaredBytes > shp.size && from < (this.cutRecord?.byte ?? Number.POSITIVE_INFINITY))
          this.cutRecord = { row: block + i, byte: from };
      }
    }
    if (rows.count > 0) yield rows.take();
    this.row = rows.first;
  }

  private async fits(from: number, to: number, outOfOrder: boolean): Promise<boolean> {
    const { shp } = this.files;
    if (from < headerBytes || to > shp.size) return false;
    if (outOfOrder && this.checkedOutOfOrder++ >= maxOutOfOrderRecords) return true;
    const head = await shp.read(from, recordHeaderBytes + 4);
    return readContentBytes(head) === to - from - recordHeaderBytes;
  }

  /** Scans from record to record. */
  private async *byScan(): AsyncGenerator<ShapeSplit> {
    this.scanned = true;
    const { shp, declaredBytes, rowBytes, tableRows } = this.files;
    const whole = declaredBytes <= shp.size;
    const rows = new SplitBuilder(this.row, rowBytes, false);
    let at = this.position;
    let searchFrom = at;
    while (at + recordHeaderBytes + 4 <= shp.size) {
      const record = rows.first + rows.count + 1;
      if (at === declaredBytes && !(await this.isRecordAt(at, record))) break;
      const head = this.window.has(at, 12) ? this.window.here(at) : await this.window.at(at, 12);
      const size = readContentBytes(head);
      const end = at + recordHeaderBytes + size;
      if (size >= 0 && end <= shp.size) {
        if (rows.full(end - at)) yield rows.take();
        rows.add(at, end);
        searchFrom = at + recordHeaderBytes + 4;
        at = end;
        continue;
      }
      if (size < 0 && tableRows !== null && record > tableRows) break;
      // The length is wrong: the next record determines the end.
      const begins = size >= 0 || (head.readInt32BE(0) === record && plainShapeType(head.readInt32LE(8)) >= 0);
      const next = begins ? record + 1 : record;
      const found =
        whole || size < 0 ? await this.search(begins ? at + recordHeaderBytes + 4 : searchFrom, at, next) : -1;
      if (begins || found < 0) {
        if (rows.full(recordHeaderBytes)) yield rows.take();
        rows.add(at, found < 0 ? shp.size : found);
      }
      if (found < 0) {
        this.cutOff = true;
        break;
      }
      this.files.onGap(next, at);
      if (rows.count > 0) yield rows.endingAt(found);
      searchFrom = found;
      at = found;
    }
    if (rows.count > 0) yield rows.take();
    this.row = rows.first;
  }

  /** Whether a record with this number starts at `at`, beyond the index or the length in the header. */
  private async isRecordAt(at: number, record: number): Promise<boolean> {
    const head = await this.window.at(at, recordHeaderBytes + 4);
    return readContentBytes(head) >= 0 && head.readInt32BE(0) === record;
  }

  /**
   * Searches for the start of a record with this number after `from`, the last known record, or after `expected`. -1 if
   * not found.
   */
  private async search(from: number, expected: number, record: number): Promise<number> {
    for (const start of expected - from > searchBytes ? [from, expected] : [from]) {
      const length = start === expected ? searchBytes : Math.min(expected - start, searchBytes) + searchBytes;
      const bytes = await this.files.shp.read(start, length);
      for (let i = 0; i + recordHeaderBytes + 4 <= bytes.length; i += 2) {
        if (bytes.readInt32BE(i) !== record) continue;
        const size = readContentBytes(bytes.subarray(i, i + 12));
        if (size >= 0 && start + i + recordHeaderBytes + size <= this.files.shp.size) return start + i;
      }
    }
    return -1;
  }
}
