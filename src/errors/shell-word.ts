/** Letters that no shell takes for anything else. */
const isPlain = (text: string): boolean => /^[\w./:@%+,=-]+$/.test(text);

/** A word of a command as the shell of this system takes it. */
export function shellWord(text: string): string {
  if (isPlain(text)) return text;
  return process.platform === "win32" ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
