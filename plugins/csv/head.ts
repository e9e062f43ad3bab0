import { isUtf8 } from "node:buffer";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import { delimiterByte, type ReaderOptions } from "./options.js";
import { encodingOf, isRatherOneByte, repairUtf8, TextBlocks, type TextEncoding } from "./text-blocks.js";

/** Bytes from which the delimiter, the header and the columns of the geometry are guessed. */
const headBytes = 512 * 1024;
const longestHead = 64 * 1024 * 1024;

/** The beginning of a file as UTF-8, behind what says how to read it. */
export interface Head {
  /** Its mark takes in the line `sep=;`. */
  readonly encoding: TextEncoding;
  /** Whether the encoding was neither asked for nor marked. */
  readonly guessed: boolean;
  readonly bytes: Buffer;
  /** Whether this is all of the file. */
  readonly whole: boolean;
  /** What the line `sep=;`, with which Excel's files may begin, says; null without it. */
  readonly delimiter: number | null;
  /** Lines before the first record: that one. */
  readonly lines: number;
}

/** A Windows code page, which any bytes are text in. */
export const fallback = "windows-1252";

/** Whether a second line ends in it. */
function hasTwoLines(bytes: Buffer): boolean {
  const lineEnd = bytes.includes(10) ? 10 : 13;
  const first = bytes.indexOf(lineEnd);
  return first >= 0 && bytes.includes(lineEnd, first + 1);
}

/** `encoding` is as found at the first byte of the file. */
export async function readHead(
  source: Source,
  file: SourceFile,
  encoding: TextEncoding,
  guessed: boolean,
  context: ReadContext,
): Promise<Head> {
  const blocks = new TextBlocks(file, encoding, context);
  for (let wanted = headBytes; ; wanted *= 2) {
    const block = await blocks.read(encoding.mark, wanted);
    const whole = encoding.mark + wanted >= source.size;
    // The names of the columns, and a record behind them, may be longer than what is looked at.
    if (!whole && wanted < longestHead && !hasTwoLines(block.bytes)) continue;
    const says = /^sep=([,;|\t ])(\r\n|\n|\r|$)/i.exec(block.bytes.toString("latin1", 0, 16));
    if (!says) return { encoding, guessed, bytes: block.bytes, whole, delimiter: null, lines: 0 };
    const length = says[0].length;
    return {
      encoding: { name: encoding.name, mark: encoding.mark + block.sourceBytes(length) },
      guessed,
      bytes: block.bytes.subarray(length),
      whole,
      delimiter: delimiterByte(says[1]!),
      lines: 1,
    };
  }
}

/** The head in the encoding that the file is asked, marked or seems to be in. */
export async function decodedHead(
  source: Source,
  file: SourceFile,
  options: ReaderOptions,
  context: ReadContext,
): Promise<Head> {
  const encoding = encodingOf(await file.read(0, 4096), options.encoding);
  const guessed = options.encoding === "auto" && encoding.name === "utf-8" && encoding.mark === 0;
  const head = await readHead(source, file, encoding, guessed, context);
  const text = head.whole ? head.bytes : head.bytes.subarray(0, head.bytes.lastIndexOf(10) + 1);
  if (encoding.name !== "utf-8" || isUtf8(text)) return head;
  if (guessed && isRatherOneByte(text)) {
    return readHead(source, file, { name: fallback, mark: 0 }, true, context);
  }
  return { ...head, bytes: repairUtf8(head.bytes) };
}
