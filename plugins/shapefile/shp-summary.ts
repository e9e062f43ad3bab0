import {
  doubleBytes,
  emptyKind,
  type FieldSummary,
  type GeometryType,
  giveBack,
  Kind,
  type LayerSummary,
} from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/index.js";
import type { TableFacts } from "./dbf-table.js";
import { geometryTypesOf, plainShape, Shape } from "./shape-types.js";
import { type Contents, readContents } from "./shp-contents.js";
import type { ShapeSplit } from "./shp-splits.js";

/** Whether the widths that the table declares hold its texts as UTF-8 too. */
const isUtf8 = (table: TableFacts | null): boolean =>
  table === null || table.encoding === null || /^utf-?8$/i.test(table.encoding);

function fieldSummary({ field }: TableFacts["fields"][number], rows: number): FieldSummary {
  return { ...field, values: rows, maxBytes: field.width ?? doubleBytes };
}

/** What a cell has in it where it holds a value; other types are taken to hold one. */
const valueIn: Readonly<Record<string, RegExp>> = { N: /\d/, F: /\d/, D: /[1-9]/, L: /[TtFfYyNn01]/ };

/** Rows that are looked at for values. */
const sampleRows = 1000;

/**
 * Whether every column has a value, as far as the first rows show. Text needs none: its type is the same without.
 * A column that has none in them is worth a full reading, since other formats tell its type by its values.
 */
async function everyColumnHasValue({ header, availableRows }: TableFacts, dbf: SourceFile): Promise<boolean> {
  const rows = Math.min(availableRows, sampleRows);
  const bytes = await dbf.read(header.headerBytes, rows * header.recordBytes);
  return header.columns.every(({ type, offset, width }) => {
    const pattern = valueIn[type];
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
  for await (const { lost, contents } of readAhead(splits, shp, shx)) {
    const { bytes, starts, beyond } = contents;
    if (lost !== null || beyond.size > 0) return null;
    for (const start of starts) {
      const type = start < 0 || start + 4 > bytes.length ? Shape.null : bytes.readInt32LE(start);
      if (type !== plainShape(type) || type === Shape.multipatch) return null;
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    giveBack(bytes.buffer);
  }
  return counts;
}

interface ReadSplit {
  readonly lost: ShapeSplit["lost"];
  readonly contents: Contents;
}

/** Reading takes longer than looking: so many splits are under way. */
const splitsAhead = 3;

/** The contents of the splits, some being read while the one before them is looked at. */
async function* readAhead(
  splits: AsyncIterable<ShapeSplit>,
  shp: SourceFile,
  shx: SourceFile | null,
): AsyncGenerator<ReadSplit> {
  const ahead: Promise<ReadSplit>[] = [];
  for await (const split of splits) {
    const next = readContents(split, shp, shx).then((contents) => ({ lost: split.lost, contents }));
    next.catch(() => undefined);
    ahead.push(next);
    if (ahead.length > splitsAhead) yield await ahead.shift()!;
  }
  for (const next of ahead) yield await next;
}

/**
 * What a Shapefile says of all its features without decoding them: the widths of its table, and the type in each
 * record's first four bytes. Null where that is not enough.
 */
export async function shapeSummary(
  splits: AsyncIterable<ShapeSplit>,
  shp: SourceFile,
  shx: SourceFile | null,
  table: TableFacts | null,
  dbf: SourceFile | null,
): Promise<LayerSummary | null> {
  const memo = table?.fields.some((field) => field.field.width === undefined && field.field.type === "text");
  if (!isUtf8(table) || memo) return null;
  if (table && dbf && !(await everyColumnHasValue(table, dbf))) return null;
  const counts = await countTypes(splits, shp, shx);
  if (!counts) return null;
  const kinds = Array.from({ length: 8 }, emptyKind);
  let rows = 0;
  for (const [type, count] of counts) {
    rows += count;
    const types: readonly (GeometryType | "none")[] = type === Shape.null ? ["none"] : (geometryTypesOf(type) ?? []);
    for (const name of types) kinds[Kind[name]]!.count += count;
  }
  return {
    featureCount: rows,
    fields: table?.fields.map((field) => fieldSummary(field, rows)) ?? [],
    kinds,
    hasZ: false,
    hasM: false,
    extent: null,
    idType: null,
    idBytes: 0,
  };
}
