import { BytesBuilder, type BytesColumn, type Column, Presence } from "../../../src/model/index.js";

/** Numbers of datetimes changed to the form that the standard requires. */
export interface DatetimeLosses {
  /** Without an offset, written as UTC. */
  assumedUtc: number;
  /** With another offset, converted to UTC. */
  convertedToUtc: number;
  /** Truncated to milliseconds. */
  truncated: number;
  /** Beyond the year 9999 in UTC, replaced by null. */
  outOfRange: number;
}

const datetimePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;
const canonicalBytes = 24;
const letterZ = 0x5a;
const point = 0x2e;

/** Converts a datetime to UTC with milliseconds (OGC 12-128r19, Table 1); null if it is out of range. */
function toUtc(text: string, losses: DatetimeLosses): string | null {
  const found = datetimePattern.exec(text);
  if (!found) return text;
  const [, whole, fraction = "", offset] = found;
  const isCut = /[1-9]/.test(fraction.slice(3));
  const millis = fraction.slice(0, 3).padEnd(3, "0");
  if (offset === undefined) losses.assumedUtc++;
  if (offset === undefined || offset === "Z" || offset === "+00:00") {
    if (isCut) losses.truncated++;
    return `${whole}.${millis}Z`;
  }
  const moment = new Date(`${whole}.${millis}${offset}`);
  const shifted = Number.isNaN(moment.getTime()) ? null : moment.toISOString();
  if (shifted === null || shifted.length !== canonicalBytes) {
    losses.outOfRange++;
    return null;
  }
  if (isCut) losses.truncated++;
  losses.convertedToUtc++;
  return shifted;
}

export function toStoredColumn(column: Column, costs: DatetimeLosses): Column {
  return column.type === "datetime" ? toStoredDatetimes(column as BytesColumn, costs) : column;
}

function toStoredDatetimes({ presence, offsets, bytes }: BytesColumn, costs: DatetimeLosses): Column {
  const builder = new BytesBuilder("datetime");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0; row < presence.length; row++) {
    const from = offsets[row]!;
    const to = offsets[row + 1]!;
    if (presence[row] !== Presence.value) builder.pushNull();
    else if (to - from === canonicalBytes && bytes[to - 1] === letterZ && bytes[from + 19] === point) {
      builder.pushBytes(bytes, from, to);
    } else {
      const stored = toUtc(text.toString("utf8", from, to), costs);
      if (stored === null) builder.pushNull();
      else builder.push(stored);
    }
  }
  return builder.finish();
}
