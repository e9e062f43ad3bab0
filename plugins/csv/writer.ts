import type { Assembler, Encoder, ReadBack, Sink, TargetLayer, WriteContext } from "../../src/plugin/format.js";
import { maxListedNames, summarizeNames } from "../shared/table/columns/ambiguity-notices.js";
import { CellTypeFlag, classifyCell } from "../shared/table/columns/classify-cell.js";
import { csvtWordOf } from "../shared/table/columns/csvt.js";
import { createLayout, findMisleadingFields, type TableLayout } from "../shared/table/layout.js";
import { commaByte, pointByte } from "../shared/table/records/signs.js";
import { TextBuffer } from "../shared/text/text-buffer.js";
import { type WriteOptions, writerDelimiterByte } from "./options.js";
import { type CsvChunk, CsvEncoder } from "./write/encoder.js";
import { isFormula, TextCellWriter } from "./write/text-cells.js";

/** Characters that a reader may take for the delimiter; names that contain them are quoted. */
const delimiterPattern = /[,;|\t]/;

/** A name, prefixed with an apostrophe if a spreadsheet would run it. */
function guardFormula(name: string, context: WriteContext): string {
  const bytes = Buffer.from(name);
  const isNumber = classifyCell(bytes, 0, bytes.length, pointByte) !== CellTypeFlag.text;
  if (isNumber || !isFormula(bytes, 0, bytes.length)) return name;
  context.reportLoss("formula-escaped", name, "an apostrophe was put before the name of the column");
  return `'${name}`;
}

/** The header row, written so that a reader recognizes it as a header and finds its delimiter. */
function headerLine(layout: TableLayout, options: WriteOptions, context: WriteContext): Uint8Array {
  const out = new TextBuffer(1024);
  const delimiter = writerDelimiterByte(options.delimiter);
  const cells = new TextCellWriter(out, delimiter, options, context);
  const fieldNames = layout.fields.map(({ name }) => (options.escapeFormulas ? guardFormula(name, context) : name));
  const names = [...layout.geometryNames, ...fieldNames];
  const flags = names.map((name) => {
    const bytes = Buffer.from(name);
    return (
      classifyCell(bytes, 0, bytes.length, delimiter === commaByte ? pointByte : commaByte) &
      classifyCell(bytes, 0, bytes.length, pointByte)
    );
  });
  const onlyNumbers = flags.every((flag) => flag !== CellTypeFlag.text);
  names.forEach((name, n) => {
    if (n > 0) out.byte(delimiter);
    const looksLikeData = onlyNumbers || (flags[n] !== CellTypeFlag.text && !/^\d+$/.test(name));
    const needsQuotes =
      options.quote === "minimal" && (looksLikeData || delimiterPattern.test(name) || name !== name.trim());
    const bytes = Buffer.from(name);
    if (!needsQuotes) cells.plain(bytes, 0, bytes.length, name);
    else {
      out.byte(34);
      out.utf8(name.replaceAll('"', '""').replaceAll("\0", ""));
      out.byte(34);
    }
  });
  if (options.eol === "crlf") out.byte(13);
  out.byte(10);
  return out.finish();
}

function csvtLine(layout: TableLayout): string {
  const geometry = {
    xy: ["CoordX", "CoordY", ...(layout.z ? ["CoordZ"] : [])],
    wkt: ["WKT"],
    wkb: ["String"],
    geojson: ["String"],
    none: [],
  }[layout.mode];
  const words = [...geometry, ...layout.fields.map((field) => csvtWordOf(field.type))];
  return `${words.map((word) => `"${word}"`).join(",")}\n`;
}

const isWgs84 = (layer: TargetLayer, context: WriteContext) =>
  layer.crs === null || layer.crs.id === "EPSG:4326" || layer.crs.id === context.crs.wgs84.id;

/** Writes the sibling .prj, without which readers would assume WGS84. */
async function writeCrs(sink: Sink, layer: TargetLayer, streamed: boolean, context: WriteContext): Promise<void> {
  const wkt = streamed ? null : await context.crs.toWkt(layer.crs!, "esri");
  if (wkt === null) {
    const example = streamed
      ? `a stream has no .prj file to say that the coordinates are in ${layer.crs!.name}; write to a file, or omit --target-crs and --no-reproject`
      : `no .prj file can say ${layer.crs!.name}; name another system with --target-crs, or choose another format`;
    context.reportLoss("crs-undeclared", undefined, example);
    return;
  }
  const file = await sink.create("prj");
  await file.write(Buffer.from(wkt));
}

/** Reports properties that the file does not declare although no data is missing. */
function reportUndeclared(layer: TargetLayer, layout: TableLayout, options: WriteOptions, context: WriteContext): void {
  const misleading = findMisleadingFields(layout).map(({ name }) => name);
  reportColumns(
    context,
    "geometry-name",
    misleading,
    "readers may take this column for a geometry; --in geometry=none forbids it",
  );
  if (!options.header)
    for (const { name } of layout.fields) context.reportLoss("name-dropped", name, "header=no omits it");
  if (options.csvt) return;
  const undeclared = new Map<string, string[]>();
  for (const { name, type, values } of layer.summary?.fields ?? []) {
    if (values > 0 || type === "text" || type === "json" || type === "binary") continue;
    const names = undeclared.get(type);
    if (names) names.push(name);
    else undeclared.set(type, [name]);
  }
  for (const [type, names] of undeclared) {
    const example = `${type}, but without a value to tell it; csvt=yes declares it`;
    reportColumns(context, "type-undeclared", names, example);
  }
}

/** One notice per column for a few columns, one with their count for many. */
function reportColumns(context: WriteContext, code: string, names: readonly string[], example: string): void {
  if (names.length > maxListedNames)
    context.reportNotice(code, undefined, `${summarizeNames(names)}: ${example}`, names.length);
  else for (const name of names) context.reportNotice(code, name, example);
}

export async function createEncoder(
  layer: TargetLayer,
  options: WriteOptions,
  context: WriteContext,
): Promise<Encoder<CsvChunk>> {
  return new CsvEncoder(layer, options, context);
}

export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<CsvChunk>> {
  const layer = layers[0]!;
  const layout = createLayout(layer, options);
  const file = await sink.create();
  const streamed = file.path === null;
  if (options.bom) await file.write(Buffer.from([0xef, 0xbb, 0xbf]));
  if (options.header) await file.write(headerLine(layout, options, context));
  if (layout.mode !== "none" && !isWgs84(layer, context)) await writeCrs(sink, layer, streamed, context);
  if (options.csvt && !streamed) {
    const types = await sink.create("csvt");
    await types.write(Buffer.from(csvtLine(layout)));
  }
  reportUndeclared(layer, layout, options, context);
  return {
    append: (chunk) => file.write(chunk.bytes),
    finish: async () => {},
  };
}

/** Everything is read as text, from the columns that the layout has. */
export function readBack([layer]: readonly TargetLayer[], options: WriteOptions): ReadBack {
  const layout = createLayout(layer!, options);
  const names = options.header ? layout.geometryNames : layout.geometryNames.map((_, c) => `field_${c + 1}`);
  const [first = "", second = "", third] = names;
  const geometry: Record<string, string> =
    layout.mode === "xy"
      ? { x: first, y: second, ...(third === undefined ? {} : { z: third }) }
      : { geometry: layout.mode === "none" ? "none" : first };
  return {
    readerOptions: {
      ...geometry,
      delimiter: options.delimiter,
      decimal: ".",
      header: options.header ? "yes" : "no",
      skipLines: "0",
      encoding: "utf-8",
      types: "text",
    },
    decimals: { xy: options.precision ?? null, z: layout.mode === "geojson" ? (options.precision ?? null) : null },
    types: "none",
    isNameless: !options.header,
  };
}
