/** A character of a pattern: itself, or one of the wildcards. */
type PatternToken = { readonly character: string } | "any" | "one";

/** Whether the pattern ends with an escape character that escapes nothing. */
export function hasDanglingEscape(pattern: string, escapedBy: string): boolean {
  const characters = [...pattern];
  let at = 0;
  while (at < characters.length) at += characters[at] === escapedBy ? 2 : 1;
  return at > characters.length;
}

function parsePattern(pattern: string, escapedBy: string): PatternToken[] {
  const found: PatternToken[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === escapedBy) found.push({ character: characters[++at]! });
    else if (character === "_") found.push("one");
    else if (character !== "%") found.push({ character });
    else if (found.at(-1) !== "any") found.push("any");
  }
  return found;
}

/** UTF-16 units of the character that begins at `at`. */
const characterWidth = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1);

/** Folds case character by character, so that `_` still matches one character: ß stays ß, all sigmas are Σ. */
function foldCase(text: string): string {
  const upper = text.toUpperCase();
  if (upper.length === text.length) return upper;
  return Array.from(text, (character) => {
    const one = character.toUpperCase();
    return one.length === character.length ? one : character;
  }).join("");
}

/**
 * SQL's LIKE: `%` matches any characters, `_` one, and `escapedBy` escapes the next character. The worst-case time is
 * proportional to pattern length times text length.
 */
export function likeMatcher(pattern: string, escapedBy: string, ignoreCase: boolean): (text: string) => boolean {
  const wanted = parsePattern(pattern, escapedBy).map((token) =>
    ignoreCase && typeof token === "object" ? { character: foldCase(token.character) } : token,
  );
  return (written) => {
    const text = ignoreCase ? foldCase(written) : written;
    let at = 0;
    let next = 0;
    // Backtracking only to the last % is sufficient.
    let retryToken = -1;
    let retryAt = 0;
    for (;;) {
      const token = wanted[next];
      if (token === "any") {
        retryToken = ++next;
        retryAt = at;
        continue;
      }
      if (token === undefined ? at === text.length : at < text.length && matchesAt(text, at, token)) {
        if (token === undefined) return true;
        at += token === "one" ? characterWidth(text, at) : token.character.length;
        next++;
        continue;
      }
      if (retryToken < 0 || retryAt >= text.length) return false;
      retryAt += characterWidth(text, retryAt);
      at = retryAt;
      next = retryToken;
    }
  };
}

function matchesAt(text: string, at: number, token: Exclude<PatternToken, "any">): boolean {
  return token === "one" || text.startsWith(token.character, at);
}
