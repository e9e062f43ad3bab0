/** Splits at commas, but not inside double quotes: `a,"b,c"`. */
export function splitList(text: string): string[] {
  const items = [...text.matchAll(/\s*("(?:[^"]|"")*"|[^,]*)\s*(?:,|$)/g)].map((match) => match[1]!);
  // The expression also matches the empty remainder at the end.
  if (items.length > 1 && !text.trimEnd().endsWith(",")) items.pop();
  return items
    .map((item) => (item.startsWith('"') ? item.slice(1, -1).replaceAll('""', '"') : item.trim()))
    .filter((item) => item !== "");
}
