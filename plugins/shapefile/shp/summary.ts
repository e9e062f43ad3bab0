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

/** Whether the widths that the table declares hold its texts as UTF-8 too. */
const holdsUtf8 = (table: TableInfo | null): boolean =>
  table === null || table.encoding === null || /^utf-?8$/i.test(table.encoding);

function summarizeField({ field }: TableInfo["fields"][number], rows: number): FieldSummary {
  return { ...field, values: rows, maxBytes: field.width ?? maxDoubleTextBytes };
}

/** What a cell has in it where it holds a value; other types are taken to hold one. */
const valuePatternByType: Readonly<Record<string, RegExp>> = { N: /\d/, F: /\d/, D: /[1-9]/, L: /[TtFfYyNn01]/ };

/** Rows that are looked at for values. */
const sampleRows = 1000;

/**
 * Whether every column has a value, as far as the first rows show. Text needs none: its type is the same without.
 * A column that has none in them is worth a full reading, since other formats tell its type by its values.
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

/** How many records each shape type has; null where one has heights or measures, which only decoding tells. */
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

/** Reading takes longer than looking: so many splits are under way. */
const readAheadSplits = 3;

/** The contents of the splits, some being read while the one before them is looked at. */
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
 * What a Shapefile says of all its features without decoding them: the widths of its table, and the type in each
 * record's first four bytes. Null where that is not enough.
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
