/**
 * The digits of a whole number in groups of three: "1,234,567". The text of `toLocaleString("en")`, which loads the
 * locales at its first call: 10 ms, a tenth of a small conversion.
 * @param count a safe integer
 */
export const groupDigits = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

/**
 * A number of things: "1 feature", "1,234 features".
 * @param word of one of them
 * @param words of none or several, where these do not just end in s
 */
export const formatCount = (count: number, word: string, words = `${word}s`): string =>
  `${groupDigits(count)} ${count === 1 ? word : words}`;
