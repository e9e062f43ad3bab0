import { isAscii } from "node:buffer";
import { createError, type ReadContext, type Source, type SourceFile } from "../../../src/plugin/index.js";
import { encodingOfLanguageId, encodingOfName } from "./encodings.js";
import { createTableFields, type TableField } from "./fields.js";
import { type DbfColumn, type DbfHeader, readDbfHeader } from "./header.js";
import { createTextCellDecoder, isUtf8Cell, type TextCellDecoder } from "./text-cells.js";

/** Properties of a table determined before its rows are read; plain data that crosses between threads. */
export interface TableInfo {
  readonly header: DbfHeader;
  readonly fields: readonly TableField[];
  /** The decoder's name; null if nothing declares it and the sampled rows are ASCII only. */
  readonly encoding: string | null;
  /** The row count in the header, and the number of whole rows in the file. */
  readonly declaredRows: number;
  readonly availableRows: number;
}

/** The longest header that a 16-bit length allows. */
const maxHeaderBytes = 65_536;
/** Bytes sampled to detect the encoding, spread evenly over the rows. */
const sampleBytes = 131_072;
const sampleCount = 16;

const fallbackEncoding = "windows-1252";

/** Creates the text decoder for a table with these properties. */
export function createTextDecoder(encoding: string | null, context: ReadContext): TextCellDecoder {
  return createTextCellDecoder(encoding, context.getTextDecoder(encoding ?? fallbackEncoding));
}

/** A decoder's name that is supported, or null. */
function knownEncoding(name: string, context: ReadContext): string | null {
  try {
    context.getTextDecoder(name)(new Uint8Array([65, 66]));
    return name;
  } catch {
    return null;
  }
}

async function readCpg(source: Source, context: ReadContext): Promise<string | null> {
  const file = source.findSibling("cpg");
  if (!file || file.size === 0) return null;
  await using open = await file.open();
  const text = (await open.read(0, 256)).toString("utf8");
  const name = encodingOfName(text);
  const found = name === undefined ? null : knownEncoding(name, context);
  if (found === null) {
    const shown = text.split("\n")[0]!.trim().slice(0, 40);
    context.reportNotice(
      "cpg-unknown",
      undefined,
      `${file.name} names an unknown encoding, "${shown}", and was ignored`,
    );
  }
  return found;
}

async function chooseEncoding(
  source: Source,
  option: string | undefined,
  header: DbfHeader,
  rows: readonly Buffer[],
  context: ReadContext,
): Promise<string | null> {
  if (option !== undefined) {
    const name = encodingOfName(option);
    const found = name === undefined ? null : knownEncoding(name, context);
    if (found === null)
      throw createError("option-invalid", { option: "encoding", value: option, expected: "an encoding" });
    return found;
  }
  const named = await readCpg(source, context);
  const declared = named ?? encodingOfLanguageId(header.languageByte);
  if (declared === undefined || knownEncoding(declared, context) === null) {
    const found = findHighText(header, rows);
    if (found?.encoding === fallbackEncoding) {
      const shown = context.getTextDecoder(fallbackEncoding)(found.bytes).replace(/\0.*$/s, "").trim().slice(0, 40);
      const example = `neither a .cpg nor the .dbf names the encoding, and the text is not UTF-8: read as Windows-1252, as ${JSON.stringify(shown)}; if that is wrong, --in encoding=NAME names another`;
      context.reportNotice("encoding-assumed", undefined, example);
    }
    return found?.encoding ?? null;
  }
  // Text in another encoding is almost never valid UTF-8 by chance.
  if (!isUtf8Name(declared) && findHighText(header, rows)?.encoding === "utf-8") {
    const says = named === null ? "the .dbf" : "the .cpg";
    const example = `${says} says ${declared}, although all text beyond ASCII is UTF-8; --in encoding=utf-8 reads it so`;
    context.reportNotice("encoding-contradicted", undefined, example);
  }
  return declared;
}

const isUtf8Name = (name: string): boolean => /^utf-?8$/i.test(name);

/**
 * The first sampled text that is not valid UTF-8, with the fallback encoding; the first one beyond ASCII, with UTF-8, if
 * all of it is valid; null if all of it is ASCII.
 */
function findHighText(header: DbfHeader, samplesOfRows: readonly Buffer[]): { encoding: string; bytes: Buffer } | null {
  const texts = header.columns.filter((column) => column.type === "C" || column.type === "V");
  let utf8: Buffer | null = null;
  for (const column of header.columns) {
    const bytes = Buffer.from(column.rawName.replace(/\0.*$/s, ""), "latin1");
    if (!isUtf8Cell(bytes, 0, bytes.length)) return { encoding: fallbackEncoding, bytes };
    if (!isAscii(bytes)) utf8 ??= bytes;
  }
  for (const rows of samplesOfRows) {
    if (isAscii(rows)) continue;
    for (let start = 0; start + header.recordBytes <= rows.length; start += header.recordBytes) {
      for (const { offset, width } of texts) {
        const from = start + offset;
        const zero = rows.subarray(from, from + width).indexOf(0);
        const bytes = rows.subarray(from, zero < 0 ? from + width : from + zero);
        if (!isUtf8Cell(rows, from, from + bytes.length)) return { encoding: fallbackEncoding, bytes };
        if (!utf8 && !isAscii(bytes)) utf8 = bytes;
      }
    }
  }
  return utf8 && { encoding: "utf-8", bytes: utf8 };
}

/** Columns declared as integers that hold fractions or exponents in the samples. */
function findFractionalColumns(header: DbfHeader, samplesOfRows: readonly Buffer[]): Set<DbfColumn> {
  const found = new Set<DbfColumn>();
  const whole = header.columns.filter((column) => column.type === "N" && column.decimals === 0);
  for (const rows of samplesOfRows) {
    for (let start = 0; start + header.recordBytes <= rows.length; start += header.recordBytes) {
      for (const column of whole) {
        const to = start + column.offset + column.width;
        for (let at = start + column.offset; at < to; at++) {
          const byte = rows[at]!;
          const fraction = (byte === 46 || byte === 44) && at + 1 < to && rows[at + 1]! > 48 && rows[at + 1]! <= 57;
          if (fraction || byte === 69 || byte === 101) found.add(column);
        }
      }
    }
  }
  return found;
}

async function readSamples(file: SourceFile, header: DbfHeader, rows: number): Promise<Buffer[]> {
  const perSample = Math.max(1, Math.floor(sampleBytes / header.recordBytes));
  const count = rows <= perSample * sampleCount ? Math.ceil(rows / perSample) : sampleCount;
  const taken: Buffer[] = [];
  for (let s = 0; s < count; s++) {
    const first = count < sampleCount ? s * perSample : Math.floor(((rows - perSample) / (sampleCount - 1)) * s);
    const length = Math.min(perSample, rows - first) * header.recordBytes;
    taken.push(await file.read(header.headerBytes + first * header.recordBytes, length));
  }
  return taken;
}

/** Inspects a table by its header, its `.cpg` and samples of its rows. @throws input-corrupt */
export async function readTable(
  source: Source,
  file: SourceFile,
  encodingOption: string | undefined,
  context: ReadContext,
): Promise<TableInfo> {
  const header = readDbfHeader(await file.read(0, maxHeaderBytes), file.size);
  if (typeof header === "string") throw createError("input-corrupt", { source: source.name, reason: header });
  const described = 1 + header.columns.reduce((sum, { width }) => sum + width, 0);
  if (described < header.recordBytes && header.nullFlagsOffset < 0) {
    const example = `the columns of ${source.name} take ${described} bytes, its rows have ${header.recordBytes}; bytes after the columns were ignored`;
    context.reportNotice("extra-rows", undefined, example);
  }
  const availableRows = Math.floor((file.size - header.headerBytes) / header.recordBytes);
  const rows = Math.min(header.records, availableRows);
  const taken = await readSamples(file, header, rows);
  const encoding = await chooseEncoding(source, encodingOption, header, taken, context);
  const text = createTextDecoder(encoding, context);
  const decodeName = (raw: string) => {
    const bytes = Buffer.from(raw, "latin1");
    const ascii = encoding === null || text.decode(Buffer.from("A")) === "A";
    const zero = ascii ? bytes.indexOf(0) : -1;
    const name = text.decode(zero < 0 ? bytes : bytes.subarray(0, zero));
    return name
      .replace(/\0.*$/s, "")
      .replace(/^\uFEFF/, "")
      .trim();
  };
  const fields = createTableFields(header, findFractionalColumns(header, taken), decodeName, (from, to) => {
    context.reportNotice(
      "field-renamed",
      to,
      `a field name "${from}" is empty or repeated; the field was renamed to "${to}"`,
    );
  });
  return { header, fields, encoding, declaredRows: header.records, availableRows };
}
