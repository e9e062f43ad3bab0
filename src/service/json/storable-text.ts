/**
 * PostgreSQL cannot store U+0000; a lone surrogate is not a character (Unicode 3.9, D75) and cannot be encoded in
 * UTF-8.
 */
const unstorableCharacters = /[\0\p{Surrogate}]/u;

/** @returns why a text cannot be stored, for the user; null if it can */
export function findTextProblem(text: string): string | null {
  const at = text.search(unstorableCharacters);
  if (at < 0) return null;
  return text.charCodeAt(at) === 0
    ? "Text with U+0000 cannot be stored."
    : "Text with a lone surrogate is not valid Unicode.";
}
