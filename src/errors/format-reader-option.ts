import { quoteForShell } from "./shell-quote.js";

/** Formats a reader option for a shell: `--in x=Ost`, `--in 'x=Ost [m]'`. */
export const formatReaderOption = (option: string, value: string): string =>
  `--in ${quoteForShell(`${option}=${value}`)}`;

/** Advice for two columns that look like coordinates; `order` is set if either may be the longitude or easting. */
export const adviseCoordinateOptions = (x: string, y: string, order?: "order-unknown"): string =>
  order === undefined
    ? `${formatCoordinateOptions(x, y)} reads points from them`
    : `${formatCoordinateOptions(x, y)} reads points from them if "${x}" is the longitude or easting; if "${y}" is, swap the two`;

/** The options `x` and `y` of a reader. */
export const formatCoordinateOptions = (x: string, y: string): string =>
  `${formatReaderOption("x", x)} ${formatReaderOption("y", y)}`;
