/** A coordinate in degrees, and the axis that its hemisphere letter names. */
export interface Angle {
  readonly degrees: number;
  readonly axis: "lat" | "lon" | null;
}

const number = String.raw`(\d+(?:[.,]\d+)?)`;
const degree = "(?:°|º|˚|[dD]eg|[dD])";
const minute = "(?:'|′|’|´|[mM]in|m)";
// A lone s is the south, but behind minutes that are an m.
const second = `(?:"|″|”|''|′′|’’|[sS]ec)`;
const lettered = String.raw`\s*(?:[mM]in|m)\s*${number}\s*s`;
const between = (mark: string) => String.raw`(?:\s*(?:${mark}|:)\s*|\s+)`;
const pattern = new RegExp(
  String.raw`^([+-])?\s*([NSEWnsew])?\s*${number}` +
    String.raw`(?:\s*${degree}|${between(degree)}${number}(?:${lettered}|\s*${minute}|${between(minute)}${number}\s*${second}?)?)?` +
    String.raw`\s*([NSEWnsew])?$`,
);

const value = (text: string | undefined) => (text === undefined ? 0 : Number(text.replace(",", ".")));

/**
 * Degrees, minutes and seconds: `40° 26′ 46″ N`, `N 40 26.767`, `40:26:46N`, `79d58'56"W`, `40d26m46sN`. Plain numbers need a
 * hemisphere letter or a degree sign, so that nothing else is taken for an angle; null for everything else.
 */
export function parseAngle(text: string): Angle | null {
  const trimmed = text.trim();
  if (trimmed.length > 64) return null;
  const match = pattern.exec(trimmed);
  if (!match) return null;
  const [, sign, before, degreesText, minutesText, letteredText, markedText, after] = match;
  const secondsText = letteredText ?? markedText;
  if (before && after) return null;
  const letter = (before ?? after)?.toUpperCase();
  if (!letter && !/[°º˚]/.test(trimmed)) return null;
  if (letter && sign) return null;
  const [degrees, minutes, seconds] = [value(degreesText), value(minutesText), value(secondsText)];
  const axis = letter === undefined ? null : letter === "N" || letter === "S" ? "lat" : "lon";
  // Minutes and seconds stand below sixty, and behind whole numbers.
  if (minutes >= 60 || seconds >= 60 || degrees > (axis === "lat" ? 90 : 360)) return null;
  if (minutesText !== undefined && !Number.isInteger(degrees)) return null;
  if (secondsText !== undefined && !Number.isInteger(minutes)) return null;
  const size = degrees + minutes / 60 + seconds / 3600;
  const negative = sign === "-" || letter === "S" || letter === "W";
  return { degrees: negative ? -size : size, axis };
}
