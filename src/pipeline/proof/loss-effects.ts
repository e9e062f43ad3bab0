/** What a reported loss may do to a value: a value that changed in another way was not reported. */
import { type GeometryVisitor, visitGeometry } from "../../canonical/normalize-geometry.js";
import { isBytesColumn, type Value, valueAt } from "../../model/column.js";
import type { GeometryColumn } from "../../model/geometry.js";
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

const zonePattern = /(?:Z|[+-]\d\d:\d\d)$/;
const hasZone = (text: string): boolean => zonePattern.test(text);

/** To the second. */
const localTime = (text: string): string =>
  text
    .replace(zonePattern, "")
    .replace(/\.\d*$/, "")
    .replace(" ", "T");

/** Milliseconds; a text without a zone is taken as UTC. */
function instantOf(text: string): number {
  const zoned = hasZone(text) ? text : `${text}Z`;
  return Date.parse(/^\d\d:/.test(zoned) ? `1970-01-01T${zoned}` : zoned.replace(" ", "T"));
}

const isSameInstant = (a: string, b: string): boolean => Math.abs(instantOf(a) - instantOf(b)) < 1000;

/** A time without a zone was taken as UTC. */
function isZoneAssumed(written: Value, read: Value): boolean {
  const [a, b] = [textOf(written), textOf(read)];
  return !hasZone(a) && localTime(a) === localTime(b);
}

/** A time with an offset became the same instant in UTC, or the same time of the clock without a zone. */
function isZoneDropped(written: Value, read: Value): boolean {
  const [a, b] = [textOf(written), textOf(read)];
  return hasZone(a) && (isSameInstant(a, b) || (!hasZone(b) && localTime(a) === localTime(b)));
}

/** The same time but for less than a second. The zone may be a loss of its own. */
function isTimeRounded(written: Value, read: Value): boolean {
  const [a, b] = [textOf(written), textOf(read)];
  return isSameInstant(a, b) || isZoneAssumed(written, read);
}

const isSameText = (written: Value, read: Value): boolean => read !== null && textOf(written) === textOf(read);
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
  "zone-assumed": isZoneAssumed,
  "zone-dropped": isZoneDropped,
  "time-zone-dropped": isZoneDropped,
  "time-rounded": isTimeRounded,
  "seconds-rounded": isTimeRounded,
  "control-character": (written, read) => isLeftOver(textOf(read), textOf(written)),
  "character-dropped": (written, read) => isLeftOver(textOf(read), textOf(written)),
  "int64-as-text": isSameText,
  "date-as-text": isSameText,
  "date-before-1900": isSameText,
  "formula-escaped": (written, read) => textOf(read) === `'${textOf(written)}`,
};

/** The structure and the numbers of a geometry, in canonical order. */
class Shape implements GeometryVisitor {
  readonly structure: number[] = [];
  readonly xy: number[] = [];
  readonly z: number[] = [];
  readonly m: number[] = [];

  constructor({ batch, row }: RowPair["written"], singleIsMulti: boolean) {
    if (!singleIsMulti) this.structure.push(batch.geometry.kinds[row]!);
    visitGeometry(batch.geometry, row, this);
  }

  geometry(kind: number, count: number): void {
    this.structure.push(kind, count);
  }

  part(count: number): void {
    this.structure.push(count);
  }

  ring({ xy, z, m }: GeometryColumn, from: number, to: number, reversed: boolean): void {
    this.structure.push(to - from);
    const step = reversed ? -1 : 1;
    for (let n = from, k = reversed ? to - 1 : from; n < to; n++, k += step) {
      this.xy.push(xy[2 * k]!, xy[2 * k + 1]!);
      this.z.push(z?.[k] ?? Number.NaN);
      this.m.push(m?.[k] ?? Number.NaN);
    }
  }

  /** Whether everything but heights and measures is the same. */
  hasSamePositions(other: Shape, tolerance: number): boolean {
    if (this.structure.join() !== other.structure.join()) return false;
    return this.xy.every((value, at) => Math.abs(value - other.xy[at]!) <= tolerance);
  }

  /** Each position as text. */
  get places(): Set<string> {
    return new Set(this.z.map((_, k) => `${this.xy[2 * k]} ${this.xy[2 * k + 1]}`));
  }
}

const isSameNumber = (a: number, b: number, tolerance: number): boolean =>
  Math.abs(a - b) <= tolerance || (Number.isNaN(a) && Number.isNaN(b));

/** How many missing numbers became 0; 0 if another number changed. */
function countFilled(before: readonly number[], after: readonly number[], tolerance: number): number {
  let filled = 0;
  for (const [k, value] of before.entries())
    if (Number.isNaN(value) && after[k] === 0) filled++;
    else if (!isSameNumber(value, after[k]!, tolerance)) return 0;
  return filled;
}

type GeometryEffect = (before: Shape, after: Shape, tolerance: Tolerance) => number;

/** Half of the last decimal that the target keeps. */
export interface Tolerance {
  readonly xy: number;
  readonly z: number;
}

const becameNull: GeometryEffect = (_, { z }) => (z.length === 0 ? 1 : 0);
const filled =
  (dimension: "z" | "m"): GeometryEffect =>
  (before, after, { xy, z }) =>
    before.hasSamePositions(after, xy)
      ? countFilled(before[dimension], after[dimension], dimension === "z" ? z : 0)
      : 0;

/**
 * By the code of a loss without a field: how many times it must have been counted for a geometry that became another
 * one; 0 if it does not explain the change. Codes without an entry explain any change of a geometry.
 */
const geometryEffects: Readonly<Record<string, GeometryEffect>> = {
  "geometry-dropped": becameNull,
  "geometry-empty": becameNull,
  "non-finite-coordinates": becameNull,
  "z-missing": filled("z"),
  "m-missing": filled("m"),
  // A split ring keeps the set of its positions, but neither their order nor their number.
  "ring-split": ({ places }, after) =>
    places.size === after.places.size && [...places].every((place) => after.places.has(place)) ? 1 : 0,
};

/** Whether a reader's note says that it returns a geometry in another, equal form. */
export const isRepair = (code: string): boolean => code === "ring-split";

/** Codes of losses without a field that do not concern geometries. */
const isAboutIds = (code: string): boolean => code.startsWith("id-") || code === "ids-dropped";

export const acceptsValue = (code: string, { written, read }: CellPair): boolean => {
  const effect = Object.hasOwn(valueEffects, code) ? valueEffects[code]! : null;
  return effect === null || effect(contentOf(written), contentOf(read));
};

/** A text of a field with mixed types without its quotes. */
function contentOf(cell: CellPair["written"]): Value {
  const value = cell && valueAt(cell.column, cell.row);
  if (cell?.column.type !== "json" || typeof value !== "string") return value;
  const parsed: unknown = JSON.parse(value);
  return typeof parsed === "string" ? parsed : value;
}

/** @returns how many times the loss must have been counted for this change; 0 if it does not explain it */
export function countGeometryLosses(
  code: string,
  { written, read }: RowPair,
  tolerance: Tolerance,
  singleIsMulti: boolean,
): number {
  if (isAboutIds(code)) return 0;
  if (!Object.hasOwn(geometryEffects, code)) return 1;
  return geometryEffects[code]!(new Shape(written, singleIsMulti), new Shape(read, singleIsMulti), tolerance);
}

export const acceptsId = isAboutIds;

/** A value for messages, on one line. */
export function showValue(cell: CellPair["written"]): string {
  const value = contentOf(cell);
  if (value === null || cell === null) return "null";
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (!isBytesColumn(cell.column)) return Object.is(value, -0) ? "0" : String(value);
  const text = String(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}
