import { isUtf8 } from "node:buffer";
import { fault } from "../../src/errors.js";
import { type FieldType, uniqueName } from "../../src/model/field.js";
import { GeometryBuilder } from "../../src/model/geometry.js";
import type { Crs, Dataset, Layer, Split } from "../../src/model/layer.js";
import type { ReadContext, ReaderModule, Source, SourceFile } from "../../src/plugin/format.js";
import { type Declared, parseCsvt } from "./csvt.js";
import { comma, guessDecimal, guessDelimiter, isData, point } from "./dialect.js";
import { columnsOf, type GeometryPlan, planGeometry, type Samples } from "./geometry-columns.js";
import { GeometryCells } from "./geometry-text.js";
import { delimiterByte, type ReaderOptions } from "./options.js";
import { type CsvPlan, type CsvSplit, fieldsOf } from "./plan.js";
import { Rows } from "./rows.js";
import { CellText, Mark, Scanner } from "./scanner.js";
import { eachRecord, splitBytes, stretches } from "./stretches.js";
import { Survey, WrongEncoding } from "./survey.js";
import { encodingOf, isRatherOneByte, repairUtf8, TextBlocks, type TextEncoding } from "./text-blocks.js";

/** Bytes from which the delimiter, the header and the columns of the geometry are guessed. */
const headBytes = 512 * 1024;
const samplesWanted = 100;

/** `length` is the size of splits in bytes, for tests. */
export async function open(
  source: Source,
  options: ReaderOptions,
  context: ReadContext,
  length = splitBytes,
): Promise<Dataset> {
  if (source.size === 0) throw fault("input-empty", { source: source.name });
  const file = await source.open();
  try {
    const plan = (context.blueprint as CsvPlan | undefined) ?? (await makePlan(source, file, options, context, length));
    return {
      layers: [layerOf(source, file, plan, context, length)],
      blueprint: plan,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export default { open } satisfies ReaderModule<ReaderOptions>;

function layerName(source: Source): string {
  const base = source.name.split(/[/\\]/).at(-1)!;
  return base.replace(/\.[^.]*$/, "") || base;
}

function layerOf(source: Source, file: SourceFile, plan: CsvPlan, context: ReadContext, length: number): Layer {
  const blocks = new TextBlocks(file, plan.encoding, context);
  async function* splits(): AsyncGenerator<CsvSplit> {
    if (plan.splits) yield* plan.splits;
    else yield* cut(blocks, source, plan, context, length);
  }
  return {
    name: layerName(source),
    crs: plan.crs,
    fields: fieldsOf(plan),
    geometryTypes: plan.geometry.kind === "text" ? null : plan.geometry.kind === "none" ? [] : ["Point"],
    featureCount: plan.features,
    extent: null,
    bytes: source.size,
    splits,
    async *batches(split?: Split) {
      const rows = new Rows(plan, source.name, context);
      for await (const piece of split ? [split as CsvSplit] : splits()) {
        context.signal.throwIfAborted();
        yield* rows.read(await blocks.read(piece.from, piece.to - piece.from), piece);
      }
      rows.finish();
    },
  };
}

/** The splits of a file that was not scanned whole. */
async function* cut(
  blocks: TextBlocks,
  source: Source,
  plan: CsvPlan,
  context: ReadContext,
  length: number,
): AsyncGenerator<CsvSplit> {
  // Nobody looks at the types: a survey of no columns finds the ends of records and what is damaged.
  const survey = new Survey(source.name, plan, 0, context.skipErrors, Number.POSITIVE_INFINITY);
  const scanner = new Scanner(plan.delimiter);
  yield* stretches(blocks, source.name, source.size, length, survey.visitor(scanner, false));
}

interface Head {
  readonly encoding: TextEncoding;
  readonly bytes: Buffer;
  readonly whole: boolean;
}

async function readHead(source: Source, file: SourceFile, encoding: TextEncoding, context: ReadContext): Promise<Head> {
  const blocks = new TextBlocks(file, encoding, context);
  let wanted = headBytes;
  for (;;) {
    const block = await blocks.read(encoding.mark, wanted);
    const whole = encoding.mark + wanted >= source.size;
    if (block.bytes.length > 0 || whole) return { encoding, bytes: block.bytes, whole };
    wanted *= 2;
  }
}

/** The head in the encoding that the file seems to be in. */
async function decodedHead(
  source: Source,
  file: SourceFile,
  options: ReaderOptions,
  context: ReadContext,
): Promise<Head> {
  const encoding = encodingOf(await file.read(0, 4096), options.encoding);
  const head = await readHead(source, file, encoding, context);
  const text = head.whole ? head.bytes : head.bytes.subarray(0, head.bytes.lastIndexOf(10) + 1);
  if (encoding.name !== "utf-8" || isUtf8(text)) return head;
  if (isGuessed(options, encoding) && isRatherOneByte(text)) return readHead(source, file, oneByte, context);
  return { ...head, bytes: repairUtf8(head.bytes) };
}

const oneByte: TextEncoding = { name: "windows-1252", mark: 0 };
const isGuessed = (options: ReaderOptions, encoding: TextEncoding) =>
  options.encoding === "auto" && encoding.name === "utf-8" && encoding.mark === 0;

interface FirstRecord {
  /** What they say; spaces around them are part of it in quotes only. */
  readonly cells: readonly string[];
  readonly isHeader: boolean;
}

const unquoter = new CellText();
function cellText(bytes: Buffer, scanner: Scanner, c: number): string {
  const [from, to, mark] = [scanner.starts[c]!, scanner.ends[c]!, scanner.marks[c]!];
  if (mark <= Mark.quoted) return bytes.toString("utf8", from, to);
  unquoter.unquote(bytes, from, to, mark);
  return Buffer.from(unquoter.bytes.subarray(0, unquoter.length)).toString("utf8");
}

function firstRecord(head: Head, scanner: Scanner, decimal: number, options: ReaderOptions): FirstRecord | null {
  let at = 0;
  while (at < head.bytes.length) {
    const found = scanner.scan(head.bytes, at, head.bytes.length, true);
    if (found === "unterminated" && scanner.recovery > at) {
      at = scanner.recovery;
      continue;
    }
    if (!scanner.isBlank(head.bytes)) {
      const cells = [...new Array(scanner.cells).keys()].map((c) => {
        const text = cellText(head.bytes, scanner, c);
        return scanner.marks[c] === Mark.plain ? text.trim() : text;
      });
      const isHeader = options.header === "auto" ? !isData(head.bytes, scanner, decimal) : options.header === "yes";
      return { cells, isHeader };
    }
    at = scanner.next;
  }
  return null;
}

/** What is to be told once the plan stands. */
type Notices = (readonly [code: string, field: string | undefined, example: string])[];

/** Names for the columns: trimmed, `field_3` where there is none, made unique. */
function columnNames(first: FirstRecord, notices: Notices): string[] {
  const taken = new Set<string>();
  return first.cells.map((cell, c) => {
    const wanted = first.isHeader && cell.trim() !== "" ? cell : "";
    const name = uniqueName(wanted === "" ? `field_${c + 1}` : wanted, taken);
    if (wanted !== "" && name !== wanted) notices.push(["name-duplicate", name, `another column is named "${wanted}"`]);
    else if (wanted === "" && first.isHeader) notices.push(["name-missing", name, `column ${c + 1} has no name`]);
    taken.add(name);
    return name;
  });
}

function samplesOf(head: Head, scanner: Scanner, columns: number, isHeader: boolean): Samples {
  const samples: string[][] = Array.from({ length: columns }, () => []);
  let skip = isHeader;
  const visit = () => {
    if (skip) {
      skip = false;
      return;
    }
    for (let c = 0; c < Math.min(columns, scanner.cells); c++) {
      if (samples[c]!.length >= samplesWanted || scanner.starts[c] === scanner.ends[c]) continue;
      const text = cellText(head.bytes, scanner, c).trim();
      if (text !== "") samples[c]!.push(text);
    }
  };
  eachRecord(head.bytes, head.whole ? "file" : "more", scanner, visit, () => {});
  return samples;
}

async function textOfSibling(source: Source, extension: string, context: ReadContext): Promise<string | null> {
  const sibling = source.sibling(extension);
  if (!sibling) return null;
  const file = await sibling.open();
  try {
    const bytes = await file.read(0, 1 << 20);
    return isUtf8(bytes) ? bytes.toString("utf8") : context.decoder("windows-1252")(bytes);
  } finally {
    await file.close();
  }
}

async function crsOfPrj(source: Source, context: ReadContext, notices: Notices): Promise<Crs | null> {
  const text = (await textOfSibling(source, "prj", context))?.replace(/^\uFEFF/, "").trim();
  if (!text) return null;
  try {
    return await context.crs.parse(text);
  } catch (error) {
    notices.push(["crs-unreadable", undefined, `the .prj file: ${(error as Error).message}`]);
    return null;
  }
}

/** The SRID that the first geometries name, and its CRS. */
function sridOf(geometry: GeometryPlan, samples: Samples): number | null {
  if (geometry.kind !== "text") return null;
  const cells = new GeometryCells();
  for (const text of samples[geometry.column]!) {
    const bytes = Buffer.from(text);
    try {
      cells.read(bytes, 0, bytes.length, new GeometryBuilder());
    } catch {
      continue;
    }
    if (cells.srid !== null && cells.srid > 0) return cells.srid;
  }
  return null;
}

async function crsOf(
  source: Source,
  geometry: GeometryPlan,
  srid: number | null,
  samples: Samples,
  context: ReadContext,
  notices: Notices,
): Promise<Crs | null> {
  if (geometry.kind === "none") return null;
  if (srid !== null) {
    try {
      return await context.crs.parse(`EPSG:${srid}`);
    } catch (error) {
      notices.push(["crs-unreadable", undefined, (error as Error).message]);
    }
  }
  const crs = await crsOfPrj(source, context, notices);
  if (crs || geometry.kind !== "text") return crs;
  // RFC 7946, 4: GeoJSON is WGS84.
  const isGeoJson = samples[geometry.column]!.some((text) => text.startsWith("{"));
  return isGeoJson ? context.crs.wgs84 : null;
}

/** Columns that a `.csvt` says to be the geometry, where no option says otherwise. */
function declaredGeometry(declared: readonly (Declared | null)[], options: ReaderOptions): GeometryPlan | null {
  if (options.geometry !== undefined || options.x !== undefined) return null;
  const [x, y, z, column] = (["x", "y", "z", "wkt"] as const).map((word) => declared.indexOf(word));
  if (column! >= 0) return { kind: "text", column: column! };
  return x! >= 0 && y! >= 0 ? { kind: "xy", x: x!, y: y!, z: z! >= 0 ? z! : null } : null;
}

async function makePlan(
  source: Source,
  file: SourceFile,
  options: ReaderOptions,
  context: ReadContext,
  length: number,
): Promise<CsvPlan> {
  let head = await decodedHead(source, file, options, context);
  for (;;) {
    try {
      return await planWith(head, source, file, options, context, length);
    } catch (error) {
      if (!(error instanceof WrongEncoding)) throw error;
      head = await readHead(source, file, oneByte, context);
    }
  }
}

async function planWith(
  head: Head,
  source: Source,
  file: SourceFile,
  options: ReaderOptions,
  context: ReadContext,
  length: number,
): Promise<CsvPlan> {
  const delimiter =
    options.delimiter === "auto" ? guessDelimiter(head.bytes, head.whole).delimiter : delimiterByte(options.delimiter);
  const decimal =
    options.decimal === "auto"
      ? guessDecimal(head.bytes, delimiter, head.whole)
      : options.decimal === ","
        ? comma
        : point;
  const scanner = new Scanner(delimiter);
  const first = firstRecord(head, scanner, decimal, options);
  const notices: Notices = [];
  const names = first ? columnNames(first, notices) : [];
  const header = first?.isHeader ?? false;
  const samples = samplesOf(head, scanner, names.length, header);
  const csvt = parseCsvt((await textOfSibling(source, "csvt", context)) ?? "");
  const declared = names.map((_, c) => csvt[c] ?? null);
  const choice = { source: source.name, names, samples, decimal: String.fromCharCode(decimal) };
  const geometry = declaredGeometry(declared, options) ?? planGeometry(choice, options);
  const srid = sridOf(geometry, samples);
  const crs = await crsOf(source, geometry, srid, samples, context, notices);

  const wanted = options.types === "text" ? 1 : (options.sample ?? Number.POSITIVE_INFINITY);
  const dialect = { delimiter, decimal, header };
  const survey = new Survey(source.name, dialect, names.length, context.skipErrors, wanted);
  if (geometry.kind === "text" || geometry.kind === "pair") survey.ignore(geometry.column);
  const blocks = new TextBlocks(file, head.encoding, context);
  const splits = await survey.run(blocks, source.size, length, isGuessed(options, head.encoding));
  if (head.encoding === oneByte) {
    notices.push(["encoding-assumed", undefined, "not UTF-8, read as Windows-1252; the option encoding names another"]);
  }
  for (const notice of notices) context.notice(...notice);

  const used = new Set(columnsOf(geometry));
  const typeOf = (c: number): FieldType => {
    const word = declared[c];
    if (word && word !== "x" && word !== "y" && word !== "z" && word !== "wkt") {
      return word === "int32" && survey.typeOf(c) === "int64" ? "int64" : word;
    }
    return options.types === "text" ? "text" : survey.typeOf(c);
  };
  const sure = geometry.kind === "none" || (geometry.kind === "xy" && [...used].every((c) => survey.isNumeric(c)));
  return {
    encoding: head.encoding,
    ...dialect,
    columns: names.map((name, c) => ({ name, type: typeOf(c), kept: !used.has(c) || options.keepGeometryColumns })),
    geometry,
    crs,
    srid,
    features: splits && sure ? survey.rows : null,
    splits,
  };
}
