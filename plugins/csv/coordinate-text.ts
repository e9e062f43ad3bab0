import { parseAngle } from "./angles.js";
import { type NumberForm, numberOf } from "./number-form.js";

/** Whether a text says by its signs that it is an angle. */
export const isAngleText = (text: string): boolean => /[°º˚]/.test(text);

/** A number without the unit behind it, with the minus sign of ASCII. */
export const bareNumber = (text: string): string => text.replace(/^\u2212/, "-").replace(/(?<=\d)\s*m$/, "");

/** A coordinate as text: a number, maybe with `m` behind it, or degrees; NaN for anything else. An O counts as the east. */
export function coordinateOf(text: string, form: NumberForm): number {
  const number = numberOf(bareNumber(text), form);
  return Number.isNaN(number) ? (parseAngle(text, "east")?.degrees ?? number) : number;
}
