import { isUtf8 } from "node:buffer";
import type { ReadContext, Source, SourceFile } from "../../../src/plugin/format.js";
import { delimiterByte, type ReaderOptions } from "../options.js";
import {
  detectEncoding,
  looksSingleByte,
  repairUtf8,
  TextBlockReader,
  type TextEncoding,
} from "../records/text-blocks.js";

/** Bytes from which the delimiter, the header and the columns of the geometry are guessed. */
const headBytes = 512 * 1024;
const maxHeadBytes = 64 * 1024 * 1024;

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
  /** Lines before the first record. */
  readonly lines: number;
  /** One where there is a line `sep=;`, which counts in `lines`. */
  readonly ownLines: number;
  /** The beginning before damaged letters were replaced, and how many bytes of the source stand before an offset in it. */
  readonly raw: Buffer;
  sourceBytes(offset: number): number;
}

/** How many breaks, and how many lines, stand before an offset. */
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

/** The head without its first bytes, which end with a line. */
export function dropHeadBytes(head: Head, offset: number): Head {
  if (offset === 0) return head;
  const { breaks, lines } = countBreaksBefore(head.bytes, offset);
  const passed = offsetAfterBreaks(head.raw, breaks);
  const { encoding, raw } = head;
  const passedSource = head.sourceBytes(passed);
  return {
    ...head,
    encoding: { name: encoding.name, mark: encoding.mark + passedSource },
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

/** A Windows code page, which any bytes are text in. */
export const fallbackEncoding = "windows-1252";

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
  const blocks = new TextBlockReader(file, encoding, context);
  for (let wanted = headBytes; ; wanted *= 2) {
    const block = await blocks.read(encoding.mark, wanted);
    const whole = encoding.mark + wanted >= source.size;
    // The names of the columns, and a record behind them, may be longer than what is looked at.
    if (!whole && wanted < maxHeadBytes && !hasTwoLines(block.bytes)) continue;
    const says = /^sep=([,;|\t ])(\r\n|\n|\r|$)/i.exec(block.bytes.toString("latin1", 0, 16));
    const { bytes } = block;
    const sourceBytes = (offset: number) => block.sourceBytes(offset);
    const head = { encoding, guessed, bytes, raw: bytes, sourceBytes, whole, delimiter: null, lines: 0, ownLines: 0 };
    if (!says) return head;
    return { ...dropHeadBytes(head, says[0].length), delimiter: delimiterByte(says[1]!), ownLines: 1 };
  }
}

/** The head in the encoding that the file is asked, marked or seems to be in. */
export async function readDecodedHead(
  source: Source,
  file: SourceFile,
  options: ReaderOptions,
  context: ReadContext,
): Promise<Head> {
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
