import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import type { Sink, SinkFile, WriteContext } from "../../plugin/format.js";

/** The maximum number of bytes of a line that the notice shows. */
const maxExcerptBytes = 60;
const newline = 10;

/**
 * Checks whether an output that rows are appended to begins with the bytes of the existing file. It does not if that file
 * has another delimiter, other line ends or another notation of numbers than the writer.
 */
export class AppendCheck {
  private readonly file: number;
  private position = 0;
  private lineNumber = 1;
  private lineStart = 0;
  private difference: { readonly line: number; readonly before: string; readonly after: string } | null = null;
  private isEnded = false;
  private isClosed = false;

  constructor(private readonly path: string) {
    this.file = openSync(path, "r");
  }

  /** Returns a sink whose main file is compared while it is written. */
  watch(sink: Sink): Sink {
    const create = async (extension?: string) => {
      const file = await sink.create(extension);
      return extension === undefined ? this.watchFile(file) : file;
    };
    const { name, inPlaceTarget, folderPath, replacedPath = null } = sink;
    return { name, inPlaceTarget, replacedPath, ...(folderPath === undefined ? {} : { folderPath }), create };
  }

  private watchFile(file: SinkFile): SinkFile {
    const write = (bytes: Uint8Array) => {
      this.compare(bytes);
      return file.write(bytes);
    };
    return {
      path: file.path,
      get size() {
        return file.size;
      },
      write,
      patch: (position, bytes) => file.patch(position, bytes),
    };
  }

  private compare(bytes: Uint8Array): void {
    if (this.isEnded || bytes.length === 0) return;
    const existing = this.read(this.position, bytes.length);
    let i = 0;
    for (; i < existing.length && existing[i] === bytes[i]; i++) {
      if (existing[i] !== newline) continue;
      this.lineNumber++;
      this.lineStart = this.position + i + 1;
    }
    if (i < existing.length) {
      const same = this.read(this.lineStart, Math.min(this.position + i - this.lineStart, maxExcerptBytes));
      const before = this.read(this.lineStart, maxExcerptBytes + 1);
      const after = Buffer.concat([same, bytes.subarray(i, i + maxExcerptBytes + 1)]);
      this.difference = { line: this.lineNumber, before: excerpt(before), after: excerpt(after) };
    }
    this.position += i;
    this.isEnded = existing.length < bytes.length || i < existing.length;
  }

  private read(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(this.file, bytes, filled, length - filled, position + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  /** Reports the first line that differs. */
  report(context: WriteContext): void {
    if (!this.difference) return;
    const { line, before, after } = this.difference;
    const example = `the rows of ${basename(this.path)} were rewritten in another notation: line ${line} was ${before} and is ${after}; options of the writer (--out) set delimiter, quotes and line ends`;
    context.reportNotice("rows-rewritten", undefined, example);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    closeSync(this.file);
  }
}

/** The first line of the bytes with its line end, quoted, with invisible characters escaped. */
function excerpt(bytes: Uint8Array): string {
  const end = bytes.indexOf(newline);
  const isCut = end < 0 && bytes.length > maxExcerptBytes;
  const line = Buffer.from(bytes.subarray(0, end < 0 ? maxExcerptBytes : Math.min(end + 1, maxExcerptBytes)));
  const text = JSON.stringify(line.toString("utf8")).replaceAll("\ufeff", "\\ufeff");
  return isCut ? `${text} …` : text;
}
