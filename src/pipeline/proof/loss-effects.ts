/** What a reported loss may do to a value: a value that changed in another way was not reported. */
import { isBytesColumn, type Value, valueAt } from "../../model/column.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { positionRange } from "../../model/geometry.js";
import type { CellPair, RowPair } from "./differences.js";

/** Largest relative difference of a number that was rounded. */
const roundingShare = 1e-4;

const textOf = (value: Value): string => (value instanceof Uint8Array ? "" : String(value ?? ""));

/** Whether `part` can be made of `whole` by leaving out characters. */
function isLeftOver(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (part.startsWith(character, at)) at += character.length;
  return at === part.length;
}

/** The same number but for rounding to fewer digits. */
function isRounded(written: Value, read: Value): boolean {
  const [a, b] = [Number(textOf(written)), Number(textOf(read))];
  if (read === null || Number.isNaN(a) || Number.isNaN(b)) return false;
  // Zero may be all that is left of a number below one.
  return Math.abs(a - b) <= Math.max(Math.abs(a) * roundingShare, 1);
}

const localTime = (text: string): string =>
  text
    .replace(/(?:Z|[+-]\d\d:\d\d)$/, "")
    .replace(/\.\d*$/, "")
    .replace(" ", "T");

function instantOf(text: string): number {
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`;
  return Date.parse(/^\d\d:/.test(zoned) ? `1970-01-01T${zoned}` : zoned.replace(" ", "T"));
}

/** The same instant, or the same time of the clock, to the second. */
function isSameTime(written: Value, read: Value): boolean {
  if (read === null) return false;
  const [a, b] = [textOf(written), textOf(read)];
  return localTime(a) === localTime(b) || Math.abs(instantOf(a) - instantOf(b)) <= 1000;
}

const isNull = (_: Value, read: Value): boolean => read === null;
const isEmptyOrNull = (written: Value, read: Value): boolean =>
  (written === null || textOf(written) === "") && (read === null || textOf(read) === "");

/** By the code of the loss: whether a value may have become another one. Codes without an entry may change anything. */
const valueEffects: Readonly<Record<string, (written: Value, read: Value) => boolean>> = {
  "text-cut": (written, read) => textOf(written).startsWith(textOf(read)),
  "text-empty": isEmptyOrNull,
  "null-empty": isEmptyOrNull,
  "text-padded": (written, read) => textOf(written).trimEnd() === textOf(read).trimEnd(),
  "number-rounded": isRounded,
  "number-too-large": isNull,
  "non-finite-value": isNull,
  "date-out-of-range": isNull,
  "value-unreadable": isNull,
  "zone-assumed": isSameTime,
  "zone-dropped": isSameTime,
  "time-zone-dropped": isSameTime,
  "time-rounded": isSameTime,
  "seconds-rounded": isSameTime,
  "control-character": (written, read) => isLeftOver(textOf(read), textOf(written)),
  "character-dropped": (written, read) => isLeftOver(textOf(read), textOf(written)),
  "formula-escaped": (written, read) => textOf(read) === `'${textOf(written)}`,
};

/** Positions that a row has, and whether x and y of all of them are the same. */
function hasSamePositions(one: GeometryColumn, i: number, other: GeometryColumn, k: number): boolean {
  if (one.kinds[i] !== other.kinds[k]) return false;
  const [from, to] = positionRange(one, i);
  const [otherFrom, otherTo] = positionRange(other, k);
  if (to - from !== otherTo - otherFrom) return false;
  for (let at = 0; at < 2 * (to - from); at++)
    if (Math.abs(one.xy[2 * from + at]! - other.xy[2 * otherFrom + at]!) > 1e-6) return false;
  return true;
}

const becameNull = ({ read }: RowPair): boolean => read.batch.geometry.kinds[read.row] === 0;
const kept = ({ written, read }: RowPair): boolean =>
  hasSamePositions(written.batch.geometry, written.row, read.batch.geometry, read.row);

/** Whether both have the same positions, in whatever order and number. */
function hasSamePlaces({ written, read }: RowPair): boolean {
  const places = ({ batch: { geometry }, row }: RowPair["written"]) => {
    const [from, to] = positionRange(geometry, row);
    const found = new Set<string>();
    for (let k = from; k < to; k++) found.add(`${geometry.xy[2 * k]} ${geometry.xy[2 * k + 1]}`);
    return found;
  };
  const [before, after] = [places(written), places(read)];
  return before.size === after.size && [...before].every((place) => after.has(place));
}

/** By the code of a loss without a field: whether a geometry may have become another one. */
const geometryEffects: Readonly<Record<string, (pair: RowPair) => boolean>> = {
  "geometry-dropped": becameNull,
  "geometry-empty": becameNull,
  "non-finite-coordinates": becameNull,
  "z-missing": kept,
  "m-missing": kept,
  "z-dropped": kept,
  "m-dropped": kept,
  "ring-split": hasSamePlaces,
};

/** Whether a reader's note says that it returns a geometry in another, equal form. */
export const isRepair = (code: string): boolean => code === "ring-split";

/** Codes of losses without a field that do not concern geometries. */
const isAboutIds = (code: string): boolean => code.startsWith("id-") || code === "ids-dropped";

export const acceptsValue = (code: string, { written, read }: CellPair): boolean => {
  const effect = Object.hasOwn(valueEffects, code) ? valueEffects[code]! : null;
  const value = ({ column, row }: NonNullable<CellPair["written"]>) => valueAt(column, row);
  return effect === null || effect(written && value(written), read && value(read));
};

export const acceptsGeometry = (code: string, pair: RowPair): boolean =>
  !isAboutIds(code) && (!Object.hasOwn(geometryEffects, code) || geometryEffects[code]!(pair));

export const acceptsId = isAboutIds;

/** A value for messages, on one line. */
export function showValue(cell: CellPair["written"]): string {
  const value = cell && valueAt(cell.column, cell.row);
  if (value === null || cell === null) return "null";
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (!isBytesColumn(cell.column)) return Object.is(value, -0) ? "0" : String(value);
  const text = String(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}
