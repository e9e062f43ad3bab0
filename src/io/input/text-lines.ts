import { createReadStream } from "node:fs";

/** A line of a file: its text without the line feed, and its byte range. */
export interface TextLine {
  readonly text: string;
  readonly start: number;
  readonly length: number;
}

const newlineByte = 10;

/**
 * Reads the non-empty lines of a file of JSON texts, in groups as each chunk completes them. Only line feeds end a line:
 * node:readline, since Node.js 24, also ends it at U+2028 and U+2029, which JSON strings contain unescaped (RFC 8259, 7).
 */
export async function* readTextLines(path: string): AsyncGenerator<TextLine[]> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    // Most chunks end within a line; a long line may span several chunks.
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = bytes.indexOf(newlineByte); to >= 0; to = bytes.indexOf(newlineByte, from)) {
      addLine(lines, bytes, from, to, offset);
      from = to + 1;
    }
    if (lines.length > 0) yield lines;
    rest = bytes.subarray(from);
    offset += from;
  }
  const lines: TextLine[] = [];
  addLine(lines, rest, 0, rest.length, offset);
  if (lines.length > 0) yield lines;
}

function addLine(lines: TextLine[], bytes: Buffer, from: number, to: number, offset: number): void {
  if (to > from) lines.push({ text: bytes.toString("utf8", from, to), start: offset + from, length: to - from });
}
