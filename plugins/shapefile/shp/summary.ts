import {
  emptyKindSummary,
  type FieldSummary,
  type GeometryType,
  Kind,
  type LayerSummary,
  maxDoubleTextBytes,
  releaseBuffer,
} from "../../../src/model/index.js";
import type { SourceFile } from "../../../src/plugin/index.js";
import type { TableInfo } from "../dbf/table.js";
import { readContents, type ShapeContents } from "./contents.js";
import { geometryTypesOf, plainShapeType, ShapeType } from "./shape-types.js";
import type { ShapeSplit } from "./splits.js";

/** Whether column widths are valid for the texts in UTF-8. */
const holdsUtf8 = (table: TableInfo | null): boolean =>
  table === null || table.encoding === null || /^utf-?8$/i.test(table.encoding);

function summarizeField({ field }: TableInfo["fields"][number], rows: number): FieldSummary {
  return { ...field, values: rows, maxBytes: field.width ?? maxDoubleTextBytes };
}

/** Matches cells that hold a value; cells of other types are assumed to hold one. */
const valuePatternByType: Readonly<Record<string, RegExp>> = { N: /\d/, F: /\d/, D: /[1-9]/, L: /[TtFfYyNn01]/ };

/** Number of rows to check for values. */
const sampleRows = 1000;

/**
 * Whether every column has a value in the first rows. If not, a full scan is worthwhile: formats without a schema infer
 * types from values. Text columns need none.
 */
async function hasValueInEveryColumn({ header, availableRows }: TableInfo, dbf: SourceFile): Promise<boolean> {
  const rows = Math.min(availableRows, sampleRows);
  const bytes = await dbf.read(header.headerBytes, rows * header.recordBytes);
  return header.columns.every(({ type, offset, width }) => {
    const pattern = valuePatternByType[type];
    if (!pattern) return true;
    for (let at = offset; at + width <= bytes.length; at += header.recordBytes) {
      if (pattern.test(bytes.toString("latin1", at, at + width))) return true;
    }
    return false;
  });
}

/** Counts records by shape type; null if one has heights or measures, which need decoding. */
async function countTypes(
  splits: AsyncIterable<ShapeSplit>,
  shp: SourceFile,
  shx: SourceFile | null,
): Promise<Map<number, number> | null> {
  const counts = new Map<number, number>();
  for await (const { lost, contents } of prefetchContents(splits, shp, shx)) {
    const { bytes, starts, beyond } = contents;
    if (lost !== null || beyond.size > 0) return null;
    for (const start of starts) {
      const type = start < 0 || start + 4 > bytes.length ? ShapeType.null : bytes.readInt32LE(start);
      if (type !== plainShapeType(type) || type === ShapeType.multipatch) return null;
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    releaseBuffer(bytes.buffer);
  }
  return counts;
}

interface ReadSplit {
  readonly lost: ShapeSplit["lost"];
  readonly contents: ShapeContents;
}

/** Number of splits to prefetch: reading takes longer than counting. */
const readAheadSplits = 3;

/** Yields the contents of the splits, prefetching the following ones. */
async function* prefetchContents(
  splits: AsyncIterable<ShapeSplit>,
  shp: SourceFile,
  shx: SourceFile | null,
): AsyncGenerator<ReadSplit> {
  const ahead: Promise<ReadSplit>[] = [];
  for await (const split of splits) {
    const next = readContents(split, shp, shx).then((contents) => ({ lost: split.lost, contents }));
    next.catch(() => undefined);
    ahead.push(next);
    if (ahead.length > readAheadSplits) yield await ahead.shift()!;
  }
  for (const next of ahead) yield await next;
}

/**
 * Summarizes a Shapefile without decoding it, from column widths and the shape type of each record. Null if that is not
 * enough.
 */
export async function summarizeShapes(
  splits: AsyncIterable<ShapeSplit>,
  shp: SourceFile,
  shx: SourceFile | null,
  table: TableInfo | null,
  dbf: SourceFile | null,
): Promise<LayerSummary | null> {
  const memo = table?.fields.some((field) => field.field.width === undefined && field.field.type === "text");
  if (!holdsUtf8(table) || memo) return null;
  if (table && dbf && !(await hasValueInEveryColumn(table, dbf))) return null;
  const counts = await countTypes(splits, shp, shx);
  if (!counts) return null;
  const kinds = Array.from({ length: 8 }, emptyKindSummary);
  let rows = 0;
  for (const [type, count] of counts) {
    rows += count;
    const types: readonly (GeometryType | "none")[] =
      type === ShapeType.null ? ["none"] : (geometryTypesOf(type) ?? []);
    for (const name of types) kinds[Kind[name]]!.count += count;
  }
  return {
    featureCount: rows,
    fields: table?.fields.map((field) => summarizeField(field, rows)) ?? [],
    kinds,
    hasZ: false,
    hasM: false,
    extent: null,
    idType: null,
    maxIdBytes: 0,
  };
}
