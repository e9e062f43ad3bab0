/** Formats a reader option for a shell: `--in x=Ost`, `--in "x=Ost [m]"`. */
export function formatReaderOption(option: string, value: string): string {
  const text = `${option}=${value}`;
  if (/^[\p{L}\p{N}_.,:=+-]+$/u.test(text)) return `--in ${text}`;
  return `--in '${text.replaceAll("'", "'\\''")}'`;
}

/** The options `x` and `y` of a reader. */
export const formatCoordinateOptions = (x: string, y: string): string =>
  `${formatReaderOption("x", x)} ${formatReaderOption("y", y)}`;
