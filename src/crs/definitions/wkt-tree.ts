/** A keyword of WKT with the values and children in its brackets. */
export interface WktNode {
  /** Upper case. */
  readonly keyword: string;
  readonly values: readonly (string | number | WktNode)[];
}

const tokenPattern =
  /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|"((?:[^"]|"")*)"|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|([[\](),]))/y;

/** Parses the grammar that WKT1 (OGC 01-009) and WKT2 (ISO 19162) share; null if the text is not WKT. */
export function parseWkt(text: string): WktNode | null {
  tokenPattern.lastIndex = 0;
  const next = () => {
    const found = tokenPattern.exec(text);
    return found;
  };
  const first = next();
  if (!first?.[1]) return null;
  const root: { keyword: string; values: (string | number | WktNode)[] } = {
    keyword: first[1].toUpperCase(),
    values: [],
  };
  const stack = [root];
  let word: string | null = root.keyword;
  let depth = 0;
  for (let token = next(); token; token = next()) {
    const [, name, quoted, number, sign] = token;
    const top = stack[stack.length - 1]!;
    if (sign === "[" || sign === "(") {
      if (word === null) return null;
      if (depth > 0) {
        const node = { keyword: word.toUpperCase(), values: [] };
        top.values.push(node);
        stack.push(node);
      }
      depth++;
      if (depth > 64) return null;
      word = null;
    } else {
      if (depth === 0) return null;
      if (name !== undefined) word = name;
      else if (quoted !== undefined) top.values.push(quoted.replaceAll('""', '"'));
      else if (number !== undefined) top.values.push(Number(number));
      else {
        // An unquoted word, such as the direction of an axis.
        if (word !== null) top.values.push(word);
        word = null;
        if (sign !== ",") {
          depth--;
          if (depth === 0) return joinVertical(root, text.slice(tokenPattern.lastIndex));
          stack.pop();
        }
      }
    }
  }
  return null;
}

/** Joins ESRI's horizontal and vertical systems, separated by a comma, into a compound system. */
function joinVertical(root: WktNode, rest: string): WktNode | null {
  if (/^[\s\0]*$/.test(rest)) return root;
  const vertical = /^\s*,\s*VERTCS\s*[[(]/i.test(rest) ? parseWkt(rest.slice(rest.indexOf(",") + 1)) : null;
  return vertical && { keyword: "COMPD_CS", values: [readText(root, 0), root, vertical] };
}

export const isNode = (value: string | number | WktNode | undefined): value is WktNode => typeof value === "object";

export function findChild(node: WktNode, ...keywords: string[]): WktNode | null {
  for (const value of node.values) if (isNode(value) && keywords.includes(value.keyword)) return value;
  return null;
}

export function findChildren(node: WktNode, ...keywords: string[]): WktNode[] {
  return node.values.filter((value): value is WktNode => isNode(value) && keywords.includes(value.keyword));
}

/** The text at an index; numbers are converted. */
export function readText(node: WktNode | null, index: number): string {
  const value = node?.values[index];
  return value === undefined || isNode(value) ? "" : `${value}`;
}

/** The number at an index, also from quoted text; NaN if there is none. */
export function readNumber(node: WktNode | null, index: number): number {
  const value = node?.values[index];
  if (typeof value === "number") return value;
  return typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
}
