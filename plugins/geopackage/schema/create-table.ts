/** A column of a `CREATE TABLE` statement. */
export interface DeclaredColumn {
  readonly name: string;
  /** Declared type without its length: `TEXT`, `DOUBLE PRECISION`; empty if there is none. */
  readonly type: string;
  /** The number in the declared type: 40 in `TEXT(40)`. */
  readonly length: number | null;
  /** Value of rows that are older than the column (`ALTER TABLE … ADD COLUMN … DEFAULT`). */
  readonly defaultValue: null | number | bigint | string | Uint8Array;
  readonly generated: "no" | "stored" | "virtual";
}

export interface DeclaredTable {
  readonly columns: readonly DeclaredColumn[];
  /** Index of the column that is an alias of the rowid, or -1. */
  readonly rowid: number;
  readonly withoutRowid: boolean;
  /** Constraints other than the integer primary key: `NOT NULL`, `UNIQUE`, `CHECK` … */
  readonly rules: readonly string[];
}

interface Token {
  readonly at: number;
  readonly kind: "word" | "name" | "text" | "number" | "blob" | "mark";
  readonly text: string;
}

const tokenPatterns: readonly (readonly [Token["kind"] | "space", RegExp])[] = [
  ["space", /\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$)/y],
  ["blob", /[xX]'[0-9a-fA-F]*'/y],
  ["text", /'(?:[^']|'')*'/y],
  ["name", /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/y],
  ["number", /(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y],
  ["word", /[A-Za-z_\u0080-\uffff$][\w\u0080-\uffff$]*/y],
  ["mark", /./suy],
];

function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < sql.length; ) {
    for (const [kind, pattern] of tokenPatterns) {
      pattern.lastIndex = at;
      const found = pattern.exec(sql);
      if (!found) continue;
      if (kind !== "space") tokens.push({ at, kind, text: found[0] });
      at += found[0].length;
      break;
    }
  }
  return tokens;
}

const isWord = (token: Token | undefined, ...words: readonly string[]): boolean =>
  token?.kind === "word" && words.includes(token.text.toUpperCase());
const isMark = (token: Token | undefined, mark: string): boolean => token?.kind === "mark" && token.text === mark;

function unquoteName({ kind, text }: Token): string {
  if (kind === "text" || (kind === "name" && text[0] !== "[")) {
    return text.slice(1, -1).replaceAll(text[0]!.repeat(2), text[0]!);
  }
  return kind === "name" ? text.slice(1, -1) : text;
}

/** The comma-separated items in the parentheses that open at `open`; `end` is the index after them. */
function readList(tokens: readonly Token[], open: number): { items: Token[][]; end: number } {
  const items: Token[][] = [[]];
  let depth = 0;
  let at = open;
  for (; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (isMark(token, "(") && depth++ === 0) continue;
    if (isMark(token, ")") && --depth === 0) break;
    if (depth === 1 && isMark(token, ",")) items.push([]);
    else items.at(-1)!.push(token);
  }
  return { items, end: at + 1 };
}

const tableConstraints = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];
const columnConstraints = [
  ...tableConstraints,
  "NOT",
  "NULL",
  "DEFAULT",
  "COLLATE",
  "REFERENCES",
  "GENERATED",
  "AS",
  "ON",
  "DEFERRABLE",
];

/** Keyword defaults; null for those evaluated at insertion. */
const keywordValues = new Map<string, number | null>([
  ["TRUE", 1],
  ["FALSE", 0],
  ["NULL", null],
  ["CURRENT_DATE", null],
  ["CURRENT_TIME", null],
  ["CURRENT_TIMESTAMP", null],
]);

/** Whether SQLite stores numbers in a column of this type as text (Datatypes in SQLite, 3.1). */
const hasTextAffinity = (type: string): boolean => /CHAR|CLOB|TEXT/i.test(type) && !/INT/i.test(type);

/** Parses a numeric literal: 64-bit integer if it fits, else double. Hexadecimal literals wrap around. */
function parseSqlNumber(text: string, negative: boolean): number | bigint {
  const sign = negative ? -1 : 1;
  if (!/^(\d+|0x[\da-f]+)$/i.test(text)) return sign * Number(text);
  const whole = BigInt(sign) * (/^0x/i.test(text) ? BigInt.asIntN(64, BigInt(text)) : BigInt(text));
  if (BigInt.asIntN(64, whole) !== whole) return Number(whole);
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
}

/** Parses the value of a DEFAULT clause, with or without parentheses. */
function parseDefault(tokens: readonly Token[], at: number, type: string): DeclaredColumn["defaultValue"] {
  if (isMark(tokens[at], "(")) return parseDefault(readList(tokens, at).items[0]!, 0, type);
  const negative = isMark(tokens[at], "-");
  const token = tokens[negative || isMark(tokens[at], "+") ? at + 1 : at];
  switch (token?.kind) {
    case "number": {
      // SQLite normalizes integers of up to 31 bits before converting them to text; others keep their spelling.
      const isSmall = /^\d+$/.test(token.text) && Number(token.text) < 2 ** 31;
      return hasTextAffinity(type) && !isSmall
        ? (negative ? "-" : "") + token.text
        : parseSqlNumber(token.text, negative);
    }
    case "text":
    case "name":
      return unquoteName(token);
    case "blob":
      return Uint8Array.from(Buffer.from(token.text.slice(2, -1), "hex"));
    case "word": {
      const known = keywordValues.get(token.text.toUpperCase());
      return known === undefined ? token.text : known;
    }
    default:
      return null;
  }
}

/** Names of the constraints of a column or table; skips parentheses. */
function findConstraints(tokens: readonly Token[]): string[] {
  const rules: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (isMark(token, "(")) at = readList(tokens, at).end - 1;
    else if (isWord(token, "NOT") && isWord(tokens[at + 1], "NULL")) rules.push("NOT NULL");
    else if (isWord(token, "PRIMARY") && isWord(tokens[at + 1], "KEY")) rules.push("PRIMARY KEY");
    else if (isWord(token, "REFERENCES")) rules.push("FOREIGN KEY");
    else if (isWord(token, "UNIQUE", "CHECK", "DEFAULT", "COLLATE")) rules.push(token.text.toUpperCase());
  }
  return rules;
}

interface ParsedColumn extends DeclaredColumn {
  readonly rules: readonly string[];
  readonly isKey: boolean;
  readonly isDescending: boolean;
}

function parseColumn(tokens: readonly Token[]): ParsedColumn {
  let at = 1;
  const words: string[] = [];
  for (; at < tokens.length && !isMark(tokens[at], "(") && !isWord(tokens[at], ...columnConstraints); at++) {
    words.push(unquoteName(tokens[at]!));
  }
  let length: number | null = null;
  if (isMark(tokens[at], "(")) {
    const list = readList(tokens, at);
    length = list.items[0]?.[0]?.kind === "number" ? Number(list.items[0][0].text) : null;
    at = list.end;
  }
  let defaultValue: DeclaredColumn["defaultValue"] = null;
  let generated: DeclaredColumn["generated"] = "no";
  let isKey = false;
  let isDescending = false;
  while (at < tokens.length) {
    const token = tokens[at]!;
    if (isMark(token, "(")) {
      at = readList(tokens, at).end;
      continue;
    }
    if (isWord(token, "PRIMARY") && isWord(tokens[at + 1], "KEY")) {
      isKey = true;
      isDescending = isWord(tokens[at + 2], "DESC");
    } else if (isWord(token, "DEFAULT")) defaultValue = parseDefault(tokens, at + 1, words.join(" "));
    else if (isWord(token, "AS") && isMark(tokens[at + 1], "(")) {
      generated = isWord(tokens[readList(tokens, at + 1).end], "STORED") ? "stored" : "virtual";
    }
    at++;
  }
  return {
    name: unquoteName(tokens[0]!),
    type: words.join(" "),
    length,
    defaultValue,
    generated,
    isKey,
    isDescending,
    rules: findConstraints(tokens.slice(1)),
  };
}

/** The column of a single-column PRIMARY KEY table constraint. */
function findKeyColumn(tokens: readonly Token[]): string | null {
  const at = tokens.findIndex((token, i) => isWord(token, "PRIMARY") && isWord(tokens[i + 1], "KEY"));
  if (at < 0) return null;
  const { items } = readList(tokens, at + 2);
  return items.length === 1 && items[0]![0] ? unquoteName(items[0]![0]) : null;
}

/** Parses a `CREATE TABLE` statement of the schema; null for other statements. */
export function parseCreateTable(sql: string): DeclaredTable | null {
  const tokens = tokenize(sql);
  const open = tokens.findIndex((token) => isMark(token, "("));
  const head = tokens.slice(0, Math.max(0, open));
  if (open < 0 || !isWord(head[0], "CREATE") || head.some((token) => isWord(token, "VIRTUAL"))) return null;
  const { items, end } = readList(tokens, open);
  const columns: ParsedColumn[] = [];
  const ofTable: string[] = [];
  let key: string | null = null;
  for (const item of items) {
    if (item.length === 0) continue;
    if (isWord(item[0], ...tableConstraints)) {
      key ??= findKeyColumn(item);
      ofTable.push(...findConstraints(item));
    } else columns.push(parseColumn(item));
  }
  const withoutRowid = tokens.slice(end).some((token) => isWord(token, "WITHOUT"));
  const isAlias = (column: ParsedColumn) => column.type.toUpperCase() === "INTEGER" && column.length === null;
  // "INTEGER PRIMARY KEY DESC" is not an alias of the rowid: a bug that SQLite keeps for compatibility.
  const rowid = columns.findIndex(
    (column) =>
      isAlias(column) &&
      ((column.isKey && !column.isDescending) || (key !== null && column.name.toLowerCase() === key.toLowerCase())),
  );
  const ofColumns = columns.flatMap((column, c) => (c === rowid ? [] : column.rules));
  const ofOthers = rowid < 0 ? ofTable : ofTable.filter((rule) => rule !== "PRIMARY KEY");
  return {
    columns: columns.map(({ isKey: _, isDescending: __, rules: ___, ...column }) => column),
    rowid: withoutRowid ? -1 : rowid,
    withoutRowid,
    rules: [...new Set([...ofColumns, ...ofOthers])],
  };
}

/** Replaces the declared type of a column in a `CREATE TABLE`; null if there is no such column with a type. */
export function replaceColumnType(sql: string, column: string, type: string): string | null {
  const tokens = tokenize(sql);
  const open = tokens.findIndex((token) => isMark(token, "("));
  if (open < 0) return null;
  const item = readList(tokens, open).items.find(
    ([name]) => name && unquoteName(name).toLowerCase() === column.toLowerCase(),
  );
  const declared = item?.[1];
  if (!declared || declared.kind === "mark" || isWord(declared, ...columnConstraints)) return null;
  return sql.slice(0, declared.at) + type + sql.slice(declared.at + declared.text.length);
}
