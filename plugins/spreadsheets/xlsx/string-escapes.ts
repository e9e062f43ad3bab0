/** Escapes of characters that XML cannot hold, `_x0009_` (ECMA-376-1, 22.9.2.19). */

const escapePattern = /_x([0-9A-Fa-f]{4})_/g;

/** Whether `bytes[from … to]` may have an escape. */
export function mayHaveEscape(bytes: Buffer, from: number, to: number): boolean {
  for (let i = bytes.indexOf(95, from); i >= 0 && i < to - 6; i = bytes.indexOf(95, i + 1))
    if (bytes[i + 1] === 120 && bytes[i + 6] === 95) return true;
  return false;
}

export const resolveEscapes = (text: string): string =>
  text.replace(escapePattern, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
