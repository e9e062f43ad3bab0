/** Parses the command line that a shell script passes, and formats the completions for it. */
import type { Completion, Completions } from "./completions.js";

export interface Cursor {
  readonly shell: string;
  /** The words before the cursor, without `geoferry`. */
  readonly words: readonly string[];
  /** The word at the cursor, up to the cursor. */
  readonly current: string;
  /** The open quote at the cursor, or "". */
  readonly quote: string;
  /** Length of the part of `current` that bash treats as earlier words, since it splits at `:` and `=`. */
  readonly keptLength: number;
  /** Columns of the terminal; null for shells that format the list themselves. */
  readonly columns: number | null;
}

/** @param argv for bash: the line up to the cursor, word breaks and columns; for others: words and `=CURRENT` */
export function parseCursor(shell: string, argv: readonly string[]): Cursor {
  if (shell !== "bash") {
    const typed = (argv.at(-1) ?? "=").slice(1);
    const current = shell === "fish" ? (splitShellWords(typed).at(-1)?.text ?? "") : typed;
    return { shell, words: argv.slice(0, -1), current, quote: "", keptLength: 0, columns: null };
  }
  const [line = "", breaks = "", columns = ""] = argv;
  const words = splitShellWords(line);
  const { text: current, quote, plain } = words.at(-1) ?? { text: "", quote: "", plain: [] };
  const keptLength = quote === "" ? 1 + Math.max(-1, ...plain.filter((at) => breaks.includes(current[at]!))) : 0;
  return {
    shell,
    words: words.slice(1, -1).map(({ text }) => text),
    current,
    quote,
    keptLength,
    columns: Number(columns) || 80,
  };
}

interface ShellWord {
  readonly text: string;
  /** The quote that is open at the end of the word. */
  readonly quote: string;
  /** Positions of unquoted `:` and `=`. */
  readonly plain: readonly number[];
}

/** Splits a line like a shell; the last word may be empty or have an open quote. */
function splitShellWords(line: string): ShellWord[] {
  const words: ShellWord[] = [];
  let text = "";
  let quote = "";
  let plain: number[] = [];
  let isInWord = false;
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote === "" && /\s/.test(character)) {
      if (isInWord) words.push({ text, quote, plain });
      [text, plain, isInWord] = ["", [], false];
      continue;
    }
    isInWord = true;
    if (character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (character === "\\" && quote !== "'" && at + 1 < line.length) text += line[++at]!;
    else {
      if (quote === "" && (character === ":" || character === "=")) plain.push(text.length);
      text += character;
    }
  }
  return [...words, { text, quote, plain }];
}

const shellSpecialCharacters = /[^\p{L}\p{N}_@%+=:,./~-]/gu;

/** Quotes a value for the command line. */
const quoteByShell: Readonly<Record<string, (value: string) => string>> = {
  bash: (value) => value.replace(shellSpecialCharacters, "\\$&"),
  powershell: (value) => (value.search(shellSpecialCharacters) < 0 ? value : `'${value.replaceAll("'", "''")}'`),
};

const collapseWhitespace = (text: string): string => text.replace(/\s+/g, " ");

/** Formats the directives and one line for each value. */
export function renderCompletions(shell: string, cursor: Cursor, found: Completions): string {
  const directives = (["files", "nospace", "list"] as const).filter((name) => found[name]);
  const fitting = found.list ? found.offers : found.offers.filter(({ value }) => value.startsWith(cursor.current));
  const usable = fitting.filter(({ value }) => !/[\t\n\r]/.test(value));
  const lines =
    shell === "bash"
      ? renderForBash(cursor, usable, found.list ?? false)
      : usable.map((offer) => withDescription(shell, offer));
  return `${[directives.join(" "), ...lines].join("\n")}\n`;
}

function withDescription(shell: string, { value, description }: Completion): string {
  const text = quoteByShell[shell]?.(value) ?? value;
  return description === undefined ? text : `${text}\t${collapseWhitespace(description)}`;
}

/**
 * bash inserts the longest common prefix of all lines, so descriptions can follow the values only if there are several.
 * For values that do not start with the typed text, the typed text is added as a line, so that bash keeps it.
 */
function renderForBash(
  { current, quote, keptLength, columns }: Cursor,
  offers: readonly Completion[],
  isList: boolean,
): string[] {
  const [first] = offers;
  const onLine = (value: string) => (quote === "" ? quoteByShell.bash!(value) : value).slice(keptOf(value));
  const head = current.slice(0, keptLength);
  const keptOf = (value: string) => (quote === "" && value.startsWith(head) ? quoteByShell.bash!(head).length : 0);
  if (first === undefined) return [];
  if (offers.length === 1) return [onLine(first.value)];
  const lines = offers.map(({ value, description }) => {
    const text = onLine(value);
    return description === undefined ? text : truncate(`${text}  (${collapseWhitespace(description)})`, columns ?? 80);
  });
  return isList ? [current.slice(keptLength), ...lines] : lines;
}

const truncate = (text: string, columns: number): string =>
  text.length < columns ? text : `${text.slice(0, Math.max(20, columns - 2))}…`;
