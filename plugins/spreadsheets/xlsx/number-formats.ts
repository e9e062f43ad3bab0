/** Which number formats show dates and times (ECMA-376-1, 18.8.30 and 18.8.31). */

/**
 * What a number stands for. `either`: a format of the locale, for which the value decides. `zeros` and above: an integer
 * that is shown with leading zeros, such as a postcode; `kind - zeros` is its least number of digits.
 */
export const NumberKind = { number: 0, date: 1, time: 2, datetime: 3, duration: 4, either: 5, zeros: 32 } as const;

/** Digits of the longest integer that doubles hold exactly. */
const maxZeros = 15;

/** The built-in formats, which files need not define; 27 to 36 and 50 to 58 differ by locale. */
export function kindOfBuiltin(id: number): number {
  if (id >= 14 && id <= 17) return NumberKind.date;
  if (id === 22) return NumberKind.datetime;
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return NumberKind.time;
  if (id === 46) return NumberKind.duration;
  return (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? NumberKind.either : NumberKind.number;
}

/** Text between quotes, escaped characters, colors, conditions and locales: none of it is a placeholder. */
const literals = /"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;

/** The kind of a format by its code; only the section for positive numbers counts. */
export function kindOfCode(code: string): number {
  const zeros = /^(?:\[\$-\w+\])?(0{2,})(?:;|$)/.exec(code)?.[1]?.length ?? 0;
  if (zeros > 0 && zeros <= maxZeros) return NumberKind.zeros + zeros;
  const section = code.replace(literals, "").split(";")[0]!.toLowerCase();
  if (section.includes("general") || /[0#?]/.test(section.replace(/[.,]0+/g, ""))) return NumberKind.number;
  if (/\[(h+|m+|s+)\]/.test(section)) return NumberKind.duration;
  const hasTime = /[hs]|am\/pm|a\/p/.test(section);
  const hasDate = /[yd]|e/.test(section) || (/m/.test(section) && !hasTime);
  return hasDate && hasTime
    ? NumberKind.datetime
    : hasDate
      ? NumberKind.date
      : hasTime
        ? NumberKind.time
        : NumberKind.number;
}
