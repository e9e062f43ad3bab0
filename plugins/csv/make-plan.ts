import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import { type ChosenGeometry, chooseGeometry, type Numbered, withLetterO } from "./choose-geometry.js";
import { type ColumnForm, type FormRules, plainText } from "./column-form.js";
import { crsOf, crsOfPrj, sridOf, textOfSibling } from "./crs.js";
import { type Declared, parseCsvt } from "./csvt.js";
import { guessDecimal, guessDelimiter } from "./dialect.js";
import { doubtNotices, shortYearNotices, strayNotice } from "./doubts.js";
import { findHeader, unusedHeader } from "./find-header.js";
import { cellsOf, columnNames, firstRecord, type Notices } from "./first-record.js";
import { columnsOf } from "./geometry-columns.js";
import { decodedHead, fallback, type Head, headBehind, headWithoutLines, readHead } from "./head.js";
import { delimiterByte, type ReaderOptions } from "./options.js";
import { pairNotice, unusedColumn } from "./pair-notice.js";
import type { CsvPlan } from "./plan.js";
import { samplesOf } from "./samples.js";
import { Scanner } from "./scanner.js";
import { comma, point } from "./signs.js";
import { summaryOf } from "./summary.js";
import { WrongEncoding } from "./survey.js";
import { type SurveySettings, surveyFile } from "./survey-pieces.js";

/** Columns that a `.csvt` says to be the geometry, where no option says otherwise. */
function declaredGeometry(
  declared: readonly (Declared | null)[],
  options: ReaderOptions,
  decimal: number,
): Numbered | null {
  if (options.geometry !== undefined || options.x !== undefined) return null;
  const [x, y, z, column] = (["x", "y", "z", "wkt"] as const).map((word) => declared.indexOf(word));
  if (column! >= 0) return { kind: "text", column: column! };
  return x! >= 0 && y! >= 0
    ? { kind: "xy", x: x!, y: y!, z: z! >= 0 ? z! : null, numbers: { decimal, group: null } }
    : null;
}

/** Whether there is no geometry, and nothing is said of columns that may hold one. */
const isWithoutWord = ({ plan, candidates, notices }: ChosenGeometry): boolean =>
  plan.kind === "none" && candidates.length === 0 && notices.length === 0;

/**
 * Finds out everything about a file: one pass over its head, one over all of it.
 * @throws input-corrupt, field-missing, option-invalid
 */
export async function makePlan(
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
      head = await readHead(source, file, { name: fallback, mark: 0 }, true, context);
    }
  }
}

async function planWith(
  given: Head,
  source: Source,
  file: SourceFile,
  options: ReaderOptions,
  context: ReadContext,
  length: number,
): Promise<CsvPlan> {
  const top = headWithoutLines(given, options.skipLines ?? 0);
  const said = options.delimiter === "auto" ? top.delimiter : delimiterByte(options.delimiter);
  const guess =
    said === null ? guessDelimiter(top.bytes, top.whole) : { delimiter: said, columns: 0, share: 0, records: 0 };
  const isSearched = options.header === "auto" && options.skipLines === undefined;
  const below = isSearched ? findHeader(top, guess, said !== null) : null;
  const delimiter = below?.delimiter ?? guess.delimiter;
  const named = headBehind(top, below?.from ?? 0);
  // A row of units is passed like the header, which is the last row that is no data.
  const head = headBehind(top, below?.last ?? 0);
  const decimal =
    options.decimal === "auto"
      ? guessDecimal(head.bytes, delimiter, head.whole)
      : options.decimal === ","
        ? comma
        : point;
  const scanner = new Scanner(delimiter);
  const first = firstRecord(named, scanner, decimal, below ? { ...options, header: "yes" } : options);
  const notices: Notices = [...(below?.notices ?? [])];
  const names = first ? columnNames(first, notices) : [];
  const header = first?.isHeader ?? false;
  const samples = samplesOf(head, scanner, names.length, header);
  const csvt = parseCsvt((await textOfSibling(source, "csvt", context)) ?? "");
  const declared = names.map((_, c) => csvt[c] ?? null);
  const rules: FormRules = {
    decimal,
    isDecimalGiven: options.decimal !== "auto",
    thousands: options.thousands === "auto" ? undefined : options.thousands === "none" ? null : options.thousands,
    monthFirst: options.dates === "auto" ? undefined : options.dates === "mdy",
  };
  const ofPrj = await crsOfPrj(source, context);
  const choice = {
    source: source.name,
    names,
    samples,
    cellsOf: cellsOf(head, scanner, header),
    decimal,
    crs: context.statedCrs ?? ofPrj.crs,
  };
  const csvtGeometry = declaredGeometry(declared, options, decimal);
  const chosen = csvtGeometry
    ? { plan: withLetterO(csvtGeometry, choice, options), notices: [], candidates: [] }
    : await chooseGeometry(choice, options, rules, context);
  const { plan: geometry, candidates } = chosen;
  context.fieldsKnown?.(names.length - (options.keepGeometryColumns ? 0 : columnsOf(geometry).length));
  notices.push(...chosen.notices);
  const pairs = pairNotice(geometry, names, samples, options.geometry !== undefined);
  if (pairs) notices.push(pairs);
  else if (isWithoutWord(chosen) && options.geometry === undefined) {
    const unused = unusedColumn(names, samples) ?? (below ? null : unusedHeader(top, delimiter, header));
    if (unused) notices.push(unused);
  }
  const srid = (geometry.kind === "text" ? options.srid : undefined) ?? sridOf(geometry, samples);
  const crs = await crsOf(geometry, srid, samples, context, notices, ofPrj);

  const wanted = options.types === "text" ? 1 : (options.sample ?? Number.POSITIVE_INFINITY);
  const dialect = { delimiter, decimal, header, lines: head.lines, rules };
  const settings: SurveySettings = {
    encoding: head.encoding,
    isGuessed: head.guessed,
    dialect,
    columns: names.length,
    geometry,
    keepsGeometry: options.keepGeometryColumns,
    rows: wanted,
    length,
  };
  const { survey, splits } = await surveyFile(source, file, settings, context);
  if (head.guessed && head.encoding.name === fallback) {
    notices.push(["encoding-assumed", undefined, "not UTF-8, read as Windows-1252; the option encoding names another"]);
  }
  const used = new Set(columnsOf(geometry));
  const kept = (c: number) => !used.has(c) || options.keepGeometryColumns;
  const formOf = (c: number): ColumnForm => {
    const word = declared[c];
    if (word && word !== "x" && word !== "y" && word !== "z" && word !== "wkt") {
      const found = survey.formOf(c);
      return { ...found, type: word === "int32" && found.type === "int64" ? "int64" : word, doubt: null };
    }
    return options.types === "text" ? plainText : survey.formOf(c);
  };
  const forms = names.map((_, c) => formOf(c));
  notices.push(...doubtNotices(names, forms, kept, survey.hasSureDecimals || delimiter === comma));
  if (options.types !== "text") notices.push(...shortYearNotices(names, forms, samples, kept));
  const { strays } = survey;
  // Where not all rows were looked at, reading them counts.
  if (splits && strays.count > 0) {
    notices.push(["quote-stray", undefined, strayNotice(`from line ${head.lines + strays.line} on`), strays.count]);
  }
  for (const notice of notices) context.notice(...notice);
  const sure = geometry.kind === "none" || (geometry.kind === "xy" && [...used].every((c) => survey.isNumeric(c)));
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
    features: splits && sure ? survey.rows : null,
    splits,
    summary: splits && summaryOf(columns, survey),
  };
}
