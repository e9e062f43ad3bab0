import type { ReadContext, Source, SourceFile } from "../../../../src/plugin/format.js";
import type { FormatRules } from "../columns/column-format.js";
import { parseCsvt } from "../columns/csvt.js";
import { collectSamples } from "../columns/samples.js";
import { chooseGeometry, type TableStart } from "../geometry/choose-geometry.js";
import { detectSrid, readPrj, readSiblingText, resolveCrs } from "../geometry/crs.js";
import { geometryColumnIndexes } from "../geometry/geometry-columns.js";
import { detectDialect, readColumnNames } from "../header/detect-dialect.js";
import type { Notices } from "../header/first-record.js";
import { fallbackEncoding, type Head, readDecodedHead, readHead } from "../header/head.js";
import type { TableOptions } from "../options.js";
import { RecordScanner } from "../records/record-scanner.js";
import { footerNotices, inferColumns, strayQuoteNotices } from "./infer-columns.js";
import type { Dialect, TablePlan } from "./plan.js";
import { type ScanSettings, scanFile } from "./scan-file.js";
import { summarizeScan } from "./summary.js";
import { WrongEncoding } from "./table-scan.js";

/** Numbers of typed cells have a point and no groups. A date is a midnight. */
const typedCellRules = { isDecimalGiven: true, thousands: null, datesAreMidnights: true } as const;

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
  wholeHead: Head,
  source: Source,
  file: SourceFile,
  options: TableOptions,
  context: ReadContext,
  length: number,
): Promise<TablePlan> {
  const notices: Notices = [];
  const detected = detectDialect(wholeHead, options);
  const { head, delimiter, decimal } = detected;
  const scanner = new RecordScanner(delimiter);
  const hasTypedCells = options.cells === "typed";
  const { usedColumns } = options;
  const isUsed = (c: number) => !usedColumns || usedColumns[c] === true;
  const { names, hasHeader } = readColumnNames(detected, scanner, options, notices);
  const samples = collectSamples(head, scanner, names.length, hasHeader);
  const csvt = parseCsvt((await readSiblingText(source, "csvt", context)) ?? "");
  const textRules = formatRules(options, decimal);
  const prj =
    options.declaredCrs === undefined ? await readPrj(source, context) : { crs: options.declaredCrs, notices: [] };
  const table: TableStart = {
    source: source.name,
    dialect: detected,
    names,
    hasHeader,
    samples,
    declared: names.map((_, c) => csvt[c] ?? null),
    textRules,
    crs: context.requestedCrs ?? prj.crs,
  };

  const { plan: geometry, candidates, notices: found } = await chooseGeometry(table, scanner, options, context);
  notices.push(...found);
  const geometryColumns = geometryColumnIndexes(geometry);
  const fieldCount = names.filter((_, c) => isUsed(c)).length;
  context.onFieldCount?.(fieldCount - (options.keepGeometryColumns ? 0 : geometryColumns.length));
  const srid = (geometry.kind === "text" ? options.srid : undefined) ?? detectSrid(geometry, samples);
  const crs = await resolveCrs(geometry, srid, samples, context, notices, prj);

  const rules = hasTypedCells ? { ...textRules, ...typedCellRules } : textRules;
  const dialect: Dialect = { delimiter, decimal, header: hasHeader, hasTypedCells, lines: head.lines, rules };
  const settings: ScanSettings = {
    encoding: head.encoding,
    isGuessed: head.guessed,
    dialect,
    columns: names.length,
    geometry,
    keepsGeometry: options.keepGeometryColumns,
    rows: rowsToScan(options),
    length,
  };
  const { scan, splits } = await scanFile(source, file, settings, context);

  if (head.guessed && head.encoding.name === fallbackEncoding) {
    notices.push(["encoding-assumed", undefined, "not UTF-8, read as Windows-1252; the option encoding names another"]);
  }
  const isKept = (c: number) => isUsed(c) && (!geometryColumns.includes(c) || options.keepGeometryColumns);
  const columns = inferColumns(table, scan, splits !== null, isKept, options, notices);
  // If only some rows were scanned, the reader counts them.
  if (splits) notices.push(...strayQuoteNotices(scan, head.lines), ...footerNotices(scan, columns));
  for (const notice of joinNotices(notices)) context.reportNotice(...notice);
  const isCountExact =
    geometry.kind === "none" || (geometry.kind === "xy" && geometryColumns.every((c) => scan.isNumeric(c)));
  return {
    encoding: head.encoding,
    ...dialect,
    columns,
    geometry,
    candidates,
    crs,
    srid,
    isSridGiven: options.srid !== undefined,
    features: splits && isCountExact ? scan.rows : null,
    splits,
    summary: splits && summarizeScan(columns, scan),
  };
}

const rowsToScan = ({ types, sample }: TableOptions): number =>
  types === "text" ? 1 : (sample ?? Number.POSITIVE_INFINITY);

function formatRules({ decimal: decimalOption, thousands, dates }: TableOptions, decimal: number): FormatRules {
  return {
    decimal,
    isDecimalGiven: decimalOption !== "auto",
    thousands: thousands === "auto" ? undefined : thousands === "none" ? null : thousands,
    monthFirst: dates === "auto" ? undefined : dates === "mdy",
  };
}

/** Joins notices of one code and field, of which a report keeps only the first example. */
function joinNotices(notices: Notices): Notices {
  const joined = new Map<string, Notices[number]>();
  for (const [code, field, example, count = 1] of notices) {
    const key = JSON.stringify([code, field]);
    const known = joined.get(key);
    const [, , before, earlier = 1] = known ?? [];
    joined.set(key, known ? [code, field, `${before}; ${example}`, earlier + count] : [code, field, example, count]);
  }
  return [...joined.values()];
}
