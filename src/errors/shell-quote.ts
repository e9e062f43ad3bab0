const isShellSafe = (text: string): boolean => /^[\w./:@%+,=-]+$/.test(text);

/** Quotes an argument for the shell of this system. */
export function quoteForShell(text: string): string {
  if (isShellSafe(text)) return text;
  return process.platform === "win32" ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
