/**
 * Number of inserted, deleted, replaced or transposed characters between two names (the restricted Damerau–Levenshtein
 * distance).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + Number(!same));
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (exchanged) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}

/** Longer names are probably pasted, not mistyped, and slow to compare. */
const maxNameLength = 100;

/** The most similar known name, ignoring case, with a distance of at most a third of its length; else null. */
export function nearestName(typed: string, known: Iterable<string>): string | null {
  const wanted = typed.toLowerCase();
  let nearest: string | null = null;
  let least = Math.min(maxNameLength, Math.floor(wanted.length / 3));
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) > least || name.length > maxNameLength || wanted.length > maxNameLength)
      continue;
    const away = editDistance(wanted, name.toLowerCase());
    if (away > least || (away === least && nearest !== null)) continue;
    least = away;
    nearest = name;
  }
  return nearest;
}
