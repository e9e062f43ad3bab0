import { type NumberFormat, parseFormattedNumber } from "../columns/number-format.js";
import { parseAngle } from "./angles.js";

/** Whether a text contains a degree sign. */
export const isAngleText = (text: string): boolean => /[°º˚]/.test(text);

/** A number without its unit, with an ASCII minus sign. */
export const stripUnit = (text: string): string => text.replace(/^\u2212/, "-").replace(/(?<=\d)\s*m$/, "");

/** Parses a coordinate: a number, optionally followed by `m`, or degrees; NaN for any other text. O counts as east. */
export function parseCoordinate(text: string, form: NumberFormat): number {
  const number = parseFormattedNumber(stripUnit(text), form);
  return Number.isNaN(number) ? (parseAngle(text, "east")?.degrees ?? number) : number;
}
