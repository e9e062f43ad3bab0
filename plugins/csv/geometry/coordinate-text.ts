import { type NumberFormat, parseFormattedNumber } from "../columns/number-format.js";
import { parseAngle } from "./angles.js";

/** Whether a text says by its signs that it is an angle. */
export const isAngleText = (text: string): boolean => /[°º˚]/.test(text);

/** A number without the unit behind it, with the minus sign of ASCII. */
export const stripUnit = (text: string): string => text.replace(/^\u2212/, "-").replace(/(?<=\d)\s*m$/, "");

/** A coordinate as text: a number, maybe with `m` behind it, or degrees; NaN for anything else. An O counts as the east. */
export function parseCoordinate(text: string, form: NumberFormat): number {
  const number = parseFormattedNumber(stripUnit(text), form);
  return Number.isNaN(number) ? (parseAngle(text, "east")?.degrees ?? number) : number;
}
