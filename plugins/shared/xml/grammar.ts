/** The rules of the elements in one kind of content. */
export interface XmlContent<Rule> {
  /** By the element's code in the vocabulary. */
  readonly rules: readonly (Rule | undefined)[];
  /** For all other elements. */
  readonly other: Rule;
  /** For elements of foreign namespaces, where these differ from `other`. */
  readonly foreign: Rule | null;
}

/**
 * Compiles a table from element paths to rules. A path is `content/element`: a kind of content, as the format's reader
 * names it, and the local name of an element in it. `content/*` is the rule for other elements, `content/!` for elements of
 * foreign namespaces.
 * @returns the contents, by their numbers
 * @throws where a path names a content or an element that does not exist, which is a mistake in the table
 */
export function compileGrammar<Rule>(
  contents: Readonly<Record<string, number>>,
  vocabulary: Readonly<Record<string, number>>,
  table: Readonly<Record<string, Rule>>,
  fallback: Rule,
): readonly XmlContent<Rule>[] {
  const known = new Set(Object.keys(table).map((path) => path.slice(0, path.indexOf("/"))));
  for (const content of known) if (contents[content] === undefined) throw new Error(`no content "${content}"`);
  const compiled: XmlContent<Rule>[] = [];
  for (const [content, index] of Object.entries(contents)) {
    const rules: (Rule | undefined)[] = new Array(Math.max(...Object.values(vocabulary)) + 1).fill(undefined);
    for (const [path, rule] of Object.entries(table)) {
      if (!path.startsWith(`${content}/`)) continue;
      const name = path.slice(content.length + 1);
      if (name === "*" || name === "!") continue;
      const code = vocabulary[name];
      if (!code) throw new Error(`no element "${name}" in the vocabulary`);
      rules[code] = rule;
    }
    compiled[index] = {
      rules,
      other: table[`${content}/*`] ?? fallback,
      foreign: table[`${content}/!`] ?? null,
    };
  }
  return compiled;
}
