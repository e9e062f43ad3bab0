/**
 * A CSV is looked through in pieces, which begin behind line ends: as many threads as there are look at them at once.
 * Whether such a line end stands in a quoted cell is seen afterwards, when the records of the piece before do not end
 * there. What is looked at does not depend on the number of threads, so that the splits are always the same.
 */
import { GeoferryError } from "../../../src/errors.js";
import type { ReadContext, Source, SourceFile } from "../../../src/plugin/format.js";
import type { GeometryPlan } from "../geometry/geometry-columns.js";
import { createGeometryScan } from "../geometry/geometry-scan.js";
import { TextBlockReader, type TextEncoding } from "../records/text-blocks.js";
import type { CsvSplit, Dialect } from "./plan.js";
import { TableScan, type TableScanState, WrongEncoding } from "./table-scan.js";

/** What a survey goes by, as plain data. */
export interface ScanSettings {
  readonly encoding: TextEncoding;
  /** No one said the encoding: what is not in it shows that it is another one. */
  readonly isGuessed: boolean;
  readonly dialect: Dialect;
  readonly columns: number;
  readonly geometry: GeometryPlan;
  /** Whether the columns of the geometry are attributes, too. */
  readonly keepsGeometry: boolean;
  /** Rows to look at; Infinity for all. */
  readonly rows: number;
  /** Of a split, in bytes, about. */
  readonly length: number;
}

/** A part of the file that begins where a record does, unless the line end before it stands in a quoted cell. */
interface ScanPart {
  readonly from: number;
  readonly to: number;
}

interface ScanPartTask extends ScanPart {
  readonly settings: ScanSettings;
}

interface ScanPartResult extends ScanPart {
  /** Null where what stands before the piece has to be known: it ends inside of a record, or something is damaged. */
  readonly found: { readonly splits: readonly CsvSplit[]; readonly state: TableScanState } | null;
}

interface ScanOutcome {
  readonly survey: TableScan;
  /** Null where the survey stopped before the end of the file. */
  readonly splits: CsvSplit[] | null;
}

/** Splits that a piece has, unless line ends in quoted cells mislead. */
const splitsPerPart = 4;
/** The last line end of a block is looked for in so many bytes before its end; where they have none, in a longer block. */
const lineSearchBytes = 1 << 16;
const lineFeed = 10;

function createScan(source: Source, settings: ScanSettings, context: ReadContext): TableScan {
  const { dialect, columns, geometry, keepsGeometry, rows } = settings;
  const survey = new TableScan(source.name, dialect, columns, context.skipErrors, rows);
  if (geometry.kind === "text" || geometry.kind === "pair") survey.ignore(geometry.column, keepsGeometry);
  // Spaces in place of a coordinate are nothing, too.
  survey.geometry = createGeometryScan(geometry, (c) => survey.isNumeric(c) && survey.sizes.blanks[c] === 0);
  return survey;
}

/**
 * Where the records end of a block that is read from `from` on, as far as line ends tell, so that blocks are the same
 * whether or not somebody looked at what stands before them.
 */
async function findRecordsEnd(file: SourceFile, from: number, length: number): Promise<number> {
  for (let wanted = length; from + wanted < file.size; wanted *= 2) {
    const start = from + Math.max(0, wanted - lineSearchBytes);
    const found = (await file.read(start, from + wanted - start)).lastIndexOf(lineFeed);
    if (found >= 0) return start + found + 1;
  }
  return file.size;
}

/** Pieces of UTF-8 behind line ends. In other encodings a byte is not a character, and the file is one piece. */
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
  const behind = { ...settings, dialect: { ...dialect, header: false } };
  for await (const piece of findParts(file, settings)) {
    yield { ...piece, settings: piece.from === encoding.mark ? settings : behind };
  }
}

/** Looks at a piece as if a record began with it. */
export async function scanPart(source: Source, piece: unknown, context: ReadContext): Promise<ScanPartResult> {
  const { from, to, settings } = piece as ScanPartTask;
  await using file = await source.open();
  const survey = createScan(source, settings, context);
  const range = { from, to, size: source.size, length: settings.length };
  try {
    const { splits, end } = await survey.run(new TextBlockReader(file, settings.encoding, context), range, true);
    const isWhole = end === to && survey.headerPassed && !survey.isDamaged;
    return { from, to, found: isWhole ? { splits, state: survey.state } : null };
  } catch (error) {
    context.signal.throwIfAborted();
    // Whoever knows what stands before it meets this again, or finds that it was none.
    if (error instanceof GeoferryError || error instanceof WrongEncoding) return { from, to, found: null };
    throw error;
  }
}

/** The pieces with what was found in them elsewhere; with nothing where all is done on this thread. */
async function* mergeScannedParts(
  file: SourceFile,
  settings: ScanSettings,
  context: ReadContext,
): AsyncGenerator<ScanPartResult> {
  const isWorthIt = file.size > 2 * splitsPerPart * settings.length && settings.rows === Number.POSITIVE_INFINITY;
  if (context.scanParts && isWorthIt)
    yield* context.scanParts(createTasks(file, settings)) as AsyncIterable<ScanPartResult>;
  else for await (const piece of findParts(file, settings)) yield { ...piece, found: null };
}

/**
 * Looks through a file, or its first rows where no more are wanted.
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
  const survey = createScan(source, settings, context);
  const splits: CsvSplit[] = [];
  let position = encoding.mark;
  for await (const { from, to, found } of mergeScannedParts(file, settings, context)) {
    context.signal.throwIfAborted();
    if (found && position === from && (survey.headerPassed || from === encoding.mark)) {
      survey.add(found.state);
      splits.push(...found.splits);
      position = to;
      continue;
    }
    const passed = await survey.run(blocks, { from: position, to, size: source.size, length }, isGuessed);
    if (survey.hasStopped) return { survey, splits: null };
    splits.push(...passed.splits);
    position = passed.end;
  }
  return { survey, splits };
}
