/** Whether the first record names the columns, which a CSV does not say. */
import { CellTypeFlag } from "../columns/classify-cell.js";
import { cellFlags, NotationFlag } from "../columns/column-format.js";
import { CellMark, type RecordScanner } from "../records/record-scanner.js";

export interface HeaderGuess {
  readonly isHeader: boolean;
  /** Whether the record could as well be the other. */
  readonly isUncertain: boolean;
}

const geometryPrefix = /^\s*(SRID=\d+;\s*)?(MULTI)?(POINT|LINESTRING|POLYGON)\s*(Z|M|ZM)?\s*\(/i;
/** Sorts that are no names: decimals, ISO 8601 dates, and what has groups of thousands and decimals. */
const dataTypeFlags =
  CellTypeFlag.double |
  CellTypeFlag.date |
  CellTypeFlag.time |
  CellTypeFlag.datetime |
  NotationFlag.three |
  NotationFlag.otherDecimal;

/** Whether a text may be a geometry or a number by its first byte: a blank, a sign, a digit, or the letter of a word. */
const mayBeData = (byte: number): boolean => byte <= 57 || "LMPSlmps".includes(String.fromCharCode(byte));

/**
 * Looks at the record just scanned. It is data where all of its cells that say something are numbers, dates or
 * true/false, digits with a leading zero among them, or one is such as no name is: a number with decimals or a sign, a
 * date of ISO 8601, a geometry. Quoted numbers are names. (ogr2ogr takes any number for data, and so misses tables with
 * a column for every year.)
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
      // Columns of days have names like 12/31/1999.
      const isDay = (sort & NotationFlag.otherTemporal) !== 0;
      if (!isDay && ((sort & dataTypeFlags) !== 0 || bytes[from] === 45)) isDecided = true;
    }
  }
  if (isDecided) return { isHeader: false, isUncertain: words > 0 };
  const isHeader = typed === 0 || words > 0;
  return { isHeader, isUncertain: typed > 0 };
}
