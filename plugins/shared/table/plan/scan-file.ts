/**
 * Scans a CSV in parts that begin after line ends, on as many threads as there are. Whether such a line end is inside a
 * quoted cell shows afterwards: the records of the previous part then do not end there. The parts do not depend on the
 * number of threads, so the splits are always the same.
 */
import { GeoferryError } from "../../../../src/errors.js";
import type { ReadContext, Source, SourceFile } from "../../../../src/plugin/format.js";
import type { GeometryPlan } from "../geometry/geometry-columns.js";
import { createGeometryScan } from "../geometry/geometry-scan.js";
import { TextBlockReader, type TextEncoding } from "../records/text-blocks.js";
import type { Dialect, TableSplit } from "./plan.js";
import { TableScan, type TableScanState, WrongEncoding } from "./table-scan.js";

/** Settings of a scan, as plain data. */
export interface ScanSettings {
  readonly encoding: TextEncoding;
  /** Whether the encoding was guessed; bytes that are invalid in it then show that it is wrong. */
  readonly isGuessed: boolean;
  readonly dialect: Dialect;
  readonly columns: number;
  readonly geometry: GeometryPlan;
  /** Whether the geometry columns are attributes, too. */
  readonly keepsGeometry: boolean;
  /** Number of rows to scan; Infinity for all. */
  readonly rows: number;
  /** Approximate size of a split, in bytes. */
  readonly length: number;
}

/** A part of the file that begins with a record, unless the line end before it is inside a quoted cell. */
interface ScanPart {
  readonly from: number;
  readonly to: number;
}

interface ScanPartTask extends ScanPart {
  readonly settings: ScanSettings;
}

interface ScanPartResult extends ScanPart {
  /** Null if the result depends on the previous part: this part ends inside a record, or is damaged. */
  readonly found: { readonly splits: readonly TableSplit[]; readonly state: TableScanState } | null;
}

interface ScanOutcome {
  readonly scan: TableScan;
  /** Null if the scan stopped before the end of the file. */
  readonly splits: TableSplit[] | null;
}

/** Splits per part, unless line ends in quoted cells mislead. */
const splitsPerPart = 4;
/**
 * Size of the window at the end of a block that is searched for its last line end; without one, the block is extended.
 */
const lineSearchBytes = 1 << 16;
const lineFeed = 10;

function createScan(source: Source, settings: ScanSettings, context: ReadContext): TableScan {
  const { dialect, columns, geometry, keepsGeometry, rows } = settings;
  const scan = new TableScan(source.name, dialect, columns, context.skipErrors, rows);
  if (geometry.kind === "text" || geometry.kind === "position") scan.ignore(geometry.column, keepsGeometry);
  // A blank coordinate is missing, too.
  scan.geometry = createGeometryScan(geometry, (c) => scan.isNumeric(c) && scan.sizes.blanks[c] === 0);
  return scan;
}

/**
 * The end of the records in a block that begins at `from`, by line ends only, so that the blocks do not depend on
 * whether an earlier part was scanned.
 */
async function findRecordsEnd(file: SourceFile, from: number, length: number): Promise<number> {
  for (let wanted = length; from + wanted < file.size; wanted *= 2) {
    const start = from + Math.max(0, wanted - lineSearchBytes);
    const found = (await file.read(start, from + wanted - start)).lastIndexOf(lineFeed);
    if (found >= 0) return start + found + 1;
  }
  return file.size;
}

/** Parts of UTF-8 that begin after line ends. Other encodings are one part, because a byte is not a character there. */
async function* findParts(file: SourceFile, { encoding, length }: ScanSettings): AsyncGenerator<ScanPart> {
  const splits = encoding.name === "utf-8" ? splitsPerPart : 0;
  let from = encoding.mark;
  do {
    let to = splits === 0 ? file.size : from;
    for (let s = 0; s < splits && to < file.size; s++) to = await findRecordsEnd(file, to, length);
    yield { from, to };
    from = to;
  } while (from < file.size);
}

async function* createTasks(file: SourceFile, settings: ScanSettings): AsyncGenerator<ScanPartTask> {
  const { dialect, encoding } = settings;
  const later = { ...settings, dialect: { ...dialect, header: false } };
  for await (const part of findParts(file, settings)) {
    yield { ...part, settings: part.from === encoding.mark ? settings : later };
  }
}

/** Scans a part as if a record began with it. */
export async function scanPart(source: Source, part: unknown, context: ReadContext): Promise<ScanPartResult> {
  const { from, to, settings } = part as ScanPartTask;
  await using file = await source.open();
  const scan = createScan(source, settings, context);
  const range = { from, to, size: source.size, length: settings.length };
  try {
    const { splits, end } = await scan.run(new TextBlockReader(file, settings.encoding, context), range, true);
    const isWhole = end === to && scan.headerPassed && !scan.isDamaged;
    return { from, to, found: isWhole ? { splits, state: scan.state } : null };
  } catch (error) {
    context.signal.throwIfAborted();
    // The scan that knows the previous part repeats this, and finds out whether the damage is real.
    if (error instanceof GeoferryError || error instanceof WrongEncoding) return { from, to, found: null };
    throw error;
  }
}

/** The parts with the results of other threads; without results if everything runs on this thread. */
async function* mergeScannedParts(
  file: SourceFile,
  settings: ScanSettings,
  context: ReadContext,
): AsyncGenerator<ScanPartResult> {
  const isWorthIt = file.size > 2 * splitsPerPart * settings.length && settings.rows === Number.POSITIVE_INFINITY;
  if (context.scanParts && isWorthIt)
    yield* context.scanParts(createTasks(file, settings)) as AsyncIterable<ScanPartResult>;
  else for await (const part of findParts(file, settings)) yield { ...part, found: null };
}

/**
 * Scans a file, or its first rows if `rows` limits them.
 * @throws input-corrupt, WrongEncoding
 */
export async function scanFile(
  source: Source,
  file: SourceFile,
  settings: ScanSettings,
  context: ReadContext,
): Promise<ScanOutcome> {
  const { encoding, isGuessed, length } = settings;
  const blocks = new TextBlockReader(file, encoding, context);
  const scan = createScan(source, settings, context);
  const splits: TableSplit[] = [];
  let position = encoding.mark;
  for await (const { from, to, found } of mergeScannedParts(file, settings, context)) {
    context.signal.throwIfAborted();
    if (found && position === from && (scan.headerPassed || from === encoding.mark)) {
      scan.add(found.state);
      splits.push(...found.splits);
      position = to;
      continue;
    }
    const passed = await scan.run(blocks, { from: position, to, size: source.size, length }, isGuessed);
    if (scan.hasStopped) return { scan, splits: null };
    splits.push(...passed.splits);
    position = passed.end;
  }
  return { scan, splits };
}
