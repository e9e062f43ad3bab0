import { createError } from "../../../src/errors.js";
import type { SourceFile } from "../../../src/plugin/format.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import { type FirstMemberName, findFeature, readFirstName } from "../read/resync.js";
import { BracketScanner, type TopLevelMembers } from "./bracket-scanner.js";

/** The arrangement of the features in a file; plain data for other threads. */
export interface FileLayout {
  readonly layout: "documents" | "values" | "lines" | "records";
  /** Where the text starts, after a byte order mark. */
  readonly start: number;
  readonly mark: FirstMemberName;
  readonly members: TopLevelMembers;
}

const headBytes = 1 << 20;
const tailBytes = 1 << 16;

const typePattern =
  /"type"\s*:\s*"(Feature|Point|LineString|Polygon|MultiPoint|MultiLineString|MultiPolygon|GeometryCollection)"/;
const geometryPattern = /^"(Point|LineString|Polygon|MultiPoint|MultiLineString|MultiPolygon|GeometryCollection)"$/;

/**
 * Inspects the beginning of a file, up to its first feature, and its end. @throws input-corrupt, input-truncated,
 * input-empty
 */
export async function detectFileLayout(file: SourceFile, source: string, linesByName: boolean): Promise<FileLayout> {
  if (file.size === 0) throw createError("input-empty", { source });
  const head = await file.read(0, headBytes);
  const start = findTextStart(head, source);
  const text = head.subarray(start);
  const form = detectSequenceForm(text, linesByName, start + text.length >= file.size);
  const mark = readFirstName(text.toString("latin1", 0, 4096));
  if (form === "records") return { layout: form, start, mark, members: {} };
  if (form !== null) return { layout: form, start, mark, members: readTopLevelMembers(text) };
  const settings = { source, start, splitSize: defaultSplitBytes, skipErrors: false, isFatal: true };
  const scanner = new BracketScanner(file, { ...settings, mark: "type" });
  const first = await scanner.peek();
  if (first === 91) {
    scanner.step();
    const element = await scanner.peek();
    if (element !== 123 || !typePattern.test(scanner.ahead.toString("latin1")))
      scanner.damage("a feature in the array");
    const inner = readFirstName(scanner.ahead.toString("latin1", 0, 4096));
    return { layout: "documents", start, mark: inner, members: {} };
  }
  if (first !== 123) scanner.damage("an object of GeoJSON");
  for await (const _ of scanner.object()) {
    if (
      scanner.members.type === undefined &&
      scanner.foreign.some((name) => name === "fieldAliases" || name === "spatialReference")
    ) {
      throw createError("input-corrupt", { source, place: { byte: start }, reason: "it is Esri JSON, not GeoJSON" });
    }
    await scanner.peek();
    const inner = readFirstName(scanner.ahead.toString("latin1", 0, 4096));
    return { layout: "documents", start, mark: inner, members: scanner.members };
  }
  checkType(scanner.members.type, source, start);
  return { layout: "values", start, mark, members: scanner.members };
}

/** Where the text starts after its byte order mark. GeoJSON is UTF-8 (RFC 8259, section 8.1). */
function findTextStart(head: Buffer, source: string): number {
  const [a, b, c] = head;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    const reason = "it is UTF-16, and JSON is UTF-8; convert it with iconv";
    throw createError("input-corrupt", { source, place: { byte: 0 }, reason });
  }
  return a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
}

function checkType(type: string | undefined, source: string, byte: number): void {
  if (type === '"Feature"' || (type && geometryPattern.test(type))) return;
  const reason =
    type === '"Topology"'
      ? "it is TopoJSON, not GeoJSON"
      : type === '"FeatureCollection"'
        ? "a FeatureCollection without an array of features"
        : type === undefined
          ? "it is JSON without a type, not GeoJSON"
          : `its type is ${type.slice(0, 60)}, which GeoJSON does not have`;
  throw createError("input-corrupt", { source, place: { byte }, reason });
}

/** The layout of a file of several values, inferred from its head; null if it may be one value. */
export function detectSequenceForm(
  text: Buffer,
  linesByName: boolean,
  whole: boolean,
): "lines" | "records" | "values" | null {
  let at = 0;
  while (at < text.length && " \t\r\n".includes(String.fromCharCode(text[at]!))) at++;
  if (text[at] === 0x1e) return "records";
  if (at === text.length && whole && linesByName) return "lines";
  if (text[at] !== 123) return null;
  const firstEnd = findLineEnd(text, at);
  let second = firstEnd + 1;
  while (second < text.length && " \t\r\n".includes(String.fromCharCode(text[second]!))) second++;
  const end = findValueEnd(text, at);
  const follows = end >= 0 ? nextNonSpaceByte(text, end) : -1;
  if (end >= 0 && follows === 0x1e) return "records";
  if (end >= 0 && end <= firstEnd) {
    if (follows !== 123) return linesByName && follows === -1 && whole ? "lines" : null;
    if (nextNonSpaceOffset(text, end) < firstEnd) return "values";
    const secondEnd = findLineEnd(text, second);
    const balanced = findValueEnd(text, second);
    const lastOfSecond = text.toString("latin1", second, secondEnd).trimEnd().at(-1);
    const cut = secondEnd >= text.length && !whole;
    return cut || lastOfSecond === "}" || (balanced >= 0 && balanced <= secondEnd) ? "lines" : "values";
  }
  if (text[second] === 123 && firstEnd < text.length) {
    const like = (from: number) => findFeature(text.subarray(0, from + 256), from, "type") === from;
    if (linesByName || (like(at) && like(second))) return "lines";
  }
  return end >= 0 && follows === 123 ? "values" : null;
}

function findLineEnd(text: Buffer, from: number): number {
  const at = text.indexOf(10, from);
  return at < 0 ? text.length : at;
}

function nextNonSpaceOffset(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && text[at]! <= 32 && text[at] !== 0x1e) at++;
  return at;
}

const nextNonSpaceByte = (text: Buffer, from: number): number => text[nextNonSpaceOffset(text, from)] ?? -1;

/** The offset after the object that begins at `from`, −1 if it continues beyond `text`. */
function findValueEnd(text: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const byte = text[at]!;
    if (byte === 34) {
      at++;
      while (at < text.length && text[at] !== 34) at += text[at] === 92 ? 2 : 1;
    } else if (byte === 123 || byte === 91) depth++;
    else if (byte === 125 || byte === 93) {
      depth--;
      if (depth <= 0) return at + 1;
    }
  }
  return -1;
}

/** The members beside the features in the first of several values; empty if it is damaged. */
function readTopLevelMembers(text: Buffer): TopLevelMembers {
  const from = nextNonSpaceOffset(text, 0);
  const end = findValueEnd(text, from);
  if (end < 0) return {};
  try {
    const first = JSON.parse(text.toString("utf8", from, end)) as Record<string, unknown>;
    return first.crs === undefined ? {} : { crs: JSON.stringify(first.crs) };
  } catch {
    return {};
  }
}

/**
 * Whether a crs or a name may follow the features, which the beginning of the file does not show. In most files the
 * features end the file, and the last bytes show that.
 */
export async function hasMembersAtEnd(file: SourceFile): Promise<boolean> {
  const tail = (await file.read(Math.max(0, file.size - tailBytes), tailBytes)).toString("latin1");
  if (tail.includes('"crs"')) return true;
  const after = tail.slice(Math.max(tail.search(/[}[]\s*\]\s*(,[^\]]*)?\}\s*$/), 0));
  return after.length < tail.length && after.includes('"name"');
}
