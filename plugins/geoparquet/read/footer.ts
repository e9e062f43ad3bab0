import { type FileMetaData, parquetMetadata } from "hyparquet";
import { createError, type ReadContext, type Source, type SourceFile } from "../../../src/plugin/index.js";
import { toInputError } from "./input-error.js";

const tailBytes = 8;
/** A larger footer is taken for damage. */
const maxFooterBytes = 2 ** 29;

/** Keeps the bytes of statistics and the numbers of times as they are. */
const rawParsers = {
  stringFromBytes: (bytes: Uint8Array) => bytes,
  dateFromDays: (days: number) => days,
  timestampFromMilliseconds: (value: bigint) => value,
  timestampFromMicroseconds: (value: bigint) => value,
  timestampFromNanoseconds: (value: bigint) => value,
} as unknown as NonNullable<Parameters<typeof parquetMetadata>[1]>["parsers"];

/** @throws input-corrupt, input-truncated, unsupported */
export async function readFooter(source: Source, file: SourceFile, context: ReadContext): Promise<FileMetaData> {
  const { size } = file;
  const tail = await file.read(Math.max(0, size - tailBytes), tailBytes);
  const magic = tail.toString("latin1", 4);
  if (magic === "PARE") throw createError("unsupported", { source: source.name, reason: "it is encrypted" });
  if (size < 12 || magic !== "PAR1") {
    const reason = "a Parquet file ends with a table of its contents, which is missing";
    throw createError("input-truncated", { source: source.name, place: { byte: size }, reason });
  }
  const length = tail.readUInt32LE(0);
  if (length > size - 12 || length > maxFooterBytes) {
    const reason = `the table of contents would take ${length} bytes, more than the file has`;
    throw createError("input-corrupt", { source: source.name, place: { byte: size - tailBytes }, reason });
  }
  const start = size - tailBytes - length;
  try {
    const bytes = await file.read(start, length + tailBytes);
    return parquetMetadata(Uint8Array.from(bytes), { parsers: rawParsers, geoparquet: false });
  } catch (error) {
    throw toInputError(error, source, { byte: start }, context);
  }
}
