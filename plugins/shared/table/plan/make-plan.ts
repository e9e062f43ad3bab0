import type { ReadContext, Source, SourceFile } from "../../../../src/plugin/format.js";
import {
  ambiguityNotices,
  numberLikeNameNotices,
  strayQuoteMessage,
  twoDigitYearNotices,
} from "../columns/ambiguity-notices.js";
import { type ColumnFormat, type FormatRules, textColumnFormat } from "../columns/column-format.js";
import { type CsvtColumnType, parseCsvt } from "../columns/csvt.js";
import { collectSamples } from "../columns/samples.js";
import { outlierNotices } from "../columns/text-outliers.js";
import { detectSrid, readPrj, readSiblingText, resolveCrs } from "../geometry/crs.js";
import {
  addLetterO,
  detectGeometry,
  type GeometryDetection,
  type GeometryWithNumbers,
} from "../geometry/detect-geometry.js";
import { geometryColumnIndexes } from "../geometry/geometry-columns.js";
import { pairNotice, unusedGeometryColumn } from "../geometry/pair-notice.js";
import { findUnguessedDelimiter, guessDecimal, guessDelimiter } from "../header/dialect.js";
import { detectIgnoredHeader, findHeader } from "../header/find-header.js";
import { createColumnSampler, type Notices, nameColumns, padRecord, readFirstRecord } from "../header/first-record.js";
import {
  dropHeadBytes,
  dropHeadLines,
  fallbackEncoding,
  type Head,
  readDecodedHead,
  readHead,
} from "../header/head.js";
import { delimiterByte, type TableOptions } from "../options.js";
import { RecordScanner } from "../records/record-scanner.js";
import { commaByte, pointByte } from "../records/signs.js";
import type { TablePlan } from "./plan.js";
import { type ScanSettings, scanFile } from "./scan-file.js";
import { summarizeScan } from "./summary.js";
import { WrongEncoding } from "./table-scan.js";

/** Columns that a `.csvt` declares as geometry, unless an option overrides it. */
function geometryFromCsvt(
  declared: readonly (CsvtColumnType | null)[],
  options: TableOptions,
  decimal: number,
): GeometryWithNumbers | null {
  if (options.geometry !== undefined || options.x !== undefined) return null;
  const [x, y, z, column] = (["x", "y", "z", "wkt"] as const).map((word) => declared.indexOf(word));
  if (column! >= 0) return { kind: "text", column: column! };
  return x! >= 0 && y! >= 0
    ? { kind: "xy", x: x!, y: y!, z: z! >= 0 ? z! : null, numbers: { decimal, group: null } }
    : null;
}

/** Numbers of typed cells have a point and no groups. A date is a midnight. */
const typedCellRules = { isDecimalGiven: true, thousands: null, datesAreMidnights: true } as const;

/** Whether there is no geometry and no notice about columns that may hold one. */
const isSilentlyWithoutGeometry = ({ plan, candidates, notices }: GeometryDetection): boolean =>
  plan.kind === "none" && candidates.length === 0 && notices.length === 0;

/**
 * Inspects a file: one pass over its head, one over the whole file.
 * @throws input-corrupt, field-missing, option-invalid
 */
export async function makePlan(
  source: Source,
  file: SourceFile,
  options: TableOptions,
  context: ReadContext,
  length: number,
): Promise<TablePlan> {
  let head = await readDecodedHead(source, file, options, context);
  for (;;) {
    try {
      return await planAtEncoding(head, source, file, options, context, length);
    } catch (error) {
      if (!(error instanceof WrongEncoding)) throw error;
      head = await readHead(source, file, { name: fallbackEncoding, mark: 0 }, true, context);
    }
  }
}

async function planAtEncoding(
  given: Head,
  source: Source,
  file: SourceFile,
  options: TableOptions,
  context: ReadContext,
  length: number,
): Promise<TablePlan> {
  const top = dropHeadLines(given, options.skipLines ?? 0);
  const hasTypedCells = options.cells === "typed";
  const said = options.delimiter === "auto" ? top.delimiter : delimiterByte(options.delimiter);
  const guess =
    said === null ? guessDelimiter(top.bytes, top.whole) : { delimiter: said, columns: 0, share: 0, records: 0 };
  const isSearched = options.header === "auto" && options.skipLines === undefined;
  const below = isSearched ? findHeader(top, guess, said !== null, hasTypedCells) : null;
  const delimiter = below?.delimiter ?? guess.delimiter;
  const named = dropHeadBytes(top, below?.from ?? 0);
  // A row of units is skipped like the header.
  const head = dropHeadBytes(top, below?.last ?? 0);
  const decimal =
    options.decimal === "auto"
      ? guessDecimal(head.bytes, delimiter, head.whole)
      : options.decimal === ","
        ? commaByte
        : pointByte;
  const scanner = new RecordScanner(delimiter);
  const first = readFirstRecord(named, scanner, decimal, below ? { ...options, header: "yes" } : options);
  const notices: Notices = [...(below?.notices ?? [])];
  const { usedColumns } = options;
  const isUsed = (c: number) => !usedColumns || usedColumns[c] === true;
  const names = first ? nameColumns(padRecord(first, usedColumns?.length ?? 0), notices, isUsed) : [];
  const header = first?.isHeader ?? false;
  const other = said === null && names.length === 1 ? findUnguessedDelimiter(named.bytes, named.whole, header) : null;
  if (other) {
    const example = `each row is one cell, and ${other.plural} divide it into ${other.cells}: --in delimiter=${other.option} reads them as columns`;
    notices.push(["one-column", undefined, example]);
  }
  const samples = collectSamples(head, scanner, names.length, header);
  const csvt = parseCsvt((await readSiblingText(source, "csvt", context)) ?? "");
  const declared = names.map((_, c) => csvt[c] ?? null);
  const textRules: FormatRules = {
    decimal,
    isDecimalGiven: options.decimal !== "auto",
    thousands: options.thousands === "auto" ? undefined : options.thousands === "none" ? null : options.thousands,
    monthFirst: options.dates === "auto" ? undefined : options.dates === "mdy",
  };
  const rules = hasTypedCells ? { ...textRules, ...typedCellRules } : textRules;
  const ofPrj =
    options.declaredCrs === undefined ? await readPrj(source, context) : { crs: options.declaredCrs, notices: [] };
  const choice = {
    source: source.name,
    names,
    samples,
    cellsOf: createColumnSampler(head, scanner, header),
    decimal,
    crs: context.requestedCrs ?? ofPrj.crs,
  };
  const csvtGeometry = geometryFromCsvt(declared, options, decimal);
  const chosen = csvtGeometry
    ? { plan: addLetterO(csvtGeometry, choice, options), notices: [], candidates: [] }
    : await detectGeometry(choice, options, textRules, context);
  const { plan: geometry, candidates } = chosen;
  context.onFieldCount?.(
    names.filter((_, c) => isUsed(c)).length -
      (options.keepGeometryColumns ? 0 : geometryColumnIndexes(geometry).length),
  );
  notices.push(...chosen.notices);
  const pairs = pairNotice(geometry, names, samples, options.geometry !== undefined);
  if (pairs) notices.push(pairs);
  else if (isSilentlyWithoutGeometry(chosen) && options.geometry === undefined) {
    const unused =
      unusedGeometryColumn(names, samples) ??
      (below ? null : detectIgnoredHeader(top, delimiter, header, hasTypedCells));
    if (unused) notices.push(unused);
  }
  const srid = (geometry.kind === "text" ? options.srid : undefined) ?? detectSrid(geometry, samples);
  const crs = await resolveCrs(geometry, srid, samples, context, notices, ofPrj);

  const wanted = options.types === "text" ? 1 : (options.sample ?? Number.POSITIVE_INFINITY);
  const dialect = { delimiter, decimal, header, hasTypedCells, lines: head.lines, rules };
  const settings: ScanSettings = {
    encoding: head.encoding,
    isGuessed: head.guessed,
    dialect,
    columns: names.length,
    geometry,
    keepsGeometry: options.keepGeometryColumns,
    rows: wanted,
    length,
  };
  const { scan, splits } = await scanFile(source, file, settings, context);
  if (head.guessed && head.encoding.name === fallbackEncoding) {
    notices.push(["encoding-assumed", undefined, "not UTF-8, read as Windows-1252; the option encoding names another"]);
  }
  const used = new Set(geometryColumnIndexes(geometry));
  const kept = (c: number) => isUsed(c) && (!used.has(c) || options.keepGeometryColumns);
  const formOf = (c: number): ColumnFormat => {
    const word = declared[c];
    if (word && word !== "x" && word !== "y" && word !== "z" && word !== "wkt") {
      const found = scan.formOf(c);
      return { ...found, type: word === "int32" && found.type === "int64" ? "int64" : word, doubt: null };
    }
    return options.types === "text" ? textColumnFormat : scan.formOf(c);
  };
  const forms = names.map((_, c) => formOf(c));
  if (!hasTypedCells) notices.push(...numberLikeNameNotices(names, forms, samples, kept, decimal));
  notices.push(...ambiguityNotices(names, forms, kept, scan.hasSureDecimals || delimiter === commaByte, decimal));
  if (options.types !== "text" && !hasTypedCells) notices.push(...twoDigitYearNotices(names, forms, samples, kept));
  // If only some rows were scanned, the others are unknown.
  if (splits && options.types !== "text") {
    const outliers = names.flatMap((name, c) => (kept(c) && !declared[c] ? (scan.outlierOf(c, name) ?? []) : []));
    notices.push(...outlierNotices(outliers));
  }
  const { strays } = scan;
  // If only some rows were scanned, the reader counts them.
  if (splits && strays.count > 0) {
    notices.push([
      "quote-stray",
      undefined,
      strayQuoteMessage(`from line ${head.lines + strays.line} on`),
      strays.count,
    ]);
  }
  for (const notice of notices) context.reportNotice(...notice);
  const sure = geometry.kind === "none" || (geometry.kind === "xy" && [...used].every((c) => scan.isNumeric(c)));
  const columns = names.map((name, c) => {
    const { type, numbers, monthFirst } = forms[c]!;
    return { name, type, kept: kept(c), numbers, monthFirst };
  });
  return {
    encoding: head.encoding,
    ...dialect,
    columns,
    geometry,
    candidates,
    crs,
    srid,
    isSridGiven: options.srid !== undefined,
    features: splits && sure ? scan.rows : null,
    splits,
    summary: splits && summarizeScan(columns, scan),
  };
}
