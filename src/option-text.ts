/** An option of a reader as it is typed in a shell: `--in x=Ost`, `--in "x=Ost [m]"`. */
export function inOption(option: string, value: string): string {
  const text = `${option}=${value}`;
  if (/^[\p{L}\p{N}_.,:=+-]+$/u.test(text)) return `--in ${text}`;
  return `--in '${text.replaceAll("'", "'\\''")}'`;
}

/** The options `x` and `y` of a reader. */
export const coordinateOptions = (x: string, y: string): string => `${inOption("x", x)} ${inOption("y", y)}`;
