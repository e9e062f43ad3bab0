/** Guesses whether the first record is a header, which a CSV does not declare. */
import { CellTypeFlag } from "../columns/classify-cell.js";
import { cellFlags, NotationFlag } from "../columns/column-format.js";
import { CellMark, type RecordScanner } from "../records/record-scanner.js";

export interface HeaderGuess {
  readonly isHeader: boolean;
  /** Whether the opposite is equally likely. */
  readonly isUncertain: boolean;
}

const geometryPrefix = /^\s*(SRID=\d+;\s*)?(MULTI)?(POINT|LINESTRING|POLYGON)\s*(Z|M|ZM)?\s*\(/i;
/** Flags of cells that cannot be names: decimals, ISO 8601 dates, and numbers with both groups and decimals. */
const dataTypeFlags =
  CellTypeFlag.double |
  CellTypeFlag.date |
  CellTypeFlag.time |
  CellTypeFlag.datetime |
  NotationFlag.three |
  NotationFlag.otherDecimal;

/**
 * Whether the first byte allows a geometry or a number: a blank, a sign, a digit, or the first letter of a WKT type.
 */
const mayBeData = (byte: number): boolean => byte <= 57 || "LMPSlmps".includes(String.fromCharCode(byte));

/**
 * Classifies the record scanned last. It is data if all of its filled cells are numbers (leading zeros included), dates
 * or true/false, or if one cell cannot be a name: a number with decimals or a sign, an ISO 8601 date, a geometry.
 * Quoted numbers are names. (ogr2ogr takes any number for data and so misses headers with a column per year.)
 */
export function guessHeader(bytes: Uint8Array, scanner: RecordScanner, decimal: number): HeaderGuess {
  let typed = 0;
  let words = 0;
  let isDecided = false;
  for (let c = 0; c < scanner.cells; c++) {
    const [from, to] = [scanner.starts[c]!, scanner.ends[c]!];
    const sort = cellFlags(bytes, from, to, decimal);
    if (sort === CellTypeFlag.blank) continue;
    if (sort === CellTypeFlag.text) {
      if (!mayBeData(bytes[from]!)) {
        words++;
        continue;
      }
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 60)).toString("latin1");
      if (geometryPrefix.test(text)) return { isHeader: false, isUncertain: false };
      if (scanner.marks[c] === CellMark.plain && /^\s*[+-]?\d+\s*$/.test(text)) typed++;
      else words++;
    } else if (sort === CellTypeFlag.nonFinite || scanner.marks[c] !== CellMark.plain) words++;
    else {
      typed++;
      // Columns per day have names such as 12/31/1999.
      const isDay = (sort & NotationFlag.otherTemporal) !== 0;
      if (!isDay && ((sort & dataTypeFlags) !== 0 || bytes[from] === 45)) isDecided = true;
    }
  }
  if (isDecided) return { isHeader: false, isUncertain: words > 0 };
  const isHeader = typed === 0 || words > 0;
  return { isHeader, isUncertain: typed > 0 };
}
