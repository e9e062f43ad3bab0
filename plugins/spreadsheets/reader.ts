import { dirname, join } from "node:path";
import { createError } from "../../src/errors.js";
import { formatCount } from "../../src/format-count.js";
import type { Crs, Dataset, Layer, OmittedContent } from "../../src/model/layer.js";
import type { ReadContext, ReaderModule, Source, SourceFile } from "../../src/plugin/format.js";
import { ScratchSource } from "../shared/scratch-source.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { summarizeNames } from "../shared/table/columns/ambiguity-notices.js";
import { findPairsByName } from "../shared/table/geometry/coordinate-columns.js";
import { geometryColumnIndexes } from "../shared/table/geometry/geometry-columns.js";
import { makePlan } from "../shared/table/plan/make-plan.js";
import type { TablePlan } from "../shared/table/plan/plan.js";
import { scanPart } from "../shared/table/plan/scan-file.js";
import { createTableLayer } from "../shared/table/table-layer.js";
import { spoolOds } from "./ods/spool-sheets.js";
import type { ReadOptions } from "./options.js";
import { RowSpool } from "./read/row-spool.js";
import { type SheetExtras, type SpooledSheet, type SpoolSettings, uncalculatedCell } from "./read/sheet.js";
import { spoolXlsx } from "./xlsx/spool-sheets.js";

type SpoolSheets = (source: Source, settings: SpoolSettings, context: ReadContext) => Promise<SpooledSheet[]>;

/** A sheet that was inspected, as plain data for other threads. */
interface SheetPlan {
  readonly name: string;
  /** The records, in a temporary file. */
  readonly path: string;
  readonly bytes: number;
  readonly plan: TablePlan;
  /** Columns of coordinates with formulas without results. */
  readonly uncalculated: readonly string[];
}

type SpooledPart = Pick<SheetPlan, "name" | "path" | "bytes">;

const compoundSignature = 0xe011cfd0;

/** Refuses a workbook in a container that is no zip. */
async function refuseCompoundFile(source: Source): Promise<void> {
  await using file = await source.open();
  const head = await file.read(0, 4);
  if (head.length < 4 || head.readUInt32LE(0) !== compoundSignature) return;
  const reason = "it is encrypted, or in the older format .xls; save it as .xlsx without a password";
  throw createError("unsupported", { source: source.name, reason });
}

/** Names the file of records like the sheet, for messages. */
const spoolSource = (source: Source, { name, path, bytes }: SpooledPart) =>
  new ScratchSource(`${source.name}, sheet ${name}`, path, bytes);

/** A part of the scan of one sheet. */
interface SheetPart {
  readonly sheet: SpooledPart;
  readonly part: unknown;
}

/** The context of the survey of one sheet, whose parts other threads scan. */
function createSheetContext(context: ReadContext, sheet: SpooledPart): ReadContext {
  const { scanParts } = context;
  const own: ReadContext = Object.create(context);
  if (!scanParts) return own;
  async function* withSheet(parts: AsyncIterable<unknown>): AsyncGenerator<SheetPart> {
    for await (const part of parts) yield { sheet, part };
  }
  return Object.defineProperty(own, "scanParts", {
    value: (parts: AsyncIterable<unknown>) => scanParts.call(context, withSheet(parts)),
  });
}

async function parseCrs(definition: string | null, context: ReadContext): Promise<Crs | null> {
  if (definition === null) return null;
  try {
    return await context.crs.parse(definition);
  } catch (error) {
    context.reportNotice("crs-unreadable", undefined, `the property of the file: ${(error as Error).message}`);
    return null;
  }
}

function reportLostCells({ rows }: SpooledSheet, plan: TablePlan, context: ReadContext): void {
  for (const [key, { column, count, example }] of rows.lost) {
    const code = key.slice(0, key.indexOf(" "));
    context.reportLoss(code, plan.columns[column]?.name, example, count);
  }
}

/** Columns of coordinates, by the plan or else by their names, that have formulas without results. */
function findUncalculatedCoordinates({ rows }: SpooledSheet, { columns, geometry }: TablePlan): string[] {
  const names = columns.map(({ name }) => name);
  const coordinates =
    geometry.kind === "none" ? findPairsByName(names).flatMap(({ x, y }) => [x, y]) : geometryColumnIndexes(geometry);
  const found = new Set(coordinates.filter((column) => rows.lost.has(`${uncalculatedCell} ${column}`)));
  return [...found].map((column) => names[column]!);
}

type CountedExtra = Exclude<keyof SheetExtras, "hiddenColumns">;

const extraWords: Readonly<Record<CountedExtra, readonly [one: string, many: string]>> = {
  merged: ["merged range", "merged ranges"],
  hiddenRows: ["hidden row", "hidden rows"],
  links: ["hyperlink", "hyperlinks"],
  comments: ["comment", "comments"],
  drawings: ["drawing", "drawings"],
};

const countOf = (extras: SheetExtras, kind: CountedExtra) =>
  `${extras[kind]} ${extraWords[kind][extras[kind] === 1 ? 0 : 1]}`;

const readLikeOthers = (count: number) => `${count === 1 ? "was" : "were"} read like the others`;

const isIn =
  (column: number) =>
  ({ from, to }: SheetExtras["hiddenColumns"][number]) =>
    column >= from && column < to;

/** What a sheet has besides its cells. */
function describeExtras({ name, rows, extras, isHidden }: SpooledSheet, plan: TablePlan): OmittedContent[] {
  const found: OmittedContent[] = [];
  const note = (code: string, count: number, example: string) =>
    found.push({ kind: "note", code, layer: name, count, example });
  if (isHidden) note("sheet-hidden", 1, `the sheet "${name}" is hidden, and was read; --in hidden=no leaves it out`);
  if (rows.blankRows > 0)
    note("rows-blank", rows.blankRows, `${formatCount(rows.blankRows, "row")} without a value between others`);
  if (extras.merged > 0)
    note("cells-merged", extras.merged, `${countOf(extras, "merged")}: only the first cell of each has the value`);
  if (extras.hiddenRows > 0)
    note("rows-hidden", extras.hiddenRows, `${countOf(extras, "hiddenRows")} ${readLikeOthers(extras.hiddenRows)}`);
  const columns = plan.columns.filter((_, c) => rows.used[c] && extras.hiddenColumns.some(isIn(c)));
  if (columns.length > 0) {
    const names = summarizeNames(columns.map((column) => column.name));
    const hidden = columns.length === 1 ? "the hidden column" : "the hidden columns";
    note("columns-hidden", columns.length, `${hidden} ${names} ${readLikeOthers(columns.length)}`);
  }
  const others = (["links", "comments", "drawings"] as const).filter((kind) => extras[kind] > 0);
  if (others.length > 0) {
    const count = others.reduce((sum, kind) => sum + extras[kind], 0);
    const example = `a table has no place for ${others.map((kind) => countOf(extras, kind)).join(", ")}`;
    found.push({ kind: "loss", code: "sheet-content-left-out", layer: name, count, example });
  }
  return found;
}

/** Sheets in the order of the file. */
interface Inspection {
  readonly sheets: readonly SheetPlan[];
  readonly omitted: readonly OmittedContent[];
}

async function inspect(
  spoolSheets: SpoolSheets,
  source: Source,
  options: ReadOptions,
  context: ReadContext,
  length: number,
): Promise<Inspection> {
  await refuseCompoundFile(source);
  const folder = dirname(await context.createTemporaryPath("sheets"));
  let count = 0;
  const createRows = () => new RowSpool(source, join(folder, `rows-${++count}`), options.text === "keep");
  const spooled = await spoolSheets(source, { readsHidden: options.hidden, createRows }, context);
  const sheets: SheetPlan[] = [];
  const omitted: OmittedContent[] = [];
  for (const sheet of spooled) {
    const { name, rows, bytes } = sheet;
    if (rows.isEmpty) {
      const example = `the sheet "${name}" is empty, and no layer`;
      omitted.push({ kind: "note", code: "sheet-empty", layer: name, count: 1, example });
      continue;
    }
    const spool = { name, path: rows.path, bytes };
    const records = spoolSource(source, spool);
    await using file = await records.open();
    const own = createSheetContext(context, spool);
    const plan = await makePlan(
      records,
      file,
      {
        ...options,
        cells: options.text === "keep" ? "typed" : "spooled",
        usedColumns: rows.used,
        declaredCrs: await parseCrs(sheet.crs, context),
        delimiter: "comma",
        encoding: "auto",
      },
      own,
      length,
    );
    reportLostCells(sheet, plan, context);
    omitted.push(...describeExtras(sheet, plan));
    sheets.push({ ...spool, plan, uncalculated: findUncalculatedCoordinates(sheet, plan) });
  }
  if (sheets.length === 0) throw createError("input-empty", { source: source.name });
  return { sheets, omitted };
}

function createReader(spoolSheets: SpoolSheets) {
  return {
    /** @param length size of splits in bytes, for tests */
    async open(
      source: Source,
      options: ReadOptions,
      context: ReadContext,
      length: number = defaultSplitBytes,
    ): Promise<Dataset> {
      const found =
        (context.scanResult as Inspection | undefined) ??
        (await inspect(spoolSheets, source, options, context, length));
      const files: SourceFile[] = [];
      const layers: Layer[] = [];
      for (const sheet of found.sheets) {
        const records = spoolSource(source, sheet);
        const file = await records.open();
        files.push(file);
        const table = { source: records, file, plan: sheet.plan, length };
        const { uncalculated: uncalculatedCoordinates } = sheet;
        const layer = createTableLayer(sheet.name, table, context);
        layers.push({ ...layer, hasLocalSplits: true, uncalculatedCoordinates });
      }
      return {
        layers,
        omitted: found.omitted,
        scanResult: found,
        async [Symbol.asyncDispose]() {
          for (const file of files) await file.close();
        },
      };
    },
    async scanPart(source: Source, task: unknown, context: ReadContext): Promise<unknown> {
      const { sheet, part } = task as SheetPart;
      return scanPart(spoolSource(source, sheet), part, context);
    },
  } satisfies ReaderModule<ReadOptions>;
}

export const xlsxReader = createReader(spoolXlsx);
export const odsReader = createReader(spoolOds);
