import { isUtf8 } from "node:buffer";
import type { ReadContext, Source, SourceFile } from "../../../../src/plugin/format.js";
import { delimiterByte, type TableOptions } from "../options.js";
import {
  detectEncoding,
  looksSingleByte,
  repairUtf8,
  TextBlockReader,
  type TextEncoding,
} from "../records/text-blocks.js";

/** Bytes used to guess the delimiter, the header and the geometry columns. */
const headBytes = 512 * 1024;
const maxHeadBytes = 64 * 1024 * 1024;

/** The beginning of a file as UTF-8, after a byte order mark and a line `sep=;`. */
export interface Head {
  /** Its mark includes the line `sep=;`. */
  readonly encoding: TextEncoding;
  /** Whether the encoding was set neither by an option nor by a byte order mark. */
  readonly guessed: boolean;
  readonly bytes: Buffer;
  /** Whether this is the whole file. */
  readonly whole: boolean;
  /** The delimiter in the line `sep=;` that Excel writes; null without that line. */
  readonly delimiter: number | null;
  /** Lines before the first record. */
  readonly lines: number;
  /** 1 if there is a line `sep=;`, which `lines` includes; otherwise 0. */
  readonly ownLines: number;
  /** The bytes before invalid UTF-8 was replaced; `sourceBytes` maps an offset in them to an offset in the source. */
  readonly raw: Buffer;
  sourceBytes(offset: number): number;
}

/** The number of breaks and of lines before an offset. */
function countBreaksBefore(bytes: Uint8Array, offset: number): { readonly breaks: number; readonly lines: number } {
  let [breaks, lines] = [0, 0];
  for (let i = 0; i < offset; i++) {
    if (bytes[i] !== 10 && bytes[i] !== 13) continue;
    breaks++;
    if (bytes[i] === 13 || bytes[i - 1] !== 13) lines++;
  }
  return { breaks, lines };
}

function offsetAfterBreaks(bytes: Uint8Array, breaks: number): number {
  let at = 0;
  for (let wanted = breaks; wanted > 0 && at < bytes.length; at++) if (bytes[at] === 10 || bytes[at] === 13) wanted--;
  return at;
}

/** The head without its first bytes, which end with a line end. */
export function dropHeadBytes(head: Head, offset: number): Head {
  if (offset === 0) return head;
  const { breaks, lines } = countBreaksBefore(head.bytes, offset);
  const passed = offsetAfterBreaks(head.raw, breaks);
  const { encoding, raw } = head;
  const passedSource = head.sourceBytes(passed);
  return {
    ...head,
    encoding: { ...encoding, mark: encoding.mark + passedSource },
    bytes: head.bytes.subarray(offset),
    raw: raw.subarray(passed),
    sourceBytes: (at) => head.sourceBytes(passed + at) - passedSource,
    lines: head.lines + lines,
  };
}

/** The head without its first lines. */
export function dropHeadLines(head: Head, lines: number): Head {
  let at = 0;
  for (let left = lines; left > 0 && at < head.bytes.length; left--) {
    while (at < head.bytes.length && head.bytes[at] !== 10 && head.bytes[at] !== 13) at++;
    at += head.bytes[at] === 13 && head.bytes[at + 1] === 10 ? 2 : 1;
  }
  return dropHeadBytes(head, Math.min(at, head.bytes.length));
}

/** A Windows code page in which any bytes are valid text. */
export const fallbackEncoding = "windows-1252";

/** Whether it contains at least two complete lines. */
function hasTwoLines(bytes: Buffer): boolean {
  const lineEnd = bytes.includes(10) ? 10 : 13;
  const first = bytes.indexOf(lineEnd);
  return first >= 0 && bytes.includes(lineEnd, first + 1);
}

/** `encoding` is detected from the first byte of the file. */
export async function readHead(
  source: Source,
  file: SourceFile,
  encoding: TextEncoding,
  guessed: boolean,
  context: ReadContext,
): Promise<Head> {
  const blocks = new TextBlockReader(file, encoding, context);
  for (let wanted = headBytes; ; wanted *= 2) {
    const block = await blocks.read(encoding.mark, wanted);
    const whole = encoding.mark + wanted >= source.size;
    // The header and the record after it may be longer than the sample.
    if (!whole && wanted < maxHeadBytes && !hasTwoLines(block.bytes)) continue;
    const says = encoding.isSpooled
      ? null
      : /^sep=([,;|\t ])(\r\n|\n|\r|$)/i.exec(block.bytes.toString("latin1", 0, 16));
    const { bytes } = block;
    const sourceBytes = (offset: number) => block.sourceBytes(offset);
    const head = { encoding, guessed, bytes, raw: bytes, sourceBytes, whole, delimiter: null, lines: 0, ownLines: 0 };
    if (!says) return head;
    return { ...dropHeadBytes(head, says[0].length), delimiter: delimiterByte(says[1]!), ownLines: 1 };
  }
}

/** The head, decoded by option, byte order mark or detection. */
export async function readDecodedHead(
  source: Source,
  file: SourceFile,
  options: TableOptions,
  context: ReadContext,
): Promise<Head> {
  if (options.cells !== "text")
    return readHead(source, file, { name: "utf-8", mark: 0, isSpooled: true }, false, context);
  const encoding = detectEncoding(await file.read(0, 4096), options.encoding);
  const guessed = options.encoding === "auto" && encoding.name === "utf-8" && encoding.mark === 0;
  const head = await readHead(source, file, encoding, guessed, context);
  const text = head.whole ? head.bytes : head.bytes.subarray(0, head.bytes.lastIndexOf(10) + 1);
  if (encoding.name !== "utf-8" || isUtf8(text)) return head;
  if (guessed && looksSingleByte(text)) {
    return readHead(source, file, { name: fallbackEncoding, mark: 0 }, true, context);
  }
  return { ...head, bytes: repairUtf8(head.bytes) };
}
