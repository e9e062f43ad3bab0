/** Letters that no shell takes for anything else. */
const isShellSafe = (text: string): boolean => /^[\w./:@%+,=-]+$/.test(text);

/** A word of a command as the shell of this system takes it. */
export function quoteForShell(text: string): string {
  if (isShellSafe(text)) return text;
  return process.platform === "win32" ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
