import type { Crs, Dataset, Extent, Field, Layer, LayerMetadata } from "../../src/model/index.js";
import {
  createError,
  GeoferryError,
  type OptionValues,
  type ReadContext,
  type Source,
  type SourceFile,
  type Split,
} from "../../src/plugin/index.js";
import { CellDecoder } from "./dbf/cell-decoder.js";
import { MemoFile } from "./dbf/memo-file.js";
import { createTextDecoder, readTable, type TableInfo } from "./dbf/table.js";
import type { readOptions } from "./index.js";
import { readShpXml } from "./metadata.js";
import { headerBytes, isShapeHeader, readShapeHeader, type ShapeHeader } from "./shp/header.js";
import { geometryTypesOf } from "./shp/shape-types.js";
import { planShapeSplits, planTableSplits, type ShapeFiles, type ShapeSplit, truncationSplit } from "./shp/splits.js";
import { summarizeShapes } from "./shp/summary.js";
import { type LayerReadContext, readSplit, readSplitBytes, type SplitBytes } from "./split-reader.js";

export type ReadOptions = OptionValues<typeof readOptions>;

/** The results that one thread passes to the others. */
interface ShapefileScanResult {
  readonly shape: ShapeHeader | null;
  /** Number of records in the index; null without a usable index. */
  readonly indexed: number | null;
  readonly table: TableInfo | null;
  readonly crs: Crs | null;
}

/** The files of one Shapefile that exist. */
interface ShapefileFiles {
  readonly main: Source;
  readonly shp: SourceFile | null;
  readonly shx: SourceFile | null;
  readonly dbf: SourceFile | null;
  readonly dbfName: string;
  readonly memo: MemoFile | null;
}

const stemOf = (name: string) => name.replace(/^.*[\\/]/, "").replace(/\.[^.]+$/, "");

/** The .shp and .dbf that belong to a source, which may be either of them, or the index. */
async function findParts(source: Source): Promise<{ shp: Source | null; dbf: Source | null }> {
  await using file = await source.open();
  const head = await file.read(0, headerBytes);
  if (isShapeHeader(head) && /\.shx$/i.test(source.name)) {
    const shp = source.findSibling("shp");
    if (shp) return { shp, dbf: source.findSibling("dbf") };
    const reason = "it is the index of a Shapefile, but the .shp beside it is missing";
    throw createError("input-corrupt", { source: source.name, reason });
  }
  if (/\.dbf$/i.test(source.name)) return { shp: source.findSibling("shp"), dbf: source };
  if (readShapeHeader(head) !== null || /\.shp$/i.test(source.name)) {
    return { shp: source, dbf: source.findSibling("dbf") };
  }
  return { shp: null, dbf: source };
}

/** Reads the .prj; an invalid one is reported and leaves the layer without a CRS. */
async function readPrj(main: Source, context: ReadContext): Promise<Crs | null> {
  for (const extension of ["prj", "qpj"]) {
    const source = main.findSibling(extension);
    if (!source || source.size === 0) continue;
    await using file = await source.open();
    const text = (await file.read(0, 65_536))
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .trim();
    if (text === "") continue;
    try {
      return await context.crs.parse(text);
    } catch (error) {
      if (!(error instanceof GeoferryError)) throw error;
      context.reportNotice("prj-unknown", undefined, `${source.name} was ignored: ${error.message}`);
    }
  }
  return null;
}

/** Number of entries in the index, or null if it is missing or invalid. */
async function countIndexRecords(shx: SourceFile | null, main: Source, context: ReadContext): Promise<number | null> {
  if (!shx) return null;
  const head = await shx.read(0, headerBytes);
  if (!isShapeHeader(head)) {
    context.reportNotice(
      "shx-invalid",
      undefined,
      `${stemOf(main.name)}.shx is not a valid index; records were located by scanning the .shp`,
    );
    return null;
  }
  const declared = readShapeHeader(head)!.declaredBytes;
  const bytes = declared >= headerBytes ? Math.min(declared, shx.size) : shx.size;
  return Math.floor((bytes - headerBytes) / 8);
}

async function readShpHeader(shp: SourceFile, source: Source): Promise<ShapeHeader> {
  const head = await shp.read(0, headerBytes);
  if (head.length === 0) throw createError("input-empty", { source: source.name });
  const header = readShapeHeader(head);
  if (header) return header;
  if (head.length < headerBytes) {
    const place = { byte: head.length };
    throw createError("input-truncated", { source: source.name, place, reason: "a .shp has a header of 100 bytes" });
  }
  const reason = `a .shp starts with the number 9994, this file with ${head.readInt32BE(0)}`;
  throw createError("input-corrupt", { source: source.name, place: { byte: 0 }, reason });
}

/** Reads the table; with `skipErrors`, a damaged one leaves the shapes without attributes. */
async function readTableInfo(
  dbf: Source,
  file: SourceFile,
  alone: boolean,
  options: ReadOptions,
  context: ReadContext,
): Promise<TableInfo | null> {
  try {
    return await readTable(dbf, file, options.encoding, context);
  } catch (error) {
    const code = error instanceof GeoferryError ? error.code : null;
    if (alone || !context.skipErrors || code !== "input-corrupt") throw error;
    context.reportLoss(
      "attributes-unreadable",
      undefined,
      `${(error as Error).message}; the shapes have no attributes`,
    );
    const reason = "the table is damaged; shapes are read without attributes";
    context.skipRange({ source: dbf.name, place: { byte: 0 }, bytes: dbf.size, reason });
    return null;
  }
}

async function scanFiles(
  files: ShapefileFiles,
  sources: { shp: Source | null; dbf: Source | null },
  options: ReadOptions,
  context: ReadContext,
): Promise<ShapefileScanResult> {
  const shape = files.shp && sources.shp ? await readShpHeader(files.shp, sources.shp) : null;
  const indexed = shape ? await countIndexRecords(files.shx, files.main, context) : null;
  let table: TableInfo | null = null;
  if (files.dbf && sources.dbf) {
    table = await readTableInfo(sources.dbf, files.dbf, shape === null, options, context);
    if (table) table = await correctRowCount(table, files.dbf, indexed, context);
  } else context.reportNotice("dbf-missing", undefined, `${files.main.name} has no .dbf beside it, so no attributes`);
  if (!shape) reportMissingShp(files.main, context);
  return { shape, indexed, table, crs: await readPrj(files.main, context) };
}

/** Reports a table whose companions show that it belongs to a Shapefile. */
function reportMissingShp(main: Source, context: ReadContext): void {
  const present = ["shx", "prj", "qpj", "sbn", "sbx", "qix"].filter(
    (extension) => main.findSibling(extension) !== null,
  );
  if (present.length === 0) return;
  const companions = present.map((extension) => `.${extension}`).join(" and ");
  const example = `${main.name} has ${companions} beside it, as part of a Shapefile, but no .shp: it was read as a table without geometry; get the .shp, too`;
  context.reportNotice("shp-missing", undefined, example);
}

/**
 * A table with fewer rows than its header counts is truncated, unless all other evidence shows that the count is wrong.
 * If it has more rows, the extra rows count as soon as each has a shape.
 */
async function correctRowCount(
  table: TableInfo,
  file: SourceFile,
  indexed: number | null,
  context: ReadContext,
): Promise<TableInfo> {
  const { declaredRows, availableRows, header } = table;
  const wrong = `the header of the .dbf counts ${declaredRows} rows, but the file has ${availableRows}`;
  if (declaredRows < availableRows && indexed === availableRows) {
    context.reportNotice("record-count-mismatch", undefined, wrong);
    return { ...table, declaredRows: availableRows };
  }
  if (declaredRows <= availableRows) return table;
  const end = header.headerBytes + availableRows * header.recordBytes;
  const ended = file.size === end + 1 && (await file.read(end, 1))[0] === 0x1a;
  if (!ended && indexed !== availableRows) return table;
  context.reportNotice("record-count-mismatch", undefined, wrong);
  return { ...table, declaredRows: availableRows };
}

function headerExtent(shape: ShapeHeader | null): Extent | null {
  if (!shape) return null;
  const [minX, minY, maxX, maxY] = shape.box;
  const known = shape.box.every(Number.isFinite) && minX <= maxX && minY <= maxY;
  // Some writers leave zeros in empty files.
  return known && shape.declaredBytes > headerBytes ? shape.box : null;
}

class ShapefileDataset implements Dataset {
  readonly layers: readonly Layer[];

  constructor(
    private readonly files: ShapefileFiles,
    readonly scanResult: ShapefileScanResult,
    facts: LayerReadContext,
    metadata: LayerMetadata | undefined,
  ) {
    const { shape, indexed, table, crs } = scanResult;
    const { shp, dbf } = files;
    const rows = table ? Math.min(table.declaredRows, table.availableRows) : null;
    const fields: Field[] = table ? table.fields.map((field) => field.field) : [];
    if (facts.options.fid !== undefined) fields.push({ name: facts.options.fid, type: "int32" });
    const reported = new Set<string>();
    const once = (code: string, example: string) => {
      if (reported.has(code)) return;
      reported.add(code);
      facts.context.reportNotice(code, undefined, example);
    };
    const shapeFiles: ShapeFiles | null = shp && {
      shp,
      shx: indexed === null ? null : files.shx,
      indexed: indexed ?? 0,
      declaredBytes: shape!.declaredBytes,
      tableRows: rows,
      rowBytes: table?.header.recordBytes ?? 0,
      tableTruncated: table !== null && table.declaredRows > table.availableRows,
      onIndexMismatch: (record) =>
        once(
          "shx-invalid",
          `the .shx does not match the .shp from record ${record} on; records were located by scanning the .shp`,
        ),
      onUnindexed: (byte) =>
        once("shp-unindexed", `records from byte ${byte} of the .shp on are not in the .shx and were skipped`),
      onGap: (record, byte) =>
        once("shp-gap", `record ${record} does not start at byte ${byte}; it was located by scanning`),
    };
    async function* findSplits(): AsyncGenerator<ShapeSplit> {
      if (shapeFiles) yield* planShapeSplits(shapeFiles);
      else {
        yield* planTableSplits(0, rows!, table!.header.recordBytes, null);
        if (table!.declaredRows > table!.availableRows) yield truncationSplit("dbf", table!.availableRows);
      }
    }
    let found: readonly ShapeSplit[] | null = null;
    /** Found once, then reused. */
    async function* splits(): AsyncGenerator<ShapeSplit> {
      if (found) {
        yield* found;
        return;
      }
      const finding: ShapeSplit[] = [];
      for await (const split of findSplits()) {
        finding.push(split);
        yield split;
      }
      found = finding;
    }
    this.layers = [
      {
        name: stemOf(files.main.name),
        crs,
        fields,
        geometryTypes: shape ? geometryTypesOf(shape.shapeType) : [],
        featureCount: shape && indexed === null ? rows : Math.max(indexed ?? 0, rows ?? 0),
        extent: headerExtent(shape),
        ...(metadata && { metadata }),
        bytes: (shp?.size ?? 0) + (dbf?.size ?? 0),
        splits,
        async summary() {
          if (!shp || !shapeFiles || facts.options.fid !== undefined) return null;
          return summarizeShapes(splits(), shp, files.shx, table, dbf);
        },
        prefetch: (split: Split) => readSplitBytes(facts, split as ShapeSplit),
        async *batches(split?: Split, fetched?: unknown) {
          if (split) yield* readSplit(facts, split as ShapeSplit, 0, fetched as SplitBytes | undefined);
          else for await (const each of splits()) yield* readSplit(facts, each, each.first);
        },
      },
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { shp, shx, dbf, memo } = this.files;
    await Promise.all([shp?.close(), shx?.close(), dbf?.close(), memo?.close()]);
  }
}

/**
 * Opens a `.shp` with its sibling files, or a lone `.dbf` as a table without geometry.
 * @throws input-empty, input-corrupt, input-truncated, option-invalid
 */
export async function open(source: Source, options: ReadOptions, context: ReadContext): Promise<Dataset> {
  const sources = await findParts(source);
  const { shp, dbf } = sources;
  const opened: { close(): Promise<void> }[] = [];
  const openFile = async (file: Source | null) => {
    if (!file) return null;
    const handle = await file.open();
    opened.push(handle);
    return handle;
  };
  try {
    const main = shp ?? dbf!;
    const shapeFiles = { shp: await openFile(shp), shx: await openFile(shp?.findSibling("shx") ?? null) };
    const withoutMemo = { main, ...shapeFiles, dbf: await openFile(dbf), dbfName: dbf?.name ?? "", memo: null };
    const scanResult =
      (context.scanResult as ShapefileScanResult | undefined) ??
      (await scanFiles(withoutMemo, sources, options, context));
    const { table } = scanResult;
    const needsMemo = table?.fields.some((field) => field.cell === "memo" || field.cell === "object");
    const memo = table && needsMemo ? await MemoFile.open(dbf!, table.header) : null;
    if (memo) opened.push(memo);
    const files: ShapefileFiles = { ...withoutMemo, memo };
    const facts: LayerReadContext = {
      ...files,
      shpName: shp?.name ?? "",
      shpTruncated: scanResult.shape !== null && scanResult.shape.declaredBytes > (files.shp?.size ?? 0),
      shapeType: scanResult.shape?.shapeType ?? 0,
      table,
      decoder: table && new CellDecoder(table.header, createTextDecoder(table.encoding, context)),
      options,
      context,
    };
    const metadata = context.scanResult === undefined ? await readShpXml(main, context) : undefined;
    return new ShapefileDataset(files, scanResult, facts, metadata);
  } catch (error) {
    await Promise.all(opened.map((file) => file.close()));
    throw error;
  }
}
