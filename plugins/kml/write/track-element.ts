import { type GeometryColumn, Kind } from "../../../src/model/index.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import { isKmlTime } from "../times.js";
import type { GeometryElementWriter } from "./geometry-element.js";

/** A time or null for each position, line by line. */
export type LineTimes = readonly (readonly (string | null)[])[];

const isTimeList = (value: unknown, length: number): value is (string | null)[] =>
  Array.isArray(value) &&
  value.length === length &&
  value.some((time) => time !== null) &&
  value.every((time) => time === null || (typeof time === "string" && isKmlTime(time)));

/**
 * Returns the times in `coordinateProperties` for the lines of feature `i`. Null where tracks cannot hold all of it: other
 * properties than times, other counts than positions, lines of one position.
 */
export function parseLineTimes(json: string, column: GeometryColumn, i: number): LineTimes | null {
  const kind = column.kinds[i]!;
  const part = column.partOffsets[i]!;
  if ((kind !== Kind.LineString && kind !== Kind.MultiLineString) || part === column.partOffsets[i + 1]) return null;
  const value = JSON.parse(json) as unknown;
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "times") return null;
  const { times } = value as { times: unknown };
  const first = column.ringOffsets[part]!;
  const lines = column.ringOffsets[part + 1]! - first;
  const lists = kind === Kind.LineString ? [times] : times;
  if (!Array.isArray(lists) || lists.length !== lines || lines === 0) return null;
  const fits = lists.every((list, n) => {
    const length = column.positionOffsets[first + n + 1]! - column.positionOffsets[first + n]!;
    return length > 1 && isTimeList(list, length);
  });
  return fits ? (lists as LineTimes) : null;
}

/** Writes the lines of feature `i` as tracks with a time for each position (Google's extension of KML 2.2). */
export function writeTracks(
  out: TextBuffer,
  elements: GeometryElementWriter,
  column: GeometryColumn,
  i: number,
  times: LineTimes,
  altitudeMode: string,
): void {
  const isMulti = column.kinds[i] === Kind.MultiLineString;
  const first = column.ringOffsets[column.partOffsets[i]!]!;
  if (isMulti) out.ascii("<gx:MultiTrack>");
  for (const [n, list] of times.entries()) {
    out.ascii("<gx:Track>");
    out.ascii(altitudeMode);
    for (const time of list) out.ascii(time === null ? "<when/>" : `<when>${time}</when>`);
    for (let k = column.positionOffsets[first + n]!; k < column.positionOffsets[first + n + 1]!; k++) {
      out.ascii("<gx:coord>");
      elements.position(column, k, 32);
      out.ascii("</gx:coord>");
    }
    out.ascii("</gx:Track>");
  }
  if (isMulti) out.ascii("</gx:MultiTrack>");
}
