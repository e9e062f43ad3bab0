import { BytesBuilder, type BytesColumn, type Column, Presence } from "../../../src/model/index.js";

/** What became of values that the standard wants in one form only. */
export interface DatetimeLosses {
  /** Had no offset from UTC, and were written as if in UTC. */
  assumed: number;
  /** Were in another offset, and are the same instant in UTC. */
  shifted: number;
  /** Had more than milliseconds. */
  cut: number;
  /** Are beyond the year 9999 in UTC, and became null. */
  beyond: number;
}

const datetimePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;
const canonicalBytes = 24;
const letterZ = 0x5a;
const point = 0x2e;

/** A datetime as Table 1 of OGC 12-128r19 has it: in UTC, with milliseconds; null where it has no place there. */
function toUtc(text: string, costs: DatetimeLosses): string | null {
  const found = datetimePattern.exec(text);
  if (!found) return text;
  const [, whole, fraction = "", offset] = found;
  const isCut = /[1-9]/.test(fraction.slice(3));
  const millis = fraction.slice(0, 3).padEnd(3, "0");
  if (offset === undefined) costs.assumed++;
  if (offset === undefined || offset === "Z" || offset === "+00:00") {
    if (isCut) costs.cut++;
    return `${whole}.${millis}Z`;
  }
  const moment = new Date(`${whole}.${millis}${offset}`);
  const shifted = Number.isNaN(moment.getTime()) ? null : moment.toISOString();
  if (shifted === null || shifted.length !== canonicalBytes) {
    costs.beyond++;
    return null;
  }
  if (isCut) costs.cut++;
  costs.shifted++;
  return shifted;
}

/** The column as it is stored. */
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
