/** Width and color support of the terminal of a stream. */

export type ColorMode = "auto" | "always" | "never";

export const colorModes: readonly ColorMode[] = ["auto", "always", "never"];

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const codes = { bold: 1, red: 31, yellow: 33, cyan: 36 } as const;

/** Adds the escape codes of a style, or returns the text unchanged. */
export type Paint = (style: keyof typeof codes, text: string) => string;

let colorMode: ColorMode = "auto";

/** Sets the mode of `--color` for all later output. */
export function setColorMode(mode: ColorMode): void {
  colorMode = mode;
}

/**
 * Whether to color a stream. Precedence: `--color`, NO_COLOR, FORCE_COLOR, then whether the stream is a terminal. Empty
 * variables are ignored (no-color.org, force-color.org).
 */
export function hasColor(stream: Stream, environment: NodeJS.ProcessEnv, mode: ColorMode = colorMode): boolean {
  if (mode !== "auto") return mode === "always";
  const { FORCE_COLOR: force = "", NO_COLOR: no = "", TERM: terminal = "" } = environment;
  if (no !== "") return false;
  if (force !== "") return !/^(0|false)$/i.test(force);
  return terminal !== "dumb" && stream.isTTY === true;
}

/** The paint function for a stream. */
export function paintFor(stream: Stream, environment: NodeJS.ProcessEnv = process.env): Paint {
  if (!hasColor(stream, environment)) return (_, text) => text;
  return (style, text) => `\u001b[${codes[style]}m${text}\u001b[0m`;
}

const minColumns = 40;
const maxColumns = 100;

/** Width of text on a stream: columns of the terminal, or COLUMNS, or 80; at most 100. */
export function columnsOf(stream: Stream, environment: NodeJS.ProcessEnv): number {
  const columns = stream.columns || Number(environment.COLUMNS) || 80;
  return Math.max(minColumns, Math.min(maxColumns, Math.floor(columns)));
}

/** Wraps a text into lines of at most `width` characters; longer words get their own line. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
