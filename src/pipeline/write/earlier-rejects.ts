import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";

const chunkBytes = 1 << 16;
const newline = 0x0a;
/** A longer line is none of rejects: V8 holds no text of this size. */
const maxLineBytes = 1 << 28;

/**
 * Whether a path is unused or contains rejects of an earlier run, judging by its first line, so that scheduled runs can
 * repeat without replacing any other file. Pipes and devices can always be written.
 * @param origin refuses rejects that state another origin, such as those of another map
 * @throws input-unreadable
 */
export function canWriteRejects(path: string, origin?: string): boolean {
  if (!existsSync(path)) return true;
  const stat = statSync(path);
  if (!stat.isFile()) return !stat.isDirectory();
  if (stat.size === 0) return true;
  try {
    return isRejectLine(readFirstLine(path), origin);
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
}

function readFirstLine(path: string): string {
  const file = openSync(path, "r");
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length <= maxLineBytes; ) {
      const chunk = Buffer.alloc(chunkBytes);
      const read = chunk.subarray(0, readSync(file, chunk));
      const end = read.indexOf(newline);
      chunks.push(end < 0 ? read : read.subarray(0, end));
      if (end >= 0 || read.length === 0) return Buffer.concat(chunks).toString();
      length += read.length;
    }
    return "";
  } finally {
    closeSync(file);
  }
}

interface FirstLine {
  readonly type?: unknown;
  readonly reject?: { readonly code?: unknown; readonly origin?: unknown };
}

function isRejectLine(line: string, origin: string | undefined): boolean {
  try {
    const { type, reject } = JSON.parse(line) as FirstLine;
    if (type !== "Feature" || typeof reject?.code !== "string") return false;
    return origin === undefined || reject.origin === undefined || reject.origin === origin;
  } catch {
    return false;
  }
}
