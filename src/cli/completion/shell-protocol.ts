/** What a shell says of its command line, and what it is answered. */
import type { Completion, Completions } from "./completions.js";

export interface Cursor {
  readonly shell: string;
  /** Those before the cursor, without `geoferry`. */
  readonly words: readonly string[];
  /** The word that the cursor is in, up to it. */
  readonly current: string;
  /** The quote that the cursor is within, or "". */
  readonly quote: string;
  /** How much of `current` the shell takes for words before it, as bash does at `:` and `=`. */
  readonly keptLength: number;
  /** Columns of the terminal that what is offered is shown in; null where the shell arranges it. */
  readonly columns: number | null;
}

/** @param argv of bash the line up to the cursor, its word breaks and the columns; of others the words and `=CURRENT` */
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
  /** The quote that is still open at its end. */
  readonly quote: string;
  /** Places in the text of `:` and `=` that are not quoted. */
  readonly plain: readonly number[];
}

/** The words of a line as a shell reads them, the last of which may be empty or have an open quote. */
function splitShellWords(line: string): ShellWord[] {
  const words: ShellWord[] = [];
  let text = "";
  let quote = "";
  let plain: number[] = [];
  let begun = false;
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote === "" && /\s/.test(character)) {
      if (begun) words.push({ text, quote, plain });
      [text, plain, begun] = ["", [], false];
      continue;
    }
    begun = true;
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

/** Characters that a shell takes for more than themselves. */
const shellSpecialCharacters = /[^\p{L}\p{N}_@%+=:,./~-]/gu;

/** A value as it has to stand on the line. */
const quoteByShell: Readonly<Record<string, (value: string) => string>> = {
  bash: (value) => value.replace(shellSpecialCharacters, "\\$&"),
  powershell: (value) => (value.search(shellSpecialCharacters) < 0 ? value : `'${value.replaceAll("'", "''")}'`),
};

const collapseWhitespace = (text: string): string => text.replace(/\s+/g, " ");

/** The directives, then a line for each value. */
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
 * bash puts the longest common beginning of all lines on the command line, and one alone as it is: what a value is can
 * stand behind it where there are several. Values that do not begin with what is typed have what is typed among them,
 * so that nothing is common and the word stays.
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
