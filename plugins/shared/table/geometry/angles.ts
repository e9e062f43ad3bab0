/** A coordinate in degrees, and the axis that its hemisphere letter names. */
export interface Angle {
  readonly degrees: number;
  readonly axis: "lat" | "lon" | null;
}

const number = String.raw`(\d+(?:[.,]\d+)?)`;
const degree = "(?:°|º|˚|[dD]eg|[dD])";
const minute = "(?:'|′|’|´|[mM]in|m)";
// A single s means south, but seconds after minutes marked with m.
const second = `(?:"|″|”|''|′′|’’|[sS]ec)`;
const letteredMinutesSeconds = String.raw`\s*(?:[mM]in|m)\s*${number}\s*s`;
const separatedBy = (mark: string) => String.raw`(?:\s*(?:${mark}|:)\s*|\s+)`;
const pattern = new RegExp(
  String.raw`^([+-])?\s*([NSEWLOnsewlo])?\s*${number}` +
    String.raw`(?:\s*${degree}|${separatedBy(degree)}${number}(?:${letteredMinutesSeconds}|\s*${minute}|${separatedBy(minute)}${number}\s*${second}?)?)?` +
    String.raw`\s*([NSEWLOnsewlo])?$`,
);

const parseValue = (text: string | undefined) => (text === undefined ? 0 : Number(text.replace(",", ".")));

/** Meaning of the letter O: east (German Ost) or west (Spanish Oeste, French Ouest); null if unknown. */
export type LetterOMeaning = "east" | "west" | null;

const latitudeLetters = "NS";
const westLetters = (letterO: LetterOMeaning) => (letterO === "west" ? "WO" : "W");

/** Two angles, separated by a comma or by their hemisphere letters: `40° 26′ N 79° 58′ W`, `N40d26m46s W79d58m56s`. */
export function parseAngles(text: string, letterO: LetterOMeaning): readonly [Angle, Angle] | null {
  const halves = /^([^,;/]+)[,;/]([^,;/]+)$/.exec(text);
  if (halves) return pairAxes(parseAngle(halves[1]!, letterO), parseAngle(halves[2]!, letterO));
  for (const { 0: letter, index } of text.matchAll(/[NSEWLO]/gi)) {
    for (const at of [index, index + letter.length]) {
      const found = pairAxes(parseAngle(text.slice(0, at), letterO), parseAngle(text.slice(at), letterO));
      // Without a separator, the hemisphere letter must mark the end of each angle.
      if (found?.every((angle) => angle.axis !== null)) return found;
    }
  }
  return null;
}

function pairAxes(a: Angle | null, b: Angle | null): readonly [Angle, Angle] | null {
  return a && b && (a.axis === null || a.axis !== b.axis) ? [a, b] : null;
}

/**
 * Degrees, minutes and seconds: `40° 26′ 46″ N`, `N 40 26.767`, `40:26:46N`, `79d58'56"W`, `40d26m46sN`. Plain numbers
 * need a hemisphere letter or a degree sign, so that other values are not mistaken for angles. Null for any other text,
 * and for an O of unknown meaning. L is Portuguese for east (leste).
 */
export function parseAngle(text: string, letterO: LetterOMeaning): Angle | null {
  if (text.length > 128) return null;
  // The letter for east in Swedish, Danish and Norwegian.
  const trimmed = text
    .trim()
    .replace(/^[ÖØ](?=\s*\d)|(?<=[\d°'"′″’”]\s*)[ÖØ]$/iu, "E")
    .replace(/^\u2212/, "-");
  if (trimmed.length > 64) return null;
  const match = pattern.exec(trimmed);
  if (!match) return null;
  const [, sign, before, degreesText, minutesText, letteredText, markedText, after] = match;
  const secondsText = letteredText ?? markedText;
  if (before && after) return null;
  const letter = (before ?? after)?.toUpperCase();
  if (!letter && !/[°º˚]/.test(trimmed)) return null;
  if (letter && sign) return null;
  if (letter === "O" && letterO === null) return null;
  const [degrees, minutes, seconds] = [parseValue(degreesText), parseValue(minutesText), parseValue(secondsText)];
  const axis = letter === undefined ? null : latitudeLetters.includes(letter) ? "lat" : "lon";
  // Minutes and seconds are below sixty and follow integers.
  if (minutes >= 60 || seconds >= 60 || degrees > (axis === "lat" ? 90 : 360)) return null;
  if (minutesText !== undefined && !Number.isInteger(degrees)) return null;
  if (secondsText !== undefined && !Number.isInteger(minutes)) return null;
  const size = degrees + minutes / 60 + seconds / 3600;
  const negative = sign === "-" || letter === "S" || (letter !== undefined && westLetters(letterO).includes(letter));
  return { degrees: negative ? -size : size, axis };
}
