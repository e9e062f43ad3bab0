/** What the terminal behind a stream can show: how many columns, and whether colour and bold. */

/** When messages have colour: where the stream is a terminal that has it, or as a person said. */
export type ColorMode = "auto" | "always" | "never";

export const colorModes: readonly ColorMode[] = ["auto", "always", "never"];

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const codes = { bold: 1, red: 31, yellow: 33, cyan: 36 } as const;

/** Wraps a text in the codes of a style, or leaves it as it is. */
export type Paint = (style: keyof typeof codes, text: string) => string;

let asked: ColorMode = "auto";

/** Sets what `--color` says, for all that is written afterwards. */
export function setColorMode(mode: ColorMode): void {
  asked = mode;
}

/**
 * Whether a stream gets colour. `--color` goes before the environment, NO_COLOR before FORCE_COLOR, both before what the
 * stream is; an empty variable counts as none (no-color.org, force-color.org).
 */
export function hasColor(stream: Stream, environment: NodeJS.ProcessEnv, mode: ColorMode = asked): boolean {
  if (mode !== "auto") return mode === "always";
  const { FORCE_COLOR: force = "", NO_COLOR: no = "", TERM: terminal = "" } = environment;
  if (no !== "") return false;
  if (force !== "") return !/^(0|false)$/i.test(force);
  return terminal !== "dumb" && stream.isTTY === true;
}

/** What styles the text for a stream. */
export function paintFor(stream: Stream, environment: NodeJS.ProcessEnv = process.env): Paint {
  if (!hasColor(stream, environment)) return (_, text) => text;
  return (style, text) => `\u001b[${codes[style]}m${text}\u001b[0m`;
}

const leastColumns = 40;
const mostColumns = 100;

/** Columns that text for people takes on a stream: those of the terminal, or of COLUMNS, or 80; never more than 100. */
export function columnsOf(stream: Stream, environment: NodeJS.ProcessEnv): number {
  const columns = stream.columns || Number(environment.COLUMNS) || 80;
  return Math.max(leastColumns, Math.min(mostColumns, Math.floor(columns)));
}

/** A text in lines of at most `width` characters; a word that is longer has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
